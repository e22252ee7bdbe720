"""A result of the paper's search as a schedule, so that the judge can say what the printed formulation misses."""

from __future__ import annotations

from dataclasses import replace

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup
from core.solve.events import Verdict
from core.solve.paper.groups import warp_groups
from core.solve.paper.search import PaperResult
from core.solve.paper.streaming import prefetched

LEAST_GRANT = 24
"""Registers of a group that holds no tile: the least that `setmaxnreg` grants (PTX ISA, setmaxnreg)."""


def paper_schedule(graph: Graph, result: PaperResult, seed: int = 1) -> Schedule:
    """The schedule of a satisfiable result on the graph that was searched, streaming ops with their latency.

    Raises ValueError if the result has no schedule.
    """
    if result.verdict is not Verdict.FEASIBLE:
        raise ValueError("the search found no schedule")
    ii = result.attempts[-1].ii
    groups = {op: group for op, (_, group) in result.placements.items()}
    starts = prefetched(graph, ii, {op: start for op, (start, _) in result.placements.items()}, groups)
    used = {w: group for w, group in enumerate(warp_groups(graph)) if group is not None and w in groups.values()}
    schedule = Schedule(
        ii,
        {group.name: ScheduledGroup(group.kind, graph.machine.registers.max_per_thread) for group in used.values()},
        {op: Placement(start, used[groups[op]].name) for op, start in starts.items()},
        origin=Origin("solver", "feasible", "paper", seed),
    )
    return with_least_grants(graph, schedule)


def with_least_grants(graph: Graph, schedule: Schedule) -> Schedule:
    """Each group is granted what it needs, as far as one thread may have it: the paper decides no grants, it takes one
    limit as an input."""
    registers = graph.machine.registers
    limit = registers.max_per_thread // registers.granularity * registers.granularity
    peaks = check(graph, schedule).peaks.registers
    groups: dict[str, ScheduledGroup] = {}
    for name, group in schedule.groups.items():
        least = LEAST_GRANT if graph.group_kind(group.kind).variable_latency else 0
        need = -(-max(peaks[name], least) // registers.granularity) * registers.granularity
        groups[name] = replace(group, grant=min(need, limit))
    return replace(schedule, groups=groups)
