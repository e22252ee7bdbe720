# pyright: reportUnknownMemberType=false
"""The lexicographic levels after II: each is minimised at the best values of those before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.schedule.metrics import hand_offs, length, stages, used_groups
from core.schedule.model import Schedule
from core.solve.decide import Decider, stages_within
from core.solve.engine import Run, run, turns
from core.solve.events import Event, Incumbent, Level, LevelProved, LevelResult, Verdict
from core.solve.model import ExactModel
from core.solve.problem import enough_stages, hand_off_weight, least_length, short_stages

LEVEL_WORK = 8.0
"""Deterministic work of one run on one level; a level that needs more keeps its gap, so that the others get a turn."""


@dataclass(slots=True)
class Levels:
    """Minimises level by level at one II. `schedule` is always the best so far, accepted by the judge."""

    decider: Decider
    schedule: Schedule
    emit: Callable[[Event], None]

    def run(self, levels: Sequence[Level]) -> tuple[LevelResult, ...]:
        """The results of the levels in their order; those that the clock left no time for are not proved."""
        fixed: dict[Level, int] = {}
        found: list[LevelResult] = []
        for level in levels:
            bound = self._bisect_length(fixed) if level is Level.LENGTH else self._minimise(level, fixed)
            fixed[level] = self._value(level)
            found.append(self._result(level, fixed[level], bound))
            self.emit(LevelProved(found[-1], self.decider.clock.seconds()))
        return tuple(found)

    def _value(self, level: Level) -> int:
        """What the schedule is worth, as the model's objective counts it."""
        graph = self.decider.problem.graph
        match level:
            case Level.II:
                return self.schedule.ii
            case Level.GROUPS:
                return len(used_groups(self.schedule))
            case Level.HAND_OFFS:
                crossing = hand_offs(graph, self.schedule)
                return hand_off_weight(graph) * len(crossing.values) + crossing.bytes
            case Level.LENGTH:
                return length(graph, self.schedule)
            case Level.REGISTERS:
                return max(self.decider.judge.check(self.schedule).peaks.registers.values(), default=0)
            case Level.STAGES:
                return stages(self.schedule)

    def _bisect_length(self, fixed: dict[Level, int]) -> int:
        """A limit on L narrows every start, so that asking for a length is far faster than minimising it."""
        low = least_length(self.decider.problem, self.schedule.ii)
        while (best := self._value(Level.LENGTH)) > low:
            middle = (low + best - 1) // 2
            model = self._model(fixed, min(self._most_stages(fixed), stages_within(middle, self.schedule.ii)))
            model.cp.add(model.objective(Level.LENGTH) <= middle)
            result = self.decider.ask(model, LEVEL_WORK)
            if result.verdict is Verdict.UNKNOWN:
                break
            if result.verdict is Verdict.INFEASIBLE:
                low = middle + 1
            else:
                self._take(model, result)
        return low

    def _minimise(self, level: Level, fixed: dict[Level, int]) -> int:
        """Asks for something strictly better until there is nothing; returns the proved bound.

        First with few stages, which is quick, then with as many as a better schedule may need.
        """
        most = self._most_stages(fixed)
        horizon = min(most, short_stages(self.decider.problem, self.schedule.ii))
        while (best := self._value(level)) > 0:
            model = self._model(fixed, horizon)
            objective = model.objective(level)
            model.cp.add(objective <= best - 1)
            model.cp.minimize(objective)
            result = self._least(model)
            if result.verdict is Verdict.FEASIBLE:
                self._take(model, result)
            if result.optimal and horizon == most:
                return self._value(level)
            if result.optimal:
                horizon = most
            elif result.verdict is Verdict.UNKNOWN or self.decider.clock.left() <= 0:
                return 0
        return 0

    def _take(self, model: ExactModel, result: Run) -> None:
        self.schedule = self.decider.extract(model, result)
        self.emit(Incumbent(self.schedule, self.decider.clock.seconds()))

    def _most_stages(self, fixed: dict[Level, int]) -> int:
        """Stages that suffice for every schedule that keeps the levels before."""
        most = enough_stages(self.decider.problem, self.schedule.ii)
        limit = fixed.get(Level.LENGTH)
        return most if limit is None else min(most, stages_within(limit, self.schedule.ii))

    def _model(self, fixed: dict[Level, int], horizon: int) -> ExactModel:
        model = ExactModel(self.decider.problem, self.schedule.ii, horizon)
        for other, value in fixed.items():
            model.cp.add(model.objective(other) <= value)
        return model

    def _least(self, model: ExactModel) -> Run:
        """The best of the runs that take turns; the first that is decided ends them."""
        best = Run(Verdict.UNKNOWN, False, None, None)
        for configuration, work in turns(self.decider.seed, LEVEL_WORK):
            result = run(model.cp, configuration, work, self.decider.clock)
            if best.value is None or result.optimal or (result.value is not None and result.value < best.value):
                best = result
            if best.optimal or self.decider.clock.left() <= 0:
                break
        return best

    def _result(self, level: Level, value: int, bound: int) -> LevelResult:
        if level is not Level.HAND_OFFS:
            return LevelResult(level, value, bound, bound >= value)
        weight = hand_off_weight(self.decider.problem.graph)
        return LevelResult(level, value // weight, bound // weight, bound >= value, value % weight)
