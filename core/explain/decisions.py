"""Is an initiation interval possible when only some of a graph's named constraints hold? Asked many times, cheaply."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from core.explain.assumptions import Assumptions, group_counts
from core.explain.constraints import Constraint, Topic, atoms
from core.explain.guarded import MORE_GROUPS
from core.explain.relax import relaxed
from core.explain.stages import closed_up
from core.graph.model import Graph
from core.schedule.bounds import certificates
from core.schedule.check import Judge
from core.schedule.check_registers import VARIABLE_LATENCY_LEAST_GRANT
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


class Decisions:
    """What is known of one graph at one interval, for every set of its named constraints.

    A set that excludes the interval does so in every larger one; a schedule for a set is one for every smaller one.
    """

    def __init__(self, graph: Graph, ii: int, constraints: Iterable[Constraint], solver: Solver) -> None:
        self.graph = graph
        self.ii = ii
        self.constraints = tuple(constraints)
        self._solver = solver
        self._atoms = atoms(self.constraints)
        self._excluded: list[frozenset[Constraint]] = []
        self._possible: list[frozenset[Constraint]] = []
        self._loose: dict[frozenset[Constraint], frozenset[Constraint]] = {}
        self._schedules: list[Schedule] = []

    def graph_of(self, kept: Iterable[Constraint]) -> Graph:
        """The graph with only these constraints."""
        return relaxed(self.graph, self._atoms - atoms(kept))

    def verdict(self, kept: Iterable[Constraint], clock: Clock) -> Verdict:
        """Whether there is a schedule that keeps these constraints; UNKNOWN: not decided within the limits."""
        held = atoms(kept)
        if any(held >= excluded for excluded in self._excluded):
            return Verdict.INFEASIBLE
        if any(held <= possible for possible in self._possible):
            return Verdict.FEASIBLE
        verdict = self._decide(held, clock)
        if verdict is Verdict.INFEASIBLE:
            self._exclude(held)
        elif verdict is Verdict.FEASIBLE:
            self._possible.append(held)
        return verdict

    def excludes(self, kept: Iterable[Constraint], clock: Clock) -> bool:
        """Whether it is proved that these constraints alone exclude the interval."""
        return self.verdict(kept, clock) is Verdict.INFEASIBLE

    def narrowed(self, kept: Sequence[Constraint]) -> list[Constraint]:
        """Of constraints that exclude the interval those which are known to be enough, in their order."""
        least = self._known(atoms(kept))
        return [constraint for constraint in kept if any(atom in least for atom in constraint.atoms)]

    def doubtful(self, kept: Sequence[Constraint]) -> list[Constraint]:
        """Numbers of groups among what is known to be enough of these, without which all is excluded too, as far as
        `MORE_GROUPS` more go."""
        loose = self._loose.get(self._known(atoms(kept)), frozenset())
        return [constraint for constraint in kept if constraint in loose]

    @property
    def quickly(self) -> list[Constraint]:
        """Constraints with which questions are answered sooner than without."""
        return [c for c in self.constraints if c.topic is Topic.GROUP_COUNT or self.hard(c)]

    def hard(self, constraint: Constraint) -> bool:
        """Whether leaving it out is a question for a solver of its own."""
        return not self._assumptions.always.isdisjoint(constraint.atoms)

    def _known(self, held: frozenset[Constraint]) -> frozenset[Constraint]:
        return min((excluded for excluded in self._excluded if held >= excluded), key=len, default=held)

    def without(self, constraints: Iterable[Constraint]) -> list[Constraint]:
        """All named constraints but these, in their order; of the dependences those that are left."""
        left_out = atoms(constraints)
        kept = [(constraint, [a for a in constraint.atoms if a not in left_out]) for constraint in self.constraints]
        return [
            constraint
            if len(left) == len(constraint.atoms)
            else replace(constraint, dependences=tuple(d for atom in left for d in atom.dependences))
            for constraint, left in kept
            if left
        ]

    def confirmed(self, kept: Iterable[Constraint], clock: Clock) -> bool:
        """Whether z3, asked about these constraints alone, excludes the interval, and so does CP-SAT or arithmetic.

        Raises RuntimeError if either has a schedule where the other excludes all.
        """
        from core.solve.confirm import confirm

        graph = self.graph_of(kept)
        limit_s = min(self._solver.call_limit_s, clock.left())
        if not limit_s:
            return False
        verdicts = [confirm(graph, self.ii, limit_s=limit_s, stopped=clock.stopped).verdict]
        verdicts.append(
            Verdict.INFEASIBLE if certificates(graph, self.ii) else self._solver.ask(graph, self.ii, clock)[0]
        )
        if Verdict.FEASIBLE in verdicts:
            topics = ", ".join(f"{c.topic.value} {c.subject}" for c in kept)
            raise RuntimeError(f"a solver has a schedule at II {self.ii} for what another excluded: {topics}")
        return verdicts == [Verdict.INFEASIBLE, Verdict.INFEASIBLE]

    def _decide(self, held: frozenset[Constraint], clock: Clock) -> Verdict:
        graph = self.graph_of(held)
        if certificates(graph, self.ii):
            return Verdict.INFEASIBLE
        judge = Judge(graph)
        if any(_fits(judge, graph, schedule) for schedule in reversed(self._schedules)):
            return Verdict.FEASIBLE
        if held >= self._assumptions.always:
            verdict = self._by_assumption(held, graph, judge, clock)
            if verdict is not Verdict.UNKNOWN:
                return verdict
        fewer = self._with_fewer_groups(graph)
        verdict = self._alone(fewer, clock)
        return self._alone(graph, clock) if verdict is Verdict.INFEASIBLE and fewer != graph else verdict

    def _by_assumption(self, held: frozenset[Constraint], graph: Graph, judge: Judge, clock: Clock) -> Verdict:
        limit_s = min(self._solver.call_limit_s, clock.left())
        if not limit_s:
            return Verdict.UNKNOWN
        opinion = self._assumptions.ask(held, graph, limit_s, clock.stopped)
        if opinion.schedule is not None:
            for schedule in (opinion.schedule, *closed_up(graph, opinion.schedule)):
                if _fits(judge, graph, schedule):
                    self._schedules.append(schedule)
                    return Verdict.FEASIBLE
        if opinion.verdict is not Verdict.INFEASIBLE:
            return Verdict.UNKNOWN
        counts, core = group_counts(self._atoms), opinion.core | self._assumptions.always
        self._exclude(core | counts)
        self._loose[core | counts] = counts - core
        if counts <= held:
            return Verdict.INFEASIBLE
        # With any number of groups: most likely too, but that is another question.
        kept = core | (counts & held)
        if self._alone(self.graph_of(kept), clock) is Verdict.INFEASIBLE:
            self._exclude(kept)
            return Verdict.INFEASIBLE
        return Verdict.UNKNOWN

    def _alone(self, graph: Graph, clock: Clock) -> Verdict:
        """What z3 says of one graph, or else CP-SAT."""
        from core.solve.confirm import confirm

        limit_s = min(self._solver.call_limit_s, clock.left())
        if not limit_s:
            return Verdict.UNKNOWN
        opinion = confirm(graph, self.ii, limit_s=limit_s, stopped=clock.stopped)
        verdict, schedule = opinion.verdict, opinion.schedule
        if verdict is Verdict.UNKNOWN:
            verdict, schedule = self._solver.ask(graph, self.ii, clock)
        if schedule is not None:
            self._schedules.append(schedule)
        return verdict

    def _exclude(self, held: frozenset[Constraint]) -> None:
        if not any(held >= excluded for excluded in self._excluded):
            self._excluded.append(held)

    @cached_property
    def _assumptions(self) -> Assumptions:
        return Assumptions(self.graph, self.ii, self.constraints)

    def _with_fewer_groups(self, graph: Graph) -> Graph:
        """A few more groups than the user's: enough for most schedules, and found much sooner."""
        few = {kind.kind: kind.count + MORE_GROUPS for kind in self.graph.groups}
        return replace(graph, groups=tuple(replace(k, count=min(k.count, few[k.kind])) for k in graph.groups))


def _fits(judge: Judge, graph: Graph, schedule: Schedule) -> bool:
    """Whether a schedule for other constraints is legal in this graph, once its groups are granted what they need."""
    peaks = judge.check(schedule).peaks.registers
    granularity = graph.machine.registers.granularity
    groups = {}
    for name, group in schedule.groups.items():
        least = VARIABLE_LATENCY_LEAST_GRANT if graph.group_kind(group.kind).variable_latency else 0
        groups[name] = replace(group, grant=-(-max(peaks.get(name, 0), least) // granularity) * granularity)
    return judge.check(replace(schedule, groups=groups)).legal
