"""Where an operation is lowered: its operands as they are in the text, and the results to be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.export.cuda.elements import ElementError, cpp_type, element_bytes, scalar_element
from core.export.cuda.holds import Held, Scalar, Tile, View, tile_type
from core.export.cuda.layouts import Layout, without_exchange
from core.export.cuda.names import Names, identifier
from core.export.cuda.text import KernelText, Lines
from core.ir.model import Operation, Value
from core.ir.types import TensorType

Vectors = Callable[[Operation, Layout], int]
"""How many neighbouring elements one instruction of an access by pointers may take, with pointers of that layout."""


@dataclass(slots=True)
class RoleText:
    """A role while it is written. `scratch`: bytes of shared memory that its exchanges, reductions and stores take
    turns in; `stored`: whether a TMA store may still read them. `late`: whether all roles are done with their rings, so
    that scratch memory may lie where those were: `late_scratch` bytes. `operands`: bytes of its operands of matrix ops
    in shared memory, by the name of their area."""

    kernel: KernelText
    name: str
    warps: int
    lines: Lines
    names: Names
    vectors: Vectors
    deferred: frozenset[Operation] = frozenset()  # sums that stay in parts
    scratch: int = 0
    late_scratch: int = 0
    stored: bool = False
    late: bool = False
    operands: dict[str, int] = field(default_factory=dict[str, int])

    def declare(self, tile: Tile) -> None:
        """The variable of a register tile."""
        self.lines.add(f"{tile_type(tile, self.kernel.layout_name(tile.layout))} {tile.text};")

    def temporary(self, wanted: str, element: str, layout: Layout) -> Tile:
        """A new register tile."""
        tile = Tile(self.names.fresh(wanted), element, layout)
        self.declare(tile)
        return tile

    def use_scratch(self, size: int) -> str:
        """The role's scratch memory, of at least that many bytes, free for use."""
        if self.late:
            self.late_scratch = max(self.late_scratch, size)
        else:
            self.scratch = max(self.scratch, size)
        if self.stored:
            self.lines.add("if (tw::elected(g)) tw::tma_store_wait<0>();")
            self.lines.add("tw::group_sync(g);")
            self.stored = False
        name = identifier(self.name)
        return f"late_{name}(s)" if self.late else f"s.scratch_{name}"

    def converted(self, tile: Tile, layout: Layout) -> Tile:
        """The tile in another layout of its shape: moved between registers of a thread, or through shared memory."""
        if tile.layout == layout:
            return tile
        target = self.temporary(f"{tile.text}_moved", tile.element, layout)
        self.move(target, tile)
        return target

    def move(self, target: Tile, source: Tile) -> None:
        """Writes a tile to one of another layout."""
        if target.layout == source.layout:
            self.lines.add(f"{target.text} = {source.text};")
        elif without_exchange(source.layout, target.layout):
            self.lines.add(f"tw::relabel({target.text}, {source.text});")
        else:
            size = element_bytes(target.element)
            for length in target.layout.shape:
                size *= length
            scratch = self.use_scratch(size)
            self.lines.add(f"tw::exchange(g, {target.text}, {source.text}, {scratch});")


@dataclass(slots=True)
class Context:
    """One operation in a role. `operands`: as held, None where nothing needs it; `results`: how each result is held,
    None where nobody reads it."""

    role: RoleText
    operation: Operation
    operands: Sequence[Held | None]
    results: Sequence[Held | None]
    fresh: frozenset[int] = frozenset()  # scalar results that this op declares

    def line(self, text: str) -> None:
        """One line of code."""
        self.role.lines.add(text)

    def held(self, index: int) -> Held:
        """An operand. Raises ElementError if it is not there."""
        if index >= len(self.operands) or (found := self.operands[index]) is None:
            raise ElementError(f"operand {index} without a value")
        return found

    def tile(self, index: int) -> Tile:
        """An operand that is a register tile. Raises ElementError."""
        found = self.held(index)
        if not isinstance(found, Tile):
            raise ElementError(f"operand {index} that is no register tile")
        return found

    def scalar(self, index: int) -> Scalar:
        """An operand that is a scalar. Raises ElementError."""
        found = self.held(index)
        if not isinstance(found, Scalar):
            raise ElementError(f"operand {index} that is no scalar")
        return found

    def view(self, index: int) -> View:
        """An operand in shared memory. Raises ElementError."""
        found = self.held(index)
        if not isinstance(found, View):
            raise ElementError(f"operand {index} that is not in shared memory")
        return found

    def target(self, index: int = 0) -> Tile:
        """A result that is a register tile. Raises ElementError."""
        found = self.results[index] if index < len(self.results) else None
        if not isinstance(found, Tile):
            raise ElementError("a result that is no register tile")
        return found

    def set(self, text: str, index: int = 0) -> None:
        """Writes a scalar result."""
        found = self.results[index]
        if not isinstance(found, Scalar):
            raise ElementError("a result that is no scalar")
        name = cpp_type(found.element)
        kind = f"{name} const " if name.endswith("*") else f"const {name} "
        kind = kind if index in self.fresh else ""
        self.line(f"{kind}{found.text} = {text};")

    def parameter(self, held: Held, writes: bool) -> str:
        """The type of a parameter of a hole's function."""
        match held:
            case Tile():
                kind = tile_type(held, self.role.kernel.layout_name(held.layout))
                return f"{kind}& " if writes else f"const {kind}& "
            case Scalar():
                return f"{cpp_type(held.element)}{'&' if writes else ''} "
            case View():
                return f"{cpp_type(held.element)}* "
            case _:
                return "const tw::Map& "


Lowering = Callable[[Context], None]
"""Writes the lines of one operation. Raises ElementError with what has no text."""

Lowerings = Mapping[str, Lowering]


def element_of(kernel: KernelText, value: Value) -> str:
    """The element of a tile, or the type of a scalar. Raises ElementError."""
    type_ = kernel.type(value)
    return type_.element if isinstance(type_, TensorType) else scalar_element(value.type)
