"""The fewest ops that must move and the least movement then, by trying everything: the judge decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, product

from core.graph.model import Graph
from core.schedule.check import Judge
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.solve.repair.request import Place


def nearest(graph: Graph, schedule: Schedule, moves: Mapping[str, Place], stages: int) -> tuple[int, int] | None:
    """Moved ops and movement of the nearest legal schedule with all starts in [0, stages * II) and the groups that the
    schedule has or may have; None if there is none."""
    judge = Judge(graph)
    free = [op for op in schedule.ops if op not in moves]
    for count in range(len(free) + 1):
        found = [
            movement
            for chosen in combinations(free, count)
            for movement, tried in _tries(graph, schedule, moves, chosen, stages)
            if _legal(judge, graph, tried)
        ]
        if found:
            return count, min(found)
    return None


def _tries(
    graph: Graph, schedule: Schedule, moves: Mapping[str, Place], chosen: tuple[str, ...], stages: int
) -> Iterator[tuple[int, Schedule]]:
    """All schedules in which exactly these ops are elsewhere, with their movement."""
    groups = dict(schedule.groups)
    for kind in graph.groups:
        spare = kind.count - sum(group.kind == kind.kind for group in groups.values())
        names = [f"spare {kind.kind} {number}" for number in range(max(0, spare))]
        groups |= {name: ScheduledGroup(kind.kind, 0) for name in names}
    places: list[list[Placement]] = []
    for op, old in schedule.ops.items():
        delays = range(graph.ops[op].queue + 1)
        if op in moves:
            places.append([Placement(moves[op].start, moves[op].group, delay) for delay in delays])
        elif op in chosen:
            starts = range(stages * schedule.ii)
            every = [Placement(start, group, delay) for start in starts for group in groups for delay in delays]
            places.append([place for place in every if place != old])
        else:
            places.append([old])
    for tried in product(*places):
        ops = dict(zip(schedule.ops, tried, strict=True))
        movement = sum(
            (0 if op in moves else abs(place.start - schedule.ops[op].start))
            + abs(place.delay - schedule.ops[op].delay)
            for op, place in ops.items()
        )
        yield movement, replace(schedule, ops=ops, groups=groups, rings={})


def _legal(judge: Judge, graph: Graph, tried: Schedule) -> bool:
    """Whether it is legal with the least grants."""
    peaks = judge.check(tried).peaks.registers
    granularity = graph.machine.registers.granularity
    groups = {}
    for name, group in tried.groups.items():
        least = 24 if graph.group_kind(group.kind).variable_latency else 0
        groups[name] = replace(group, grant=-(-max(peaks.get(name, 0), least) // granularity) * granularity)
    return judge.check(replace(tried, groups=groups)).legal
