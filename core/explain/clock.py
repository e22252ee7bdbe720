"""How long an explanation may take, and the exact solver within that."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.graph.model import Graph
from core.schedule.model import Schedule
from core.solve.events import SolveOptions, SolveResult, Status, Verdict

_VERDICTS = {
    Status.OPTIMAL: Verdict.FEASIBLE,
    Status.FEASIBLE: Verdict.FEASIBLE,
    Status.INFEASIBLE: Verdict.INFEASIBLE,
    Status.UNKNOWN: Verdict.UNKNOWN,
}


class Clock:
    """How long an explanation, or a part of it, may take, and the user's patience."""

    def __init__(self, limit_s: float, stopped: Callable[[], bool]) -> None:
        self._began = time.monotonic()
        self._limit_s = limit_s
        self.stopped = stopped

    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def left(self) -> float:
        """Seconds; 0 if there are none or the user wants no more."""
        return 0.0 if self.stopped() else max(0.0, self._limit_s - self.seconds())

    def part(self, limit_s: float) -> Clock:
        """A clock for the next `limit_s` seconds that does not outlast this one."""
        return Clock(min(limit_s, self.left()), self.stopped)


class Solver:
    """Questions to the exact solver, each within `call_limit_s` and what the clock has left."""

    def __init__(self, call_limit_s: float, seed: int) -> None:
        self.call_limit_s = call_limit_s
        self._seed = seed

    def ask(self, graph: Graph, ii: int, clock: Clock) -> tuple[Verdict, Schedule | None]:
        """Whether the graph has a schedule at `ii`, and if so which."""
        limit_s = min(self.call_limit_s, clock.left())
        if not limit_s:
            return Verdict.UNKNOWN, None
        result = self._solve(graph, SolveOptions(objective=(), ii=ii, limit_s=limit_s, seed=self._seed), clock)
        return _VERDICTS[result.status], result.schedule

    def glance(self, graph: Graph, ii: int, work: float, clock: Clock) -> tuple[Verdict, Schedule | None]:
        """As `ask`, within so much deterministic work, without arithmetic and second opinions."""
        from core.solve.decide import Decider
        from core.solve.engine import Budget, OutOfTimeError, run
        from core.solve.problem import enough_stages, make_problem

        limit_s = min(self.call_limit_s, clock.left())
        decider = Decider(make_problem(graph), Budget(limit_s, clock.stopped), self._seed)
        try:
            model = decider.model(ii, enough_stages(decider.problem, ii))
        except OutOfTimeError:
            return Verdict.UNKNOWN, None
        result = run(model.cp, self._seed, work, decider.budget)
        found = decider.schedule(model, result) if result.verdict is Verdict.FEASIBLE else None
        return result.verdict, found

    def least_ii(self, graph: Graph, clock: Clock, greatest: int | None = None) -> SolveResult | None:
        """The graph's least interval up to `greatest` (None: as far as a solve goes), within all that the clock has
        left; None if that is nothing."""
        limit_s = clock.left()
        if not limit_s:
            return None
        return self._solve(graph, SolveOptions(objective=(), max_ii=greatest, limit_s=limit_s, seed=self._seed), clock)

    def _solve(self, graph: Graph, options: SolveOptions, clock: Clock) -> SolveResult:
        from core.solve.solve import solve  # OR-Tools takes a while to load: arithmetic answers come before that

        return solve(graph, options, None, clock.stopped)
