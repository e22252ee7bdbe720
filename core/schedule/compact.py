"""Compact: every op as early as orders, groups and the judge allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.graph.model import Graph
from core.schedule.check import Judge
from core.schedule.edits import USER, move_op, shift
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule
from core.schedule.orders import Difference, order_differences


def compact(graph: Graph, schedule: Schedule) -> Schedule:
    """The schedule with all orders and groups, and every op as early as they allow; the first op at cycle 0 unless
    starts are pinned. A legal schedule stays legal, and none becomes longer: where that is too early for registers or
    memory, as many ops as possible move, one after the other. Raises ValueError if it does not fit the graph."""
    index = GraphIndex(graph)
    judge = Judge(graph)
    pinned = {op: pin.start for op, pin in graph.pins.items() if pin.start is not None}
    first = min((place.start for place in schedule.ops.values()), default=0)
    if not pinned and first:
        schedule, first = shift(schedule, -first), 0
    differences = list(order_differences(index, schedule))
    kept = {op: schedule.ops[op].start for op in pinned}
    starts = _least(differences, schedule, first, kept)
    if starts is None:
        return schedule  # what it breaks is not for this to mend
    earliest = _with_starts(schedule, starts)
    if not judge.check(schedule).legal or judge.check(earliest).legal:
        return earliest
    return _one_by_one(judge, differences, schedule, first, kept)


def _least(
    differences: Sequence[Difference], schedule: Schedule, first: int, kept: Mapping[str, int]
) -> dict[str, int] | None:
    """The least starts, from `first` on, with those kept; None if the schedule does not satisfy the differences."""
    starts = {op: kept.get(op, first) for op in schedule.ops}
    changed = True
    while changed:
        changed = False
        for source, target, cycles in differences:
            least = starts[source] + cycles
            if least > starts[target]:
                if target in kept or least > schedule.ops[target].start:
                    return None
                starts[target] = least
                changed = True
    return starts


def _one_by_one(
    judge: Judge, differences: Sequence[Difference], schedule: Schedule, first: int, kept: Mapping[str, int]
) -> Schedule:
    changed = True
    while changed:
        changed = False
        for op in sorted(schedule.ops, key=lambda op: schedule.ops[op].start):
            bounds = [schedule.ops[d.source].start + d.cycles for d in differences if d.target == op != d.source]
            least = max(bounds, default=first)
            least = max(least, first)
            if op not in kept and least < schedule.ops[op].start:
                moved = move_op(schedule, op, least)
                if judge.check(moved).legal:
                    schedule, changed = moved, True
    return schedule


def _with_starts(schedule: Schedule, starts: Mapping[str, int]) -> Schedule:
    ops = {op: replace(place, start=starts[op]) for op, place in schedule.ops.items()}
    return schedule if ops == schedule.ops else replace(schedule, ops=ops, origin=USER)
