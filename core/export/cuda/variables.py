"""The variables of a role: what the names, slots and loop counters of its statements are in the text."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from core.export.cuda.context import RoleText, element_of
from core.export.cuda.elements import ElementError, cpp_type
from core.export.cuda.holds import Held, Scalar, Tile, View, view_bytes, view_type
from core.export.cuda.layouts import Layout
from core.export.cuda.maps import descriptor_map
from core.export.cuda.names import identifier
from core.export.cuda.rings import RingText
from core.export.cuda.shared_operands import operand_encoding
from core.export.roles.model import Argument, Base, Induction, Instance, Register, Slot, Source
from core.ir.model import Loop, Value
from core.ir.types import TensorType


class Variables:
    """What is declared so far. `behind`: by ring, and whether it is written, how many slots before the last one the
    role still uses. `in_shared`: values that are kept in shared memory; `layouts`: of variables in another layout than
    their type says."""

    def __init__(
        self,
        text: RoleText,
        rings: Mapping[str, RingText],
        behind: Mapping[tuple[str, bool], int],
        in_shared: Collection[Value],
        layouts: Mapping[str, Layout],
    ) -> None:
        self.text, self.kernel, self.rings = text, text.kernel, rings
        self.behind, self._in_shared, self._layouts = behind, in_shared, layouts
        self.storages: set[str] = set()
        self.held: dict[str, Held] = {}
        self._loops: dict[Loop, _Counter] = {}

    def declare(self, name: str, value: Value, *, storage: bool = False) -> Held:
        """A variable for a value; a scalar that is no storage is declared where it is written. Raises ElementError."""
        element = element_of(self.kernel, value)
        cpp_type(element)
        text = self.text.names.fresh(name)
        type_ = self.kernel.type(value)
        held: Held = Scalar(text, element)
        if value in self._in_shared:
            held = self._shared(text, value)
        elif isinstance(type_, TensorType):
            layout = self._layouts.get(name) or self.kernel.layout(type_.encoding, type_.shape, self.text.warps)
            held = Tile(text, element, layout)
            self.text.declare(held)
        elif storage:
            self.text.lines.add(f"{cpp_type(element)} {text}{{}};")
        if storage:
            self.storages.add(name)
        self.held[name] = held
        return held

    def _shared(self, name: str, value: Value) -> View:
        """A tile of the role in shared memory that a layout conversion makes."""
        type_, op = self.kernel.type(value), value.producer
        assert op is not None and isinstance(type_, TensorType)  # by `shared_operands`
        encoding = operand_encoding(self.kernel, op, self.text.warps)
        area = f"operand_{identifier(self.text.name)}_{name}"
        self.text.operands[area] = view_bytes(type_.element, type_.shape, encoding)
        text = f"{view_type(type_.element, type_.shape, encoding)}{{s.{area}}}"
        return View(text, type_.element, type_.shape, encoding.transposed)

    def like(self, value: Value) -> Tile:
        """A register tile as a value is held, without a variable. Raises ElementError."""
        type_ = self.kernel.type(value)
        if not isinstance(type_, TensorType):
            raise ElementError(f"a tile of type {value.type}")
        return Tile("", type_.element, self.kernel.layout(type_.encoding, type_.shape, self.text.warps))

    def source(self, source: Source | None) -> Held | None:
        """What an operand is; None where there is none. Raises ElementError."""
        match source:
            case None:
                return None
            case Register(name=name):
                return self.held.get(name)
            case Slot():
                return self.view(source, writes=False)
            case Argument(value=argument):
                return self._argument(argument)
            case Induction(loop=loop, instance=instance):
                return self._loops[loop].value(instance)

    def scalar(self, source: Source, what: str) -> Scalar:
        """An operand that is a scalar. Raises ElementError."""
        found = self.source(source)
        if not isinstance(found, Scalar):
            raise ElementError(f"{what} that is no scalar")
        return found

    def place(self, slot: Slot, *, writes: bool) -> str:
        """The number of the slot that the role waited for last, or of one before."""
        ring = self.rings[slot.ring]
        if ring.ring.depth == 1:
            return "0"
        behind = self.behind.get((slot.ring, writes), 0)
        return f"{ring.place(writes)}[{slot.behind}]" if behind else ring.place(writes)

    def view(self, slot: Slot, *, writes: bool) -> View:
        """The tile in a slot. Raises ElementError."""
        return self.rings[slot.ring].view(self.place(slot, writes=writes), slot.via)

    def _argument(self, value: Value) -> Held:
        if value in self.kernel.arguments:
            return Scalar(f"p.{self.kernel.arguments[value]}", element_of(self.kernel, value))
        return descriptor_map(self.kernel, value)

    # ---- loops

    def enter(self, loop: Loop, bounds: tuple[Source, Source, Source]) -> _Counter:
        """Declares bounds and trip count of a loop; within a branch of the same loop only the counter is new."""
        names, lines = self.text.names, self.text.lines
        outer = self._loops.get(loop)
        if outer is not None:
            counter = _Counter(outer.lower, outer.step, names.fresh("t"), outer.trips, outer.element, outer)
        else:
            element = element_of(self.kernel, loop.bounds[0])
            lower, upper, step = (names.fresh(name) for name in ("lower", "upper", "step"))
            for name, source in zip((lower, upper, step), bounds, strict=True):
                lines.add(f"const {cpp_type(element)} {name} = {self.scalar(source, 'a loop bound').text};")
            counter = _Counter(lower, step, names.fresh("t"), names.fresh("n"), element, None)
            trips = f"{upper} > {lower} ? int(({upper} - {lower} - 1) / {step}) + 1 : 0"
            lines.add(f"const int {counter.trips} = {trips};")
        self._loops[loop] = counter
        return counter

    def iteration(self, instance: Instance) -> tuple[Loop, str] | None:
        """The innermost loop at hand, and the number of one of its iterations; None outside of loops."""
        if not self._loops:
            return None
        loop, counter = next(reversed(self._loops.items()))
        return loop, counter.number(instance)

    def leave(self, loop: Loop) -> None:
        """Behind a loop."""
        outer = self._loops.pop(loop).outer
        if outer is not None:
            self._loops[loop] = outer


class _Counter:
    """A loop at hand: names of its lower bound, step, counter and trip count, and the element of its induction
    variable."""

    def __init__(self, lower: str, step: str, name: str, trips: str, element: str, outer: _Counter | None) -> None:
        self.lower, self.step, self.name, self.trips = lower, step, name, trips
        self.element, self.outer = element, outer

    def number(self, instance: Instance) -> str:
        """The number of an iteration."""
        base = {Base.FIRST: "", Base.STEADY: self.name, Base.LAST: self.trips}[instance.base]
        offset = instance.offset
        if not base:
            return str(offset)
        return base if offset == 0 else f"{base} {'+' if offset > 0 else '-'} {abs(offset)}"

    def value(self, instance: Instance) -> Scalar:
        """The induction variable of an iteration."""
        kind = cpp_type(self.element)
        return Scalar(f"{kind}({self.lower} + {kind}({self.number(instance)}) * {self.step})", self.element)
