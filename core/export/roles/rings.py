"""The rings of a kernel: tiles in shared memory with their depths, bytes, producers and consumers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.export.roles.demand import TMA_LOADS, Demand
from core.export.roles.loaded_tiles import landings
from core.export.roles.model import Ring, RingKind, Role
from core.export.roles.names import Names
from core.export.roles.places import LoopPlan, Slots
from core.export.roles.shared_tiles import SharedTiles
from core.ir.model import Module, Operation, Value
from core.ir.operations import category_of
from core.ir.tiles import Category
from core.ir.types import MemDescType, ScalarType, TensorType, element_bits, parse_type
from core.ir.views import is_landing
from core.schedule.check_registers import THREADS_PER_WARP


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a value of a loop needs."""

    value: Value
    slots: Slots
    kind: RingKind
    producer: str
    consumers: tuple[str, ...]
    why: str

    @property
    def form(self) -> tuple[str, int, RingKind, str, tuple[str, ...]]:
        """What rings have in common that can be one."""
        return self.value.type, self.slots.slot_bytes, self.kind, self.producer, self.consumers


class RingMaker:
    """Makes all rings; names are unique in the kernel. Loops run one after another, so a ring of one serves another
    that has the same tile between the same roles: at the greater of their depths."""

    def __init__(self, module: Module, demand: Demand, roles: Mapping[str, Role]) -> None:
        self._module, self._demand, self._roles = module, demand, roles
        self._names = Names()

    def tiles(self) -> SharedTiles:
        """All rings."""
        in_loops = self._in_loops()
        loads = {load: self._load(load) for load in self._demand.producers}
        hand_offs = {value: self._hand_off(value) for value in self._demand.hand_offs}
        return SharedTiles(in_loops, loads, hand_offs, dict(self._own()))

    def _in_loops(self) -> dict[Operation, Ring]:
        """The rings of scheduled loops, by the operation that fills them."""
        common: dict[tuple[object, int], list[tuple[Operation, _Wanted]]] = {}
        for plan in self._demand.plans.values():
            wanted = [*((op, self._slots(plan, op)) for op in plan.slots)]
            wanted += [(op, self._loop_hand_off(plan, op)) for op in plan.hand_offs]
            count: Counter[object] = Counter()
            for op, one in wanted:
                common.setdefault((one.form, count[one.form]), []).append((op, one))
                count[one.form] += 1
        rings: dict[Operation, Ring] = {}
        for sharing in common.values():
            first = sharing[0][1]
            slots = Slots(max(one.slots.depth for _, one in sharing), first.slots.slot_bytes)
            why = "; ".join(dict.fromkeys(one.why for _, one in sharing))
            ring = self._ring(first.value, slots, first.kind, first.producer, first.consumers, why)
            rings |= {op: ring for op, _ in sharing}
        return rings

    def _ring(
        self,
        value: Value,
        slots: Slots,
        kind: RingKind,
        producer: str,
        consumers: tuple[str, ...],
        why: str,
    ) -> Ring:
        threads = self._roles[producer].warps
        full = {RingKind.TMA: 1, RingKind.THREADS: threads, RingKind.CP_ASYNC: threads * THREADS_PER_WARP}.get(kind, 0)
        free = sum(self._roles[name].warps for name in consumers) if kind is not RingKind.OWN else 0
        name = self._names.fresh(value)
        return Ring(name, value, slots.depth, slots.slot_bytes, kind, producer, consumers, full, free, why)

    def _consumers(self, plan: LoopPlan, op: Operation) -> tuple[str, ...]:
        found = ((role, self._demand.loop_roles.get((plan.operation, role))) for role in self._roles)
        return tuple(role for role, loop_role in found if loop_role is not None and op in loop_role.readers)

    def _slots(self, plan: LoopPlan, op: Operation) -> _Wanted:
        place, slots = plan.places[op], plan.slots[op]
        consumers = self._consumers(plan, op)
        if op.name in TMA_LOADS:
            kind = RingKind.TMA
        elif category_of(op) is Category.LOAD:
            kind = RingKind.CP_ASYNC
        else:
            kind = RingKind.OWN if consumers == (place.role,) else RingKind.THREADS
        users = plan.body.users.get(op.results[0], ()) if op.results else ()
        value = next((user.results[0] for user in users if is_landing(plan.body, user)), op.results[0])
        return _Wanted(value, slots, kind, place.role, consumers, f"the result of {place.op}")

    def _loop_hand_off(self, plan: LoopPlan, op: Operation) -> _Wanted:
        place, slots = plan.reads.get(op) or plan.places[op], plan.hand_offs[op]
        consumers = self._consumers(plan, op)
        why = f"{place.op} is handed from {place.role} to {', '.join(consumers)}"
        return _Wanted(op.results[0], slots, RingKind.THREADS, place.role, consumers, why)

    def _load(self, load: Operation) -> Ring:
        into = landings(load)
        value = into[0].results[0] if into else load.results[0]
        consumers = self._in_order(self._demand.consumers.get(load, {}))
        producer = self._demand.producers[load]
        why = "loaded outside of the loops"
        return self._ring(value, self._single(value), RingKind.TMA, producer, consumers, why)

    def _hand_off(self, value: Value) -> Ring:
        producer = self._demand.home(value)
        assert producer is not None  # else every role would have the value
        consumers = self._in_order(self._demand.hand_offs[value])
        why = f"{value.name} is handed from {producer} to {', '.join(consumers)}"
        return self._ring(value, self._single(value), RingKind.THREADS, producer, consumers, why)

    def _own(self) -> Iterator[tuple[tuple[str, Operation], Ring]]:
        for role, wanted in self._demand.wanted.items():
            for op in wanted:
                if op.name == "ttg.local_alloc" and not self._takes_load(op):
                    value = op.results[0]
                    ring = self._ring(value, self._single(value), RingKind.OWN, role, (role,), "stored here")
                    yield (role, op), ring

    def _takes_load(self, op: Operation) -> bool:
        producer = op.operands[0].producer if op.operands else None
        return producer in self._demand.producers

    def _in_order(self, names: Mapping[str, None]) -> tuple[str, ...]:
        return tuple(name for name in self._roles if name in names)

    def _single(self, value: Value) -> Slots:
        """One slot for a value."""
        return Slots(1, self._bytes(value))

    def _bytes(self, value: Value) -> int:
        type_ = parse_type(value.type, self._module.aliases)
        if isinstance(type_, TensorType | MemDescType):
            elements = 1
            for size in type_.shape:
                elements *= size
            return -(-elements * element_bits(type_.element) // 8)
        return -(-element_bits(type_.name) // 8) if isinstance(type_, ScalarType) else 8
