"""The problem of the schedules near a given one: its groups under their names, and what may hold each op."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count, islice

from core.graph.model import Graph
from core.schedule.model import Schedule
from core.solve.problem import Candidate, Problem, enough_stages, fits, make_problem
from core.solve.repair.request import Place


def anchored_problem(
    graph: Graph, schedule: Schedule, moves: Mapping[str, Place], kept: Schedule | None = None
) -> Problem:
    """The problem of schedules near this one, with the ops of `moves` on their groups and, with `kept`, all others on
    the groups that they have there.

    `allowed` is empty for an op that cannot be where `moves` or the project's pins have it.
    """
    problem = make_problem(graph)
    named = [_candidate(graph, name, group.kind) for name, group in schedule.groups.items()]
    pinned = [one for one in problem.candidates if one.pinned is not None and one.name not in schedule.groups]
    candidates = (*named, *pinned, *spare_groups(graph, schedule, {one.name for one in pinned}))
    allowed: dict[str, tuple[int, ...]] = {}
    for name, op in graph.ops.items():
        pin = graph.pins.get(name)
        wanted = {pin.group} if pin is not None and pin.group is not None else None
        if name in moves:
            wanted = {moves[name].group} & (wanted or {moves[name].group})
        elif kept is not None and wanted is None:
            wanted = {kept.ops[name].group}
        allowed[name] = tuple(
            i
            for i, one in enumerate(candidates)
            if (wanted is None or one.name in wanted) and fits(op, graph.group_kind(one.kind))
        )
    return replace(problem, candidates=candidates, allowed=allowed, anchored=True)


def _candidate(graph: Graph, name: str, kind: str) -> Candidate:
    of = graph.group_kind(kind)
    return Candidate(name, kind, of.warps, of.variable_latency)


def spare_groups(graph: Graph, schedule: Schedule, taken: Collection[str] = ()) -> list[Candidate]:
    """Groups that the graph has and the schedule does not, under names that are not taken."""
    found: list[Candidate] = []
    for kind in graph.groups:
        present = sum(group.kind == kind.kind for group in schedule.groups.values())
        numbered = (f"{kind.kind}.{number}" for number in count())
        names = (name for name in numbered if name not in schedule.groups and name not in taken)
        found += [_candidate(graph, name, kind.kind) for name in islice(names, max(0, kind.count - present))]
    return found


def enough_anchored_stages(problem: Problem, schedule: Schedule, moves: Mapping[str, Place]) -> int:
    """Stages that suffice for a schedule that moves least.

    Above the highest stage of a place that is kept there are only ops that are moved. A boundary between two stages
    there can be closed as `enough_stages` says, and closing it moves no other op, and those above it less far.
    """
    starts = [*(place.start for place in schedule.ops.values()), *(place.start for place in moves.values())]
    return enough_stages(problem, schedule.ii) + max(starts) // schedule.ii + 1
