"""What grows while a kernel is written: layouts, parameters, holes, matrix instructions; and lines of code."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.export.cuda.elements import ElementError
from core.export.cuda.encodings import Encoding, SharedEncoding, for_warps, read_encoding, read_shared_encoding
from core.export.cuda.holds import DescriptorMap
from core.export.cuda.holes import Hole, hole_function
from core.export.cuda.layouts import Layout, LayoutError, layout_of
from core.export.cuda.names import Names
from core.export.cuda.wgmma import WgmmaShape
from core.ir.model import Module, Operation, Value
from core.ir.types import Type, parse_type

ORIGIN = "\0"
"""Stands in a line before the number of the line of the IR that it comes from; no other text has it."""


class Lines:
    """Lines of C++, indented by two blanks for each open block. `origin`: the line of the IR that they come from."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self.origin: int | None = None
        self._depth = depth

    def add(self, text: str) -> None:
        """One line."""
        origin = "" if self.origin is None else f"{ORIGIN}{self.origin}"
        self.lines.append("  " * self._depth + text + origin if text else "")

    @contextmanager
    def block(self, opening: str, closing: str = "}") -> Generator[None]:
        """Lines between `opening` and `closing`."""
        self.add(opening)
        self._depth += 1
        yield
        self._depth -= 1
        self.add(closing)


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tensor map among the parameters, made by the host for `source`: a descriptor of the function, or one made in
    it."""

    name: str
    source: Value
    held: DescriptorMap


@dataclass(slots=True)
class KernelText:
    """The parts of one kernel's file that its roles share."""

    module: Module
    names: Names = field(default_factory=Names)
    layouts: dict[Layout, str] = field(default_factory=dict[Layout, str])
    maps: dict[Value, TensorMap] = field(default_factory=dict[Value, TensorMap])
    holes: list[Hole] = field(default_factory=list[Hole])
    hole_functions: list[str] = field(default_factory=list[str])
    matrix_shapes: set[WgmmaShape] = field(default_factory=set[WgmmaShape])
    arguments: dict[Value, str] = field(default_factory=dict[Value, str])  # names among the parameters
    users: Mapping[Value, list[Operation]] = field(default_factory=dict[Value, list[Operation]])
    assembly_allowed: bool = False
    functions: list[str] = field(default_factory=list[str])  # lines of device functions that roles call
    _named: dict[Operation, str] = field(default_factory=dict[Operation, str])
    _types: dict[str, Type] = field(default_factory=dict[str, Type])

    def again(self) -> KernelText:
        """For writing all roles once more: the names of parameters stay."""
        names = Names()
        for name in self.arguments.values():
            names.fresh(name)
        return KernelText(
            self.module,
            names,
            users=self.users,
            assembly_allowed=self.assembly_allowed,
            arguments=self.arguments,
            _types=self._types,
        )

    def type(self, value: Value) -> Type:
        """The value's type."""
        found = self._types.get(value.type)
        if found is None:
            found = self._types[value.type] = parse_type(value.type, self.module.aliases)
        return found

    def layout_name(self, layout: Layout) -> str:
        """The name of the layout's struct."""
        if layout not in self.layouts:
            shape = "x".join(map(str, layout.shape))
            self.layouts[layout] = self.names.fresh(f"L{shape}_{layout.warps}w")
        return self.layouts[layout]

    def layout(self, encoding: str, shape: tuple[int, ...], warps: int) -> Layout:
        """The layout of a tile of a role of that many warps. Raises ElementError."""
        read = read_encoding(encoding, self.module.aliases)
        if read is None:
            raise ElementError(f"the layout {encoding or '(none)'}")
        return self.layout_for(read, shape, warps)

    def layout_for(self, encoding: Encoding, shape: tuple[int, ...], warps: int) -> Layout:
        """The same for an encoding that has been read. Raises ElementError."""
        try:
            layout = layout_of(for_warps(encoding, warps), shape)
        except LayoutError as problem:
            raise ElementError(str(problem)) from None
        if layout.warps != warps:
            raise ElementError(f"a layout over {layout.warps} warps in a role of {warps}")
        return layout

    def shared(self, encoding: str) -> SharedEncoding:
        """The layout of a shared tile. Raises ElementError."""
        read = read_shared_encoding(encoding, self.module.aliases)
        if read is None:
            raise ElementError(f"the shared layout {encoding or '(none)'}")
        return read

    def hole(self, op: Operation, reason: str, parameters: list[str]) -> str:
        """A hole for the op; returns the name of its function."""
        line = op.name_span.line
        known = next((hole for hole in self.holes if hole.line == line and hole.op == op.name), None)
        function = self.names.fresh(f"hole_{op.name.partition('.')[2]}_line_{line}")
        text = self.module.text[op.span.start : op.span.end]
        hole = Hole(function, op.name, line, op.name_span.column, reason, text)
        if known is None:
            self.holes.append(hole)
        self.hole_functions += ["", *hole_function(hole, parameters)]
        return function

    def device_function(self, op: Operation, wanted: str, lines: Callable[[str], Sequence[str]]) -> str:
        """The name of an op's device function, whose lines are made from it and added once."""
        if op not in self._named:
            self._named[op] = self.names.fresh(wanted)
            self.functions += ["", *lines(self._named[op])]
        return self._named[op]

    def layout_lines(self) -> list[str]:
        """The structs of all layouts."""
        found: list[str] = []
        for layout, name in self.layouts.items():
            found += [
                f"struct {name} {{",
                f"  static constexpr int rank = {len(layout.shape)};",
                f"  static constexpr int regs = {layout.registers}, warps = {layout.warps};",
                f"  static constexpr int shape[{len(layout.shape)}] = {_row(layout.shape)};",
                *(
                    f"  static constexpr int {name}[{max(1, len(bases))}][{len(layout.shape)}] = "
                    f"{{{', '.join(map(_row, bases or (tuple(0 for _ in layout.shape),)))}}};"
                    for name, bases in _bases(layout).items()
                ),
                "};",
            ]
        return found


def without_origins(text: str) -> tuple[str, dict[int, int]]:
    """The text itself, and by its lines (from 1) the lines of the IR that they come from."""
    origins: dict[int, int] = {}
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        plain, mark, origin = line.partition(ORIGIN)
        if mark:
            origins[number] = int(origin)
        lines.append(plain)
    return "\n".join(lines) + "\n", origins


def _bases(layout: Layout) -> Mapping[str, tuple[tuple[int, ...], ...]]:
    return {"reg": layout.register, "lane": layout.lane, "warp": layout.warp}


def _row(numbers: tuple[int, ...]) -> str:
    return f"{{{', '.join(map(str, numbers))}}}"
