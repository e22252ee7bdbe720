"""Is there a schedule at one initiation interval? Arithmetic first, then the exact model with enough stages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.schedule.bounds import Arithmetic
from core.schedule.check import Judge
from core.schedule.model import Schedule
from core.solve.engine import Budget, OutOfTimeError, Run, run
from core.solve.events import TrailEntry, Verdict
from core.solve.extract import extract
from core.solve.model import ExactModel
from core.solve.problem import Problem, enough_stages, least_length, stages_within
from core.solve.warm_start import begin_near

CP_SAT = "cp-sat"


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one II, with its schedule if it is feasible, accepted by the judge."""

    entry: TrailEntry
    schedule: Schedule | None = None


GUESS_WORK = 0.06
"""Deterministic work of a guess: attention forward on Blackwell (36 ops) takes 0.03, on Hopper (28) 0.02."""


class Decider:
    """Decides one graph at any number of intervals. All its answers but UNKNOWN are proved."""

    def __init__(self, problem: Problem, budget: Budget, seed: int) -> None:
        self.problem = problem
        self.budget = budget
        self.judge = Judge(problem.graph)
        self.arithmetic = Arithmetic(problem.graph)
        self.seed = seed
        self._spare: ExactModel | None = None

    def decide(
        self, ii: int, work: float | None = None, *, guess: bool = False, near: Schedule | None = None
    ) -> Decision:
        """Whether there is a schedule at `ii`, within all that is left of the budget or so much work.

        `guess`: looks for one of few stages first, which takes half the time where there is one. `near`: the search
        begins with this schedule, of another interval.
        """
        began = self.budget.seconds()
        certificates = self.arithmetic.certificates(ii)
        if certificates:
            family = certificates[0].family.value
            return Decision(TrailEntry(ii, Verdict.INFEASIBLE, self.budget.seconds() - began, family))
        stages = enough_stages(self.problem, ii)
        if guess and (schedule := self.find(ii, GUESS_WORK)) is not None:
            return Decision(self._entry(ii, Verdict.FEASIBLE, stages, began), schedule)
        try:
            model = self.model(ii, stages)
        except OutOfTimeError:
            return Decision(self._entry(ii, Verdict.UNKNOWN, stages, began))
        if near is not None:
            begin_near(model, near)
        result = self.ask(model, work)
        schedule = self.schedule(model, result) if result.verdict is Verdict.FEASIBLE else None
        return Decision(self._entry(ii, result.verdict, stages, began), schedule)

    def find(self, ii: int, work: float) -> Schedule | None:
        """A schedule of few stages, if there is one that is found within so much work; None proves nothing."""
        if self.arithmetic.certificates(ii):
            return None
        few = stages_within(least_length(self.problem, ii) + ii, ii)
        try:
            model = self.model(ii, min(few, enough_stages(self.problem, ii)))
        except OutOfTimeError:
            return None
        result = self.ask(model, work)
        if result.verdict is not Verdict.FEASIBLE:
            return None
        self._spare = model
        return self.schedule(model, result)

    def exclude(self, lowest: int, highest: int, work: float | None = None) -> TrailEntry:
        """Whether arguments that hold for all of these intervals show that none is feasible.

        FEASIBLE says only that they do not: a relaxation of rule `unit` at the highest can be satisfied.
        """
        began = self.budget.seconds()
        stages = enough_stages(self.problem, highest)
        try:
            verdict = self.ask(self.model(highest, stages, below=highest - lowest), work).verdict
        except OutOfTimeError:
            verdict = Verdict.UNKNOWN
        return replace(self._entry(highest, verdict, stages, began), lowest=lowest)

    def model(self, ii: int, stages: int, below: int = 0) -> ExactModel:
        """The exact model, made within the budget or left by `find`, for the caller alone. Raises OutOfTimeError."""
        spare = self._spare
        if spare is not None and (spare.ii, spare.stages, 0) == (ii, stages, below):
            self._spare = None
            return spare
        return ExactModel(self.problem, ii, stages, below, self.budget.check)

    def ask(self, model: ExactModel, work: float | None = None) -> Run:
        """One run of CP-SAT, within all that is left of the budget or a part of it."""
        return run(model.cp, self.seed, self.budget.work if work is None else work, self.budget)

    def schedule(self, model: ExactModel, result: Run) -> Schedule:
        """The schedule of a feasible result, accepted by the judge."""
        return extract(model, result, self.judge, self.seed)

    def _entry(self, ii: int, verdict: Verdict, stages: int, began: float) -> TrailEntry:
        return TrailEntry(ii, verdict, self.budget.seconds() - began, CP_SAT, horizon=stages)
