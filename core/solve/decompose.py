"""Schedules of large loops, of 50 to 200 ops, where one model of everything takes too long.

Two ways, neither of which proves anything. *Folding*: a loop that is several iterations of a smaller one is scheduled
as that one and the schedule repeated. *Groups first, timing second*: a small model chooses the group of every op, the
exact model then has only starts to choose; a choice that comes to nothing is cut off and the next one tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.graph.fold import Folding, fold
from core.graph.model import Graph, Pin
from core.schedule.check import Judge
from core.schedule.model import Placement, Schedule
from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.group_choice import GroupChoice
from core.solve.problem import Problem, make_problem

LARGE_FROM = 45
"""Ops from which on this finds schedules sooner than the model of everything."""

FOLDED_WORK = 8.0
CHOICE_WORK = 1.0
TIMING_WORK = 4.0
"""Deterministic work of one run on a folded loop, on a choice of groups, on the starts for one choice."""

CHOICES = 6
"""Choices of groups that are tried at one initiation interval."""


def heuristic(graph: Graph, ii: int, budget: Budget, seed: int) -> Schedule | None:
    """A schedule at `ii` or less, accepted by the judge; None if none was found, which proves nothing."""
    folding = fold(graph)
    found = _repeated(folding, ii, budget, seed) if folding is not None else None
    return found if found is not None else _grouped(make_problem(graph), ii, budget, seed)


def _repeated(folding: Folding, ii: int, budget: Budget, seed: int) -> Schedule | None:
    """A schedule of the folded loop as one of the whole loop, if the judge accepts it."""
    if folding.iterations > ii:
        return None
    folded = _timed(folding.graph, ii // folding.iterations, FOLDED_WORK, budget, seed)
    if folded is None:
        return None
    schedule = repeat(folding, folded)
    return schedule if Judge(folding.original).check(schedule).legal else None


def repeat(folding: Folding, folded: Schedule) -> Schedule:
    """The folded loop's schedule, one interval after the other for its copies."""
    places = {
        name: Placement(place.start + number * folded.ii, place.group, place.delay)
        for op, place in folded.ops.items()
        for number, name in enumerate(folding.copies[op])
    }
    return replace(
        folded,
        ii=folding.iterations * folded.ii,
        ops={name: places[name] for name in folding.original.ops},
        rings={},
    )


def _grouped(problem: Problem, ii: int, budget: Budget, seed: int) -> Schedule | None:
    choice = GroupChoice(problem, ii, seed)
    for _ in range(CHOICES):
        candidates = choice.propose(CHOICE_WORK, budget)
        if candidates is None or budget.spent:
            return None
        schedule = _timed(_with_groups(problem, candidates), ii, TIMING_WORK, budget, seed)
        if schedule is not None:
            return schedule
        choice.refuse(candidates)
    return None


def _timed(graph: Graph, ii: int, work: float, budget: Budget, seed: int) -> Schedule | None:
    """A schedule of few stages by the exact model, if it is found within `work` units of deterministic time."""
    return Decider(make_problem(graph), budget, seed).find(ii, work)


def _with_groups(problem: Problem, candidates: Mapping[str, int]) -> Graph:
    """The graph with every op pinned to its group."""
    pins = problem.graph.pins
    fixed = {op: replace(pins.get(op, Pin()), group=problem.candidates[i].name) for op, i in candidates.items()}
    return replace(problem.graph, pins=fixed)
