"""Is there a schedule at one initiation interval? Arithmetic first, then the exact model with enough stages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.schedule.bounds import Arithmetic
from core.schedule.check import Judge
from core.schedule.model import Schedule
from core.solve.engine import Budget, Run, run
from core.solve.events import TrailEntry, Verdict
from core.solve.extract import extract
from core.solve.model import ExactModel
from core.solve.problem import Problem, enough_stages, least_length, stages_within

CP_SAT = "cp-sat"


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one II, with its schedule if it is feasible, accepted by the judge."""

    entry: TrailEntry
    schedule: Schedule | None = None


class Decider:
    """Decides one graph at any number of intervals. All its answers but UNKNOWN are proved."""

    def __init__(self, problem: Problem, budget: Budget, seed: int) -> None:
        self.problem = problem
        self.budget = budget
        self.judge = Judge(problem.graph)
        self.arithmetic = Arithmetic(problem.graph)
        self.seed = seed

    def decide(self, ii: int) -> Decision:
        """Whether there is a schedule at `ii`."""
        began = self.budget.seconds()
        certificates = self.arithmetic.certificates(ii)
        if certificates:
            family = certificates[0].family.value
            return Decision(TrailEntry(ii, Verdict.INFEASIBLE, self.budget.seconds() - began, family))
        model = ExactModel(self.problem, ii, enough_stages(self.problem, ii))
        result = self.ask(model)
        schedule = self.schedule(model, result) if result.verdict is Verdict.FEASIBLE else None
        return Decision(self._entry(ii, result, model, began), schedule)

    def find(self, ii: int, work: float) -> Schedule | None:
        """A schedule of few stages, if there is one that is found within so much work; None proves nothing."""
        if self.arithmetic.certificates(ii):
            return None
        few = stages_within(least_length(self.problem, ii) + ii, ii)
        model = ExactModel(self.problem, ii, min(few, enough_stages(self.problem, ii)))
        result = self.ask(model, work)
        return self.schedule(model, result) if result.verdict is Verdict.FEASIBLE else None

    def exclude(self, lowest: int, highest: int) -> TrailEntry:
        """Whether arguments that hold for all of these intervals show that none is feasible.

        FEASIBLE says only that they do not: a relaxation of rule `unit` at the highest can be satisfied.
        """
        began = self.budget.seconds()
        stages = enough_stages(self.problem, highest)
        model = ExactModel(self.problem, highest, stages, below=highest - lowest)
        return replace(self._entry(highest, self.ask(model), model, began), lowest=lowest)

    def ask(self, model: ExactModel, work: float | None = None) -> Run:
        """One run of CP-SAT, within all that is left of the budget or a part of it."""
        return run(model.cp, self.seed, self.budget.work if work is None else work, self.budget)

    def schedule(self, model: ExactModel, result: Run) -> Schedule:
        """The schedule of a feasible result, accepted by the judge."""
        return extract(model, result, self.judge, self.seed)

    def _entry(self, ii: int, result: Run, model: ExactModel, began: float) -> TrailEntry:
        return TrailEntry(ii, result.verdict, self.budget.seconds() - began, CP_SAT, horizon=model.stages)
