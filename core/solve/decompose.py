"""Schedules of large loops, of 50 to 200 ops, where one model of everything takes too long.

Two ways, neither of which proves anything. *Folding*: a loop that is several iterations of a smaller one is scheduled
as that one and the schedule repeated. *Groups first, timing second*: a small model chooses the group of every op, the
text's own order gives a first schedule of these groups, and the exact model shortens its interval, step by step, with
every start near to where the last schedule has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from core.graph.fold import Folding, fold
from core.graph.model import Graph, Pin
from core.schedule.check import Judge
from core.schedule.metrics import stages
from core.schedule.model import Placement, Schedule
from core.solve.decide import Decider
from core.solve.engine import Budget, OutOfTimeError
from core.solve.events import Verdict
from core.solve.group_choice import GroupChoice
from core.solve.problem import Problem, make_problem
from core.solve.sequential import sequential

LARGE_FROM = 45
"""Ops from which on this finds schedules sooner than the model of everything."""

SEARCHED_UP_TO = 54
"""Ops of the largest loop that is searched as a whole, for proofs and for better levels: beyond, one question takes
minutes. A larger one is searched only where this finds nothing."""

FOLDED_WORK = 2.0
CHOICE_WORK = 1.0
STEP_WORK = 1.0
SHORTENING_WORK = 5.0
"""Deterministic work of one run on a folded loop, on a choice of groups, on one step to a shorter interval, on all."""

CHOICES = 6
"""Choices of groups that are tried, until one has a schedule."""

WINDOWS = (8, 3)
"""Starts stay within this part of the interval of where they were; the wider if the narrower has no schedule."""

CLOSE = 1.03
"""Once the interval is within this factor of the lowest, the lowest itself is tried."""

LEAST_STEP = 200
"""Steps of less than one part in so many are not worth their time."""


def improving(problem: Problem, lowest: int, budget: Budget, seed: int) -> Iterator[Schedule]:
    """Schedules at ever smaller intervals from `lowest` on, accepted by the judge; none if no way comes to one."""
    if problem.pinned_starts:
        return
    folding = fold(problem.graph)
    found = None if folding is None else _repeated(folding, lowest, budget, seed)
    if found is None:
        found = _as_the_text_has_it(problem, lowest, budget, seed)
    if found is not None:
        yield found
        groups = {op: place.group for op, place in found.ops.items()}
        yield from _shortened(_with_groups(problem.graph, groups), found, lowest, budget, seed)


def _repeated(folding: Folding, lowest: int, budget: Budget, seed: int) -> Schedule | None:
    """A schedule of the folded loop as one of the whole loop, if the judge accepts it."""
    problem = make_problem(folding.graph)
    ii = -(-lowest // folding.iterations)
    for interval in (ii, ii + ii // 20, ii + ii // 5):
        folded = _folded(problem, interval, budget, seed)
        if folded is not None:
            schedule = repeat(folding, folded)
            return schedule if Judge(folding.original).check(schedule).legal else None
    return None


def _folded(problem: Problem, ii: int, budget: Budget, seed: int) -> Schedule | None:
    """A schedule of the folded loop, with few hand-offs if there is one."""
    holders = GroupChoice(problem, ii, seed).propose(CHOICE_WORK, budget)
    if holders is not None:
        groups = {op: problem.candidates[i].name for op, i in holders.items()}
        few = Decider(make_problem(_with_groups(problem.graph, groups)), budget, seed).find(ii, STEP_WORK)
        if few is not None:
            return few
    return Decider(problem, budget, seed).find(ii, FOLDED_WORK)


def _as_the_text_has_it(problem: Problem, lowest: int, budget: Budget, seed: int) -> Schedule | None:
    choice = GroupChoice(problem, lowest, seed)
    for _ in range(CHOICES):
        holders = choice.propose(CHOICE_WORK, budget)
        found = None if holders is None else sequential(problem, holders, lowest, seed, budget)
        if holders is None or found is not None:
            return found
        choice.refuse(holders)
    return None


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


def _with_groups(graph: Graph, groups: Mapping[str, str]) -> Graph:
    """The graph with every op pinned to its group, by name."""
    return replace(graph, pins={op: Pin(group=group) for op, group in groups.items()})


def _shortened(graph: Graph, schedule: Schedule, lowest: int, budget: Budget, seed: int) -> Iterator[Schedule]:
    """Schedules of the same groups at smaller and smaller intervals: halfway to the lowest each time, and halfway back
    where there was none."""
    decider = Decider(make_problem(graph), budget, seed)
    ends_at = budget.work - SHORTENING_WORK
    failed = lowest - 1
    while schedule.ii - failed > max(1, schedule.ii // LEAST_STEP) and budget.work > ends_at and not budget.spent:
        is_close = failed < lowest and schedule.ii <= CLOSE * lowest
        ii = lowest if is_close else max(lowest, (schedule.ii + failed) // 2)
        shorter = next(filter(None, (_near(decider, schedule, ii, part) for part in WINDOWS)), None)
        if shorter is None:
            failed = ii
        else:
            schedule = shorter
            yield schedule


def _near(decider: Decider, schedule: Schedule, ii: int, part: int) -> Schedule | None:
    """A schedule at `ii` with every start within one `part` of it of where stretching `schedule` puts it."""
    try:
        model = decider.model(ii, stages(schedule) + 2)
    except OutOfTimeError:
        return None
    origin = model.root_start - schedule.ops[model.root].start * ii // schedule.ii
    for op, place in schedule.ops.items():
        wanted = origin + place.start * ii // schedule.ii
        model.cp.add(model.times.start[op] >= wanted - ii // part)
        model.cp.add(model.times.start[op] <= wanted + ii // part)
        model.cp.add_hint(model.times.start[op], max(0, wanted))
    result = decider.ask(model, STEP_WORK)
    return decider.schedule(model, result) if result.verdict is Verdict.FEASIBLE else None
