# pyright: reportUnknownMemberType=false
"""The lexicographic levels after II: each is taken to its best at the best values of those before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.schedule.metrics import hand_offs, length, stages, used_groups
from core.schedule.model import Schedule
from core.solve.decide import Decider
from core.solve.decompose import LARGE_FROM, SEARCHED_UP_TO
from core.solve.engine import OutOfTimeError, Run
from core.solve.events import Event, Incumbent, Level, LevelProved, LevelResult, Verdict
from core.solve.model import ExactModel
from core.solve.problem import enough_stages, hand_off_weight, least_length, make_problem, stages_within
from core.solve.robustness import slack, slower, with_grants_for
from core.solve.warm_start import begin_near

WORK_SHARE = 0.5
"""Part of the work left that one level may spend: one that needs more keeps its gap, so that the others get a turn."""

LARGE_WORK = 0.3
"""The same for large loops, where search seldom finds better."""


@dataclass(slots=True)
class Levels:
    """Takes level by level to its best at one II. `schedule` is always the best so far, accepted by the judge."""

    decider: Decider
    schedule: Schedule
    emit: Callable[[Event], None]
    _fixed: dict[Level, int] = field(default_factory=dict[Level, int])
    _grown: dict[int, Decider] = field(default_factory=dict[int, Decider])

    def run(self, levels: Sequence[Level]) -> tuple[LevelResult, ...]:
        """The results of the levels in their order; those that the budget left nothing for are not proved."""
        found: list[LevelResult] = []
        for level in levels:
            match level:
                case Level.LENGTH:
                    bound = self._minimise_length()
                case Level.ROBUSTNESS:
                    bound = self._bisect_robustness()
                case _:
                    bound = self._minimise(level)
            self._fixed[level] = self._value(level)
            if level is Level.ROBUSTNESS:
                self.schedule = with_grants_for(self.decider.problem.graph, self.schedule, self._fixed[level])
            found.append(self._result(level, self._fixed[level], bound))
            self.emit(LevelProved(found[-1], self.decider.budget.seconds()))
        return tuple(found)

    def optima(self) -> ExactModel:
        """The model of all schedules that are as good in every level. Raises OutOfTimeError."""
        return self._with_limits(self._decider(self._fixed.get(Level.ROBUSTNESS, 0)), self._fixed)

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
                judge = self._decider(self._fixed.get(Level.ROBUSTNESS, 0)).judge
                return max(judge.check(self.schedule).peaks.registers.values(), default=0)
            case Level.STAGES:
                return stages(self.schedule)
            case Level.ROBUSTNESS:
                return slack(graph, self.schedule, self._fixed.get(Level.REGISTERS))

    def _minimise(self, level: Level) -> int:
        """Asks for the best that is better than what there is; returns the proved bound."""
        value, least = self._value(level), self._least(level)
        if value <= least:
            return value
        result = self._ask(level, value - 1, minimise=True)
        if result.verdict is Verdict.INFEASIBLE:
            return value
        return max(least, least if result.bound is None else result.bound)

    def _minimise_length(self) -> int:
        """As `_minimise`, but first among schedules so short that few stages hold them, where each start has little
        room: the shortest is nearly always there."""
        low, ii = self._least(Level.LENGTH), self.schedule.ii
        limit = low + ii
        while self._value(Level.LENGTH) > low:
            limit = min(limit, self._value(Level.LENGTH) - 1)
            result = self._ask(Level.LENGTH, limit, minimise=True)
            if result.verdict is not Verdict.INFEASIBLE:
                return max(low, low if result.bound is None else result.bound)
            low, limit = limit + 1, self._value(Level.LENGTH)
        return low

    def _bisect_robustness(self) -> int:
        """Asks for schedules of the graph with its latencies grown by so many cycles; returns the proved bound."""
        low, high = self._value(Level.ROBUSTNESS), self.schedule.ii
        while low < high:
            middle = (low + high + 1) // 2
            result = self._ask(Level.ROBUSTNESS, middle)
            if result.verdict is Verdict.UNKNOWN:
                break
            if result.verdict is Verdict.INFEASIBLE:
                high = middle - 1
            else:
                low = self._value(Level.ROBUSTNESS)
        return high

    def _decider(self, robustness: int) -> Decider:
        """That of the graph with its latencies grown by so many cycles."""
        if not robustness:
            return self.decider
        if robustness not in self._grown:
            problem = make_problem(slower(self.decider.problem.graph, robustness))
            self._grown[robustness] = Decider(problem, self.decider.budget, self.decider.seed)
        return self._grown[robustness]

    def _with_limits(self, decider: Decider, limits: Mapping[Level, int]) -> ExactModel:
        """Schedules of the decider's graph that are worth at most so much in each level."""
        model = decider.model(self.schedule.ii, self._enough_stages(decider, limits))
        for level, limit in limits.items():
            if level is not Level.ROBUSTNESS:
                model.cp.add(model.objective(level, self.decider.problem.graph) <= limit)
        begin_near(model, self.schedule)
        return model

    def _ask(self, level: Level, limit: int, *, minimise: bool = False) -> Run:
        """A schedule worth at most `limit` (of ROBUSTNESS at least), or the best; kept if there is one."""
        size = len(self.decider.problem.graph.ops)
        if size > SEARCHED_UP_TO:
            return Run(Verdict.UNKNOWN)
        work = WORK_SHARE * self.decider.budget.work
        if size >= LARGE_FROM:
            work = min(work, LARGE_WORK)
        limits = self._fixed | {level: limit}
        decider = self._decider(limits.get(Level.ROBUSTNESS, 0))
        if level is Level.ROBUSTNESS and decider.arithmetic.certificates(self.schedule.ii):
            return Run(Verdict.INFEASIBLE)
        try:
            model = self._with_limits(decider, limits)
        except OutOfTimeError:
            return Run(Verdict.UNKNOWN)
        if minimise:
            model.cp.minimize(model.objective(level, self.decider.problem.graph))
        result = decider.ask(model, work)
        if result.verdict is Verdict.FEASIBLE:
            self.schedule = self._accepted(decider.schedule(model, result))
            self.emit(Incumbent(self.schedule, self.decider.budget.seconds()))
        return result

    def _accepted(self, schedule: Schedule) -> Schedule:
        """A schedule that is legal with grown latencies is so with those of the graph."""
        report = self.decider.judge.check(schedule)
        if not report.legal:
            raise RuntimeError(f"legal with longer latencies only: {report.violations[0].message}")
        return schedule

    def _least(self, level: Level) -> int:
        """A bound that needs no search."""
        match level:
            case Level.LENGTH:
                return least_length(self.decider.problem, self.schedule.ii)
            case Level.HAND_OFFS | Level.REGISTERS:
                return 0
            case _:
                return 1

    def _enough_stages(self, decider: Decider, limits: Mapping[Level, int]) -> int:
        """Stages that suffice for a schedule within the limits, if there is one.

        Closing a boundary between stages (see `enough_stages`) never costs groups, hand-offs, registers or stages,
        but it may make a schedule longer; a limit on L bounds the stages itself.
        """
        if Level.LENGTH in limits:
            return stages_within(limits[Level.LENGTH], self.schedule.ii)
        return enough_stages(decider.problem, self.schedule.ii)

    def _result(self, level: Level, value: int, bound: int) -> LevelResult:
        if level is Level.ROBUSTNESS:
            return LevelResult(level, value, bound, bound <= value)
        if level is not Level.HAND_OFFS:
            return LevelResult(level, value, bound, bound >= value)
        weight = hand_off_weight(self.decider.problem.graph)
        return LevelResult(level, value // weight, bound // weight, bound >= value, value % weight)
