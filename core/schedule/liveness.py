"""Live ranges: from when to when each value is held, where, and how much of it (rules 4, 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.graph.model import Graph, Op, Space
from core.schedule.circle import Step, profile
from core.schedule.index import GraphIndex
from core.schedule.model import Placement, Schedule


class LiveRange(NamedTuple):
    """The value of op `value` is held in [begin, end), cycles of iteration 0, in `amount` registers per thread or
    columns. `reader` is None where the value itself is held, else the op on another group whose copy this is."""

    value: str
    begin: int
    end: int
    amount: int
    reader: str | None = None


class Ring(NamedTuple):
    """A multi-buffered tile in shared memory: `depth` slots of `amount` bytes; the range [begin, end) of one
    iteration's value needs `least_depth` of them."""

    value: str
    begin: int
    end: int
    amount: int
    depth: int
    least_depth: int


@dataclass(frozen=True, slots=True)
class Liveness:
    """All live ranges of a schedule.

    `registers`: by used group, what its threads hold, in the order of the ops. `rings`: values in shared memory.
    `hand_offs`: the buffers of register values that cross groups. `tensor`: values in tensor memory.
    """

    registers: Mapping[str, Sequence[LiveRange]]
    rings: Mapping[str, Ring]
    hand_offs: Mapping[str, Ring]
    tensor: Sequence[LiveRange]

    def shared_bytes(self, fixed: int) -> int:
        """Shared memory in use at any time: rings and hand-off buffers are reserved for good."""
        return (
            fixed
            + sum(ring.depth * ring.amount for ring in self.rings.values())
            + sum(ring.depth * ring.amount for ring in self.hand_offs.values())
        )


def live_ranges(graph: Graph, schedule: Schedule) -> Liveness:
    """The live ranges of a schedule that fits its graph."""
    return index_live_ranges(GraphIndex(graph), schedule)


def index_live_ranges(index: GraphIndex, schedule: Schedule) -> Liveness:
    """As `live_ranges`, with the graph's look-ups at hand."""
    places = schedule.ops
    registers: dict[str, list[LiveRange]] = {placement.group: [] for placement in places.values()}
    hand_offs: dict[str, Ring] = {}
    for op in index.values[Space.REGISTERS]:
        _hold_in_registers(index, schedule, op, registers, hand_offs)
    rings: dict[str, Ring] = {}
    for op in index.values[Space.SHARED]:
        begin = places[op.id].start
        end = _last_use(index, schedule, op)
        least = least_depth(end - begin, schedule.ii)
        rings[op.id] = Ring(op.id, begin, end, op.result.amount, schedule.rings.get(op.id, least), least)
    tensor = [
        LiveRange(op.id, places[op.id].start, _last_use(index, schedule, op), op.result.amount)
        for op in index.values[Space.TENSOR]
    ]
    return Liveness(registers, rings, hand_offs, tensor)


def least_depth(length: int, ii: int) -> int:
    """Ring slots that a live range of `length` cycles needs: max(1, ceil(length / II))."""
    return max(1, -(-length // ii))


def _hold_in_registers(
    index: GraphIndex,
    schedule: Schedule,
    op: Op,
    registers: dict[str, list[LiveRange]],
    hand_offs: dict[str, Ring],
) -> None:
    places, amount = schedule.ops, op.result.amount
    place = places[op.id]
    begin = place.start
    readers = index.readers[op.id]
    if not readers:
        registers[place.group].append(LiveRange(op.id, begin, _completion(op, place), amount))
        return
    own_end, other_end = begin, None
    for dependence in readers:
        reader = places[dependence.target]
        use = reader.start + schedule.ii * dependence.distance
        free = use + dependence.release + reader.delay
        if reader.group == place.group:
            own_end = max(own_end, free)
        else:
            registers[reader.group].append(LiveRange(op.id, use, free, amount, dependence.target))
            other_end = free if other_end is None else max(other_end, free)
    if other_end is not None:
        own_end = max(own_end, _completion(op, place) + op.hand_off_cycles)
        depth = least_depth(other_end - begin, schedule.ii)
        hand_offs[op.id] = Ring(op.id, begin, other_end, op.hand_off_bytes, depth, depth)
    registers[place.group].append(LiveRange(op.id, begin, own_end, amount))


def _completion(op: Op, place: Placement) -> int:
    return place.start + place.delay + op.latency


def _last_use(index: GraphIndex, schedule: Schedule, op: Op) -> int:
    """When the last reader, on any group, is done with the value; its completion if nobody reads it."""
    readers = index.readers[op.id]
    if not readers:
        return _completion(op, schedule.ops[op.id])
    ends: list[int] = []
    for dependence in readers:
        reader = schedule.ops[dependence.target]
        ends.append(reader.start + reader.delay + schedule.ii * dependence.distance + dependence.release)
    return max(ends)


@dataclass(frozen=True, slots=True)
class Profiles:
    """What is in use at each slot of one II, as steps from slot 0 on; their greatest levels are the judge's peaks.

    `registers`: by used group, overhead included. `shared_memory`: reserved bytes, one level. `shared_alive`: bytes
    of the ring and hand-off slots that hold a value at the slot, fixed part included. `tensor_memory`: columns.
    """

    registers: Mapping[str, Sequence[Step]]
    shared_memory: Sequence[Step]
    shared_alive: Sequence[Step]
    tensor_memory: Sequence[Step]


def profiles(graph: Graph, schedule: Schedule) -> Profiles:
    """The profiles that the liveness views draw."""
    index = GraphIndex(graph)
    live = index_live_ranges(index, schedule)
    fixed = graph.machine.fixed_shared_bytes
    buffers = [*live.rings.values(), *live.hand_offs.values()]
    return Profiles(
        registers={
            group: register_steps(live.registers[group], index.overhead(schedule.groups[group].kind), schedule.ii)
            for group in live.registers
        },
        shared_memory=[Step(0, live.shared_bytes(fixed))],
        shared_alive=_raised(profile(((b.begin, b.end, b.amount) for b in buffers), schedule.ii), fixed),
        tensor_memory=range_steps(live.tensor, schedule.ii),
    )


def range_steps(ranges: Iterable[LiveRange], ii: int) -> list[Step]:
    """The amount that `ranges` hold at each slot."""
    return profile(((r.begin, r.end, r.amount) for r in ranges), ii)


def register_steps(ranges: Iterable[LiveRange], overhead: int, ii: int) -> list[Step]:
    """Registers per thread that a group needs at each slot, its overhead included."""
    return _raised(range_steps(ranges, ii), overhead)


def _raised(steps: list[Step], by: int) -> list[Step]:
    return [Step(step.slot, step.level + by) for step in steps] if by else steps


def copies_at(live: LiveRange | Ring, slot: int, ii: int) -> int:
    """How many iterations' values of this range are held at `slot`."""
    return (live.end - 1 - slot) // ii - (live.begin - 1 - slot) // ii if live.end > live.begin else 0


def alive_at(ranges: Iterable[LiveRange], slot: int, ii: int) -> list[tuple[LiveRange, int]]:
    """The ranges that hold something at `slot`, each with its number of copies, the greatest amounts first."""
    counted = [(live, copies_at(live, slot, ii)) for live in ranges]
    alive = [(live, copies) for live, copies in counted if copies]
    return sorted(alive, key=lambda pair: -pair[0].amount * pair[1])
