"""Which values of a function are split, and along which dimension, for the parts of tile ops that a schedule has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.diagnostics import InputError, error
from core.export.roles.places import ScheduledLoop
from core.export.roles.split_links import Place, links, shape_of
from core.ir.model import Loop, Module, Operation, Value
from core.ir.types import MemDescType, parse_type
from core.ir.vocabulary import MATRIX_OPS

_WHOLE = frozenset({"tt.descriptor_load", "tt.experimental_descriptor_load", "tt.descriptor_gather"})
"""Loads whose tile stays whole in shared memory: each part reads its lines of it."""

_BEGINS = frozenset({"tt.make_range", "tt.splat", "arith.constant", "ttg.memdesc_subslice"})
"""Ops that make a part of their result from nothing but their attributes and scalars."""


class SplitPlaces:
    """`parts`: how many. `dimension`: of each split value the dimension along which it is split. Values in shared
    memory that a load fills are not among them: `sliced` tells the dimension along which a reader takes its part.
    `gathered`: layout conversions whose parts go to shared memory, where whole matrix ops read them (operand A)."""

    def __init__(
        self, module: Module, function: Operation, loops: Sequence[tuple[ScheduledLoop, Mapping[Operation, Operation]]]
    ) -> None:
        self._module, self._function = module, function
        self._loops: dict[Operation, Loop] = {loop.operation: loop for loop in module.loops}
        self.parts = _parts(loops)
        self.dimension: dict[Value, int] = {}
        self.sliced: dict[Value, int] = {}
        self.gathered: set[Value] = set()
        if self.parts > 1:
            self._follow(self._seeds(loops))
            for op in function.walk():
                self._check(op)

    def _seeds(self, loops: Sequence[tuple[ScheduledLoop, Mapping[Operation, Operation]]]) -> list[Place]:
        """The results of the ops that have parts."""
        found: list[Place] = []
        for scheduled, here in loops:
            for tile in scheduled.tiles.ops.values():
                if tile.base is None or not tile.operations or tile.result is None:
                    continue
                if tile.operations[0] not in here:
                    continue  # a tile from before the loop
                operation = here[tile.operations[0]]
                value = operation.results[0]
                if tile.kind != operation.name:
                    self.gathered.add(value)
                    value = operation.operands[0]
                pairs = zip(shape_of(self._module, value), tile.result.shape, strict=True)
                found += [Place(value, at) for at, (whole, part) in enumerate(pairs) if part != whole]
        return list(dict.fromkeys(found))

    def _follow(self, seeds: Sequence[Place]) -> None:
        together: dict[Place, list[Place]] = {}
        for op in self._function.walk():
            if op.results and op.results[0] in self.gathered:
                continue  # its result is whole
            for link in links(self._module, op, self._loops):
                together.setdefault(link.one, []).append(link.other)
                together.setdefault(link.other, []).append(link.one)
        pending = list(seeds)
        seen: set[Place] = set()
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            into = self.sliced if self._is_whole(place.value) else self.dimension
            if into.setdefault(place.value, place.dimension) != place.dimension:
                raise self.refusal(f"{place.value.name} is split along two dimensions", place.value.producer)
            if into is self.dimension:
                pending += together.get(place, [])

    def _is_whole(self, value: Value) -> bool:
        """Whether the value is a buffer that a load fills, or a view of one."""
        if not isinstance(parse_type(value.type, self._module.aliases), MemDescType):
            return False
        while value.producer is not None and value.producer.name.startswith("ttg.memdesc_"):
            value = value.producer.operands[0]
        producer = value.producer
        source = producer.operands[0].producer if producer is not None and producer.operands else None
        return source is None or source.name in (*_WHOLE, "tt.load")

    def _check(self, op: Operation) -> None:
        """Refuses what cannot be done in parts."""
        results = [value for value in op.results if value in self.dimension]
        if results and op.name in _WHOLE:
            raise self.refusal("a part of a loaded tile in registers", op)
        operands = [value for value in op.operands if value in self.dimension]
        known = op.name in _BEGINS or any(True for _ in links(self._module, op, self._loops))
        if results and not known:
            raise self.refusal(f"{op.name} in parts", op)
        stores = op.name in ("tt.store", "tt.descriptor_store", "tt.descriptor_reduce", "scf.yield", "tt.atomic_rmw")
        whole = not results and not stores and op.name not in ("scf.for", "scf.if")
        if op.results and op.results[0] in self.gathered:
            readers = [other for other in self._function.walk() if op.results[0] in other.operands]
            if any(other.operands[0] is not op.results[0] or other.name not in MATRIX_OPS for other in readers):
                raise self.refusal("parts that are put together for an op that is no matrix op", op)
            return
        if operands and whole:
            raise self.refusal(f"{op.name} of a tile that is split", op)

    def refusal(self, why: str, op: Operation | None) -> InputError:
        """The refusal of what cannot be split."""
        line = (op or self._function).name_span.line
        return error("cannot-export", f"no role program: {why}", file=self._module.file, line=line)


def _parts(loops: Sequence[tuple[ScheduledLoop, Mapping[Operation, Operation]]]) -> int:
    """In how many parts tile ops are; 1 if none is split."""
    counts = {(tile.part or 0) + 1 for scheduled, _ in loops for tile in scheduled.tiles.ops.values() if tile.base}
    return max(counts, default=1)
