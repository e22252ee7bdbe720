"""Questions about many graphs at one interval: arithmetic, then schedules found before, then CP-SAT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from core.explain.clock import Clock, Solver
from core.graph.model import Graph
from core.schedule.bounds import certificates
from core.schedule.check import Judge
from core.schedule.check_registers import VARIABLE_LATENCY_LEAST_GRANT
from core.schedule.model import Schedule
from core.solve.events import Verdict


@dataclass(slots=True)
class Prober:
    """`schedules`: those found so far, of whatever graph; all are at interval `ii`."""

    ii: int
    solver: Solver
    schedules: list[Schedule] = field(default_factory=list[Schedule])

    def at_once(self, graph: Graph) -> Verdict:
        """What arithmetic or a known schedule says; UNKNOWN: nothing."""
        if certificates(graph, self.ii):
            return Verdict.INFEASIBLE
        judge = Judge(graph)
        fitting = any(fits(judge, graph, schedule) for schedule in reversed(self.schedules))
        return Verdict.FEASIBLE if fitting else Verdict.UNKNOWN

    def search(self, graph: Graph, clock: Clock, work: float | None = None) -> Verdict:
        """What CP-SAT says, within so much work or all that a call may take."""
        if work is None:
            verdict, schedule = self.solver.ask(graph, self.ii, clock)
        else:
            verdict, schedule = self.solver.glance(graph, self.ii, work, clock)
        if schedule is not None:
            self.schedules.append(schedule)
        return verdict

    def verdict(self, graph: Graph, clock: Clock) -> Verdict:
        """Whether the graph has a schedule; UNKNOWN: not decided within the limits."""
        known = self.at_once(graph)
        return self.search(graph, clock) if known is Verdict.UNKNOWN else known

    def boundary(
        self, graph_at: Callable[[int], Graph], feasible: int, infeasible: int, clock: Clock
    ) -> tuple[int, int]:
        """Between a value at which the graph has a schedule and one, above or below, at which it has none, the last
        and the first such; all between two values of one kind are of that kind. They are neighbours unless the clock
        ran out."""
        first = True
        while abs(infeasible - feasible) > 1:
            feasible, infeasible = self._at_once_between(graph_at, feasible, infeasible)
            if abs(infeasible - feasible) <= 1:
                break
            # Arithmetic is most often exact.
            step = 1 if infeasible > feasible else -1
            probe = infeasible - step if first else (feasible + infeasible) // 2
            first = False
            verdict = self.search(graph_at(probe), clock)
            if verdict is Verdict.UNKNOWN:
                break
            if verdict is Verdict.FEASIBLE:
                feasible = probe
            else:
                infeasible = probe
        return feasible, infeasible

    def _at_once_between(self, graph_at: Callable[[int], Graph], feasible: int, infeasible: int) -> tuple[int, int]:
        """Both moved as far as `at_once` knows."""
        unknown = feasible
        while abs(infeasible - unknown) > 1:
            middle = (infeasible + unknown) // 2
            if certificates(graph_at(middle), self.ii):
                infeasible = middle
            else:
                unknown = middle
        unknown = infeasible
        while abs(unknown - feasible) > 1:
            middle = (unknown + feasible) // 2
            if self.at_once(graph_at(middle)) is Verdict.FEASIBLE:
                feasible = middle
            else:
                unknown = middle
        return feasible, infeasible


def fits(judge: Judge, graph: Graph, schedule: Schedule) -> bool:
    """Whether a schedule made for another graph is legal in this one, once its groups are granted what they need."""
    return judge.check(granted(judge, graph, schedule)).legal


def granted(judge: Judge, graph: Graph, schedule: Schedule) -> Schedule:
    """The schedule with the least grants that this graph asks for."""
    peaks = judge.check(schedule).peaks.registers
    granularity = graph.machine.registers.granularity
    groups = {}
    for name, group in schedule.groups.items():
        least = VARIABLE_LATENCY_LEAST_GRANT if graph.group_kind(group.kind).variable_latency else 0
        groups[name] = replace(group, grant=-(-max(peaks.get(name, 0), least) // granularity) * granularity)
    return replace(schedule, groups=groups)
