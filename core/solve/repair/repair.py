"""The repair: a cascade at once, what rules about time allow, then the nearest schedule with all groups kept and with
any groups."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.schedule.check import Judge
from core.schedule.edits import add_group, move_op, shift
from core.schedule.model import Origin, Schedule
from core.solve.engine import Budget
from core.solve.events import Status, Verdict
from core.solve.model import ExactModel, TimingModel
from core.solve.problem import Problem, enough_stages
from core.solve.repair.anchored import anchored_problem, enough_anchored_stages, spare_groups
from core.solve.repair.cascade import cascade
from core.solve.repair.descent import Descent
from core.solve.repair.nearest import NearestModel
from core.solve.repair.request import Place, Repaired, RepairRequest

BOUND, KEPT, COUNT = 0.25, 0.5, 0.6
"""Parts of the work that is left: for the fewest moves that rules about time allow, with all groups kept, and with any
groups."""

MOVEMENT_BOUND, MOVEMENT = 0.4, 0.5
"""The same for least movement: what rules about time allow, and what all rules do."""

WORK_PER_SECOND = 0.12
"""Deterministic work in a second at the least, the making and loading of the models included (`nearest`)."""


def repair(request: RepairRequest, stopped: Callable[[], bool] | None = None) -> Repaired:
    """Answers the request within its limit; `stopped` is asked now and then.

    The same request and versions give the same answer unless the clock ends the search. Raises KeyError for an op that
    is not there, ValueError for a start before cycle 0 or a schedule that does not fit the graph, and RuntimeError if
    the judge refuses a schedule of the solver (an internal error).
    """
    importlib.import_module("ortools.sat.python.cp_model")  # longer than most repairs take: before the clock starts
    repairing = _Repairing(request, Budget(request.limit_s, stopped or _never))
    found = repairing.run()
    if found.schedule is None:
        return found
    bound = bounds(request.graph).lower_bound
    least = bound is not None and found.schedule.ii <= bound
    status = Status.OPTIMAL if least else Status.FEASIBLE
    origin = Origin("repair", status.value, seed=request.seed)
    return replace(found, schedule=replace(found.schedule, origin=origin))


class _Repairing:
    """One request; all that is asked of it shares one budget."""

    def __init__(self, request: RepairRequest, budget: Budget) -> None:
        self._request = request
        self._budget = budget
        budget.work = WORK_PER_SECOND * (request.limit_s if request.effort_s is None else request.effort_s)
        self._judge = Judge(request.graph)
        with_moves(request.graph, request.schedule, request.moves)
        self._problem = anchored_problem(request.graph, request.schedule, request.moves)

    def run(self) -> Repaired:
        """The nearest schedule."""
        request, problem = self._request, self._problem
        if not all(problem.allowed.values()):
            return self._answer(Verdict.INFEASIBLE)
        if request.may_rotate and not problem.pinned_starts:
            return self._rotated()
        return self._nearest(request.schedule, request.moves)

    def _rotated(self) -> Repaired:
        """With as many intervals before the schedule as may ever help: below the lowest stage of a place that is kept,
        boundaries between stages can be closed as above the highest."""
        request, ii = self._request, self._request.schedule.ii
        room = enough_stages(self._problem, ii)
        moves = {op: replace(place, start=place.start + room * ii) for op, place in request.moves.items()}
        found = self._nearest(shift(request.schedule, room * ii), moves)
        if found.schedule is None:
            return found
        spare = min(room, min(place.start for place in found.schedule.ops.values()) // ii)
        return replace(found, schedule=shift(found.schedule, -spare * ii), later=room - spare)

    def _nearest(self, base: Schedule, moves: Mapping[str, Place]) -> Repaired:
        request, budget, problem = self._request, self._budget, self._problem
        descent = Descent(request.graph, base, moves, self._judge, request.seed)
        for guess in _guesses(request, base, moves):
            descent.offer(guess)
        models = _Models(problem, base, moves, budget)
        timing = models.timing()
        verdict = descent.fewer(timing, BOUND * budget.work, complete=True)
        if verdict is not Verdict.INFEASIBLE:
            verdict = self._fewest(descent, models)
        if descent.best is None and verdict is Verdict.UNKNOWN:
            verdict = self._any(descent, models)
        if descent.best is None:
            return self._answer(verdict, models.stages)
        self._nearest_of_fewest(descent, models, timing)
        return Repaired(
            Verdict.FEASIBLE,
            budget.seconds(),
            models.stages,
            descent.best,
            descent.moved,
            descent.count,
            descent.movement,
        )

    def _fewest(self, descent: Descent, models: _Models) -> Verdict:
        """The fewest moves with all groups as they are, which is found sooner; if there is no such schedule, with those
        of the best one known; then with any groups."""
        for grouping in models.groupings(descent.best):
            if descent.fewest:
                break
            verdict = descent.fewer(models.kept(grouping), KEPT * self._budget.work, complete=False)
            if verdict is not Verdict.INFEASIBLE:
                break
        if descent.fewest:
            return Verdict.FEASIBLE
        if self._budget.spent:
            return Verdict.UNKNOWN
        return descent.fewer(models.every(), COUNT * self._budget.work, complete=True)

    def _any(self, descent: Descent, models: _Models) -> Verdict:
        """The effort is for what is nearest: while there is no answer at all, the limit is what counts."""
        budget = self._budget
        budget.work = WORK_PER_SECOND * self._request.limit_s
        verdict = descent.fewer(models.every(), budget.work, complete=True)
        budget.work = 0.0
        return verdict

    def _nearest_of_fewest(self, descent: Descent, models: _Models, timing: NearestModel) -> None:
        """Less movement: what rules about time allow, then with the groups that the best schedule has, then, where that
        may be a proof, with any."""
        budget = self._budget
        descent.nearer(timing, MOVEMENT_BOUND * budget.work, complete=True)
        some = descent.best is not None and models.keeps_some(descent.best)
        if descent.best is not None and some and not (descent.movement.proved or budget.spent):
            part = MOVEMENT if descent.fewest else 1.0
            descent.nearer(models.kept(descent.best), part * budget.work, complete=False)
        if (descent.fewest or not some) and not (descent.movement.proved or budget.spent):
            descent.nearer(models.every(), budget.work, complete=True)

    def _answer(self, verdict: Verdict, stages: int = 0) -> Repaired:
        return Repaired(verdict, self._budget.seconds(), stages)


class _Models:
    """Exact models of the schedules near `base`, each made when it is first asked for."""

    def __init__(self, problem: Problem, base: Schedule, moves: Mapping[str, Place], budget: Budget) -> None:
        self._problem = problem
        self._base = base
        self._moves = moves
        self._budget = budget
        self._made: dict[tuple[str, ...], NearestModel] = {}
        self.stages = enough_anchored_stages(problem, base, moves)

    def groupings(self, best: Schedule | None) -> Iterator[Schedule]:
        """Schedules whose groups may be kept and leave less to be decided: the base, and what has been found."""
        others = [] if best is None or _groups(best) == _groups(self._base) else [best]
        yield from filter(self.keeps_some, [self._base, *others])

    def keeps_some(self, schedule: Schedule) -> bool:
        """Whether keeping the groups of this schedule is possible, and leaves less to be decided than any groups do."""
        allowed = self._kept(schedule).allowed
        return all(allowed.values()) and allowed != self._problem.allowed

    def kept(self, schedule: Schedule) -> NearestModel:
        """With the groups that ops have in this schedule."""
        return self._model(_groups(schedule), self._kept(schedule))

    def timing(self) -> NearestModel:
        """With any groups, and without rules about registers and memory."""
        return self._nearest(TimingModel(self._problem, self._base.ii, self.stages))

    def every(self) -> NearestModel:
        """With any groups."""
        return self._model((), self._problem)

    def _kept(self, schedule: Schedule) -> Problem:
        return anchored_problem(self._problem.graph, self._base, self._moves, schedule)

    def _model(self, key: tuple[str, ...], problem: Problem) -> NearestModel:
        if key not in self._made:
            self._made[key] = self._nearest(ExactModel(problem, self._base.ii, self.stages))
        return self._made[key]

    def _nearest(self, model: TimingModel) -> NearestModel:
        return NearestModel(model, self._base, self._moves, self._budget)


def _groups(schedule: Schedule) -> tuple[str, ...]:
    return tuple(place.group for place in schedule.ops.values())


def _guesses(request: RepairRequest, base: Schedule, moves: Mapping[str, Place]) -> Iterator[Schedule]:
    """The moves alone, their cascade, and everything moved as they are: as far, and onto groups exchanged as theirs."""
    dropped = with_moves(request.graph, base, moves)
    yield dropped
    pushed = cascade(request.graph, dropped, moves)
    if pushed is not None:
        yield pushed
    by = {place.start - base.ops[op].start for op, place in moves.items()}
    exchanged = _exchanged(dropped, base, moves)
    if len(by) == 1 and exchanged is not None and min(place.start for place in base.ops.values()) + min(by) >= 0:
        yield shift(exchanged, min(by))


def _exchanged(dropped: Schedule, base: Schedule, moves: Mapping[str, Place]) -> Schedule | None:
    """The base with each moved op's group and the one it is put on exchanged; None if they differ in kind, or if two
    moves ask for different exchanges."""
    names: dict[str, str] = {}
    for op, place in moves.items():
        group = base.ops[op].group
        if names.get(group, place.group) != place.group or names.get(place.group, group) != group:
            return None
        if dropped.groups[group].kind != dropped.groups[place.group].kind:
            return None
        names |= {group: place.group, place.group: group}
    groups = {name: dropped.groups[names.get(name, name)] for name in dropped.groups}
    ops = {op: replace(place, group=names.get(place.group, place.group)) for op, place in base.ops.items()}
    return replace(base, groups=groups, ops=ops)


def with_moves(graph: Graph, schedule: Schedule, moves: Mapping[str, Place]) -> Schedule:
    """The schedule with the moves made and nothing else, on groups that it may not have had yet. Raises KeyError for an
    unknown op or group, ValueError for a start before cycle 0."""
    spare = {candidate.name: candidate.kind for candidate in spare_groups(graph, schedule)}
    for op, place in moves.items():
        if place.group in spare and place.group not in schedule.groups:
            schedule = add_group(schedule, place.group, spare[place.group], 0)
        schedule = move_op(schedule, op, place.start, place.group)
    return schedule


def _never() -> bool:
    return False
