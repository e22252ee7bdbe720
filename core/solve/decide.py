# pyright: reportUnknownMemberType=false
"""Is there a schedule at one initiation interval? Arithmetic first, then short schedules, then all that matter."""

from __future__ import annotations

from dataclasses import dataclass

from core.schedule.bounds import Arithmetic
from core.schedule.check import Judge
from core.schedule.model import Schedule
from core.solve.engine import Clock, Run, run, turns
from core.solve.events import Level, TrailEntry, Verdict
from core.solve.extract import extract
from core.solve.model import ExactModel
from core.solve.problem import Problem, enough_stages, least_length, short_stages

CP_SAT = "cp-sat"
SHORT_WORK = 0.5


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one II. `proved`: an infeasible one holds for any number of stages."""

    entry: TrailEntry
    proved: bool
    schedule: Schedule | None = None


class Decider:
    """Decides one graph at any number of intervals."""

    def __init__(self, problem: Problem, clock: Clock, seed: int) -> None:
        self.problem = problem
        self.judge = Judge(problem.graph)
        self.arithmetic = Arithmetic(problem.graph)
        self.clock = clock
        self.seed = seed

    def quick(self, ii: int, work: float) -> Decision:
        """A schedule if one of few stages is found, else no claim but by arithmetic."""
        return self._decide(ii, min(short_stages(self.problem, ii), enough_stages(self.problem, ii)), work)

    def thorough(self, ii: int, work: float) -> Decision:
        """With as many stages as are enough: "infeasible" is a proof."""
        return self._decide(ii, enough_stages(self.problem, ii), work)

    def ask(self, model: ExactModel, work: float) -> Run:
        """Configurations take turns until one has the answer."""
        result = Run(Verdict.UNKNOWN, False, None, None)
        for configuration, limit in turns(self.seed, work):
            result = run(model.cp, configuration, limit, self.clock)
            if result.verdict is not Verdict.UNKNOWN or self.clock.left() <= 0:
                break
        return result

    def extract(self, model: ExactModel, result: Run) -> Schedule:
        """The schedule of a feasible result, accepted by the judge."""
        return extract(model, result, self.judge, self.seed)

    def _decide(self, ii: int, stages: int, work: float) -> Decision:
        began = self.clock.seconds()

        def decision(verdict: Verdict, by: str, horizon: int | None, schedule: Schedule | None) -> Decision:
            entry = TrailEntry(ii, verdict, self.clock.seconds() - began, by, horizon=horizon)
            enough = horizon is None or horizon >= enough_stages(self.problem, ii)
            return Decision(entry, verdict is Verdict.INFEASIBLE and enough, schedule)

        certificates = self.arithmetic.certificates(ii)
        if certificates:
            return decision(Verdict.INFEASIBLE, certificates[0].family.value, None, None)
        # A short schedule is found, or excluded, far faster than any: it is looked for first.
        model = self._short_model(ii, stages)
        result = self.ask(model, SHORT_WORK)
        if result.verdict is not Verdict.FEASIBLE:
            model = ExactModel(self.problem, ii, stages)
            result = self.ask(model, work)
        schedule = self.extract(model, result) if result.verdict is Verdict.FEASIBLE else None
        return decision(result.verdict, CP_SAT, model.stages, schedule)

    def _short_model(self, ii: int, stages: int) -> ExactModel:
        most = least_length(self.problem, ii) + ii
        model = ExactModel(self.problem, ii, min(stages, stages_within(most, ii)))
        model.cp.add(model.objective(Level.LENGTH) <= most)
        return model


def stages_within(length: int, ii: int) -> int:
    """Stages that a schedule of at most this length spans, wherever its rotation puts the first start."""
    return max(length - 1, 0) // ii + 2
