"""Figures of a schedule that the objectives and the views speak of."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.model import Graph, Space
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule


def length(graph: Graph, schedule: Schedule) -> int:
    """L: cycles from the first start to the last completion of one iteration, all ops included."""
    ends = [place.start + place.delay + graph.ops[name].latency for name, place in schedule.ops.items()]
    return max(ends) - min(place.start for place in schedule.ops.values())


def stages(schedule: Schedule) -> int:
    """Iterations that are in flight at once by their starts: stages from the earliest to the latest used one."""
    used = [place.start // schedule.ii for place in schedule.ops.values()]
    return max(used) - min(used) + 1


def used_groups(schedule: Schedule) -> tuple[str, ...]:
    """The groups that have an op, in the order of the schedule's `groups`."""
    used = {place.group for place in schedule.ops.values()}
    return tuple(name for name in schedule.groups if name in used)


@dataclass(frozen=True, slots=True)
class HandOffs:
    """The register values that cross groups, and the bytes of one buffer each."""

    values: tuple[str, ...]
    bytes: int


def hand_offs(graph: Graph, schedule: Schedule) -> HandOffs:
    """Which values cross groups."""
    index = GraphIndex(graph)
    crossing = [
        op
        for op in index.values[Space.REGISTERS]
        if any(schedule.ops[d.target].group != schedule.ops[op.id].group for d in index.readers[op.id])
    ]
    return HandOffs(tuple(op.id for op in crossing), sum(op.hand_off_bytes for op in crossing))


@dataclass(frozen=True, slots=True)
class TripCost:
    """Cycles of a loop of so many iterations: `total`, of which II per iteration is the steady state's share and
    `overhead` what prologue and epilogue add."""

    iterations: int
    total: int
    overhead: int


def trip_cost(graph: Graph, schedule: Schedule, iterations: int) -> TripCost:
    """The cost of `iterations` >= 1 trips, from the first start to the last completion."""
    total = (iterations - 1) * schedule.ii + length(graph, schedule)
    return TripCost(iterations, total, total - iterations * schedule.ii)
