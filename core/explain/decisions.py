"""Is an initiation interval possible when only some of a graph's named constraints hold? Asked many times, cheaply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial

from core.explain.assumptions import ANY_STEPS, Assumptions, group_counts
from core.explain.clock import Clock, Solver
from core.explain.constraints import Constraint, Topic, atoms, part_of
from core.explain.guarded import MORE_GROUPS
from core.explain.prober import Prober, fits
from core.explain.relax import relaxed
from core.explain.stages import closed_up
from core.graph.model import Graph
from core.schedule.bounds import certificates
from core.schedule.check import Judge
from core.schedule.model import Schedule
from core.solve.events import Verdict

EFFORTS = ((0.02, 600_000), (0.08, ANY_STEPS))
"""Deterministic work of CP-SAT and steps of z3, in turn: most questions are quick for one of them, about 0.1 and 0.2
seconds at first."""

PART_FROM = 3
"""Ops that must be on one group are asked about alone if there are so many."""


class Decisions:
    """What is known of one graph at one interval, for every set of its named constraints.

    A set that excludes the interval does so in every larger one; a schedule for a set is one for every smaller one.
    """

    def __init__(self, graph: Graph, ii: int, constraints: Iterable[Constraint], solver: Solver) -> None:
        self.graph = graph
        self.ii = ii
        self.constraints = tuple(constraints)
        self._solver = solver
        self.prober = Prober(ii, solver)
        self._atoms = atoms(self.constraints)
        self._excluded: list[frozenset[Constraint]] = []
        self._possible: list[frozenset[Constraint]] = []
        self._loose: dict[frozenset[Constraint], frozenset[Constraint]] = {}
        self._z3_excludes = False
        """Whether it was z3 that last found an interval excluded: of one graph it is most often the same solver."""

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

    def glance(self, kept: Iterable[Constraint], work: float, clock: Clock) -> tuple[Verdict, Schedule | None]:
        """What so much deterministic work says of these constraints, and the schedule that keeps them."""
        held = atoms(kept)
        graph = self.graph_of(held)
        verdict = Verdict.INFEASIBLE if certificates(graph, self.ii) else self.prober.search(graph, clock, work)
        self._z3_excludes = verdict is Verdict.UNKNOWN
        if verdict is Verdict.INFEASIBLE:
            self._exclude(held)
        return verdict, self.prober.schedules[-1] if verdict is Verdict.FEASIBLE else None

    def excludes_in_part(self, kept: Iterable[Constraint], clock: Clock) -> bool:
        """Whether it is proved already by what must be on one group that these constraints exclude the interval."""
        held = atoms(kept)
        return self._excludes_in_part(held, self.graph_of(held), clock)

    def narrowed(self, kept: Iterable[Constraint], candidates: Iterable[Constraint]) -> list[Constraint]:
        """Of the candidates, which with `kept` exclude the interval, what is known to be enough, in their order; of
        dependences perhaps some only."""
        candidates = list(candidates)
        least = self._known(atoms([*kept, *candidates]))
        parts = (part_of(constraint, least) for constraint in candidates)
        return [part for part in parts if part is not None]

    def sharpen(self, kept: Iterable[Constraint], clock: Clock) -> None:
        """Looks for fewer of these constraints, which exclude the interval, that do: those that a short proof names."""
        held = atoms(kept)
        if held >= self._assumptions.always:
            self._z3_excludes = self._by_assumption(held, self.graph_of(held), EFFORTS[0][1], clock) is (
                Verdict.INFEASIBLE
            )

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
        left = self._atoms - atoms(constraints)
        parts = (part_of(constraint, left) for constraint in self.constraints)
        return [part for part in parts if part is not None]

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
        known = self.prober.at_once(graph)
        if known is not Verdict.UNKNOWN:
            return known
        if self._excludes_in_part(held, graph, clock):
            return Verdict.INFEASIBLE
        fewer = self._with_fewer_groups(graph)
        if not held >= self._assumptions.always:
            verdict = self._by_search(graph, fewer, EFFORTS[0][0], clock)
            if verdict is Verdict.UNKNOWN:
                verdict = self._alone(fewer, clock)
                verdict = self._alone(graph, clock) if verdict is Verdict.INFEASIBLE and fewer != graph else verdict
            return verdict
        for work, steps in EFFORTS:
            ways = [
                partial(self._by_search, graph, fewer, work, clock),
                partial(self._by_assumption, held, graph, steps, clock),
            ]
            for by_assumption in (self._z3_excludes, not self._z3_excludes):
                verdict = ways[by_assumption]()
                if verdict is Verdict.INFEASIBLE:
                    self._z3_excludes = by_assumption
                if verdict is not Verdict.UNKNOWN:
                    return verdict
        return self._alone(graph, clock)

    def _by_search(self, graph: Graph, fewer: Graph, work: float, clock: Clock) -> Verdict:
        """What CP-SAT says within so much work; `fewer`: the graph with not so many groups."""
        verdict = self.prober.search(fewer, clock, work)
        return self._alone(graph, clock) if verdict is Verdict.INFEASIBLE and fewer != graph else verdict

    def _excludes_in_part(self, held: frozenset[Constraint], graph: Graph, clock: Clock) -> bool:
        """Whether ops that must be on one group have no schedule even without all others, which is quick to ask."""
        from core.solve.problem import clusters, make_problem

        ops = max(clusters(make_problem(graph), self.ii) or [()], key=len)
        if not PART_FROM <= len(ops) < len(graph.ops):
            return False
        part = _part(graph, frozenset(ops))
        excluded = certificates(part, self.ii) or (
            self._solver.glance(part, self.ii, EFFORTS[0][0], clock)[0] is Verdict.INFEASIBLE
        )
        if excluded:
            self._exclude(frozenset(c for c in held if all(d in part.dependences for d in c.dependences)))
        return bool(excluded)

    def _by_assumption(self, held: frozenset[Constraint], graph: Graph, steps: int, clock: Clock) -> Verdict:
        limit_s = min(self._solver.call_limit_s, clock.left())
        if not limit_s:
            return Verdict.UNKNOWN
        opinion = self._assumptions.ask(held, graph, limit_s, clock.stopped, steps)
        if opinion.schedule is not None:
            judge = Judge(graph)
            for schedule in (opinion.schedule, *closed_up(graph, opinion.schedule)):
                if fits(judge, graph, schedule):
                    self.prober.schedules.append(schedule)
                    return Verdict.FEASIBLE
        if opinion.verdict is not Verdict.INFEASIBLE:
            # A schedule that is illegal by what it does not count: others may be legal.
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
        if opinion.verdict is Verdict.UNKNOWN:
            return self.prober.search(graph, clock)
        if opinion.schedule is not None:
            self.prober.schedules.append(opinion.schedule)
        return opinion.verdict

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


def _part(graph: Graph, ops: frozenset[str]) -> Graph:
    """The graph without all other ops: what it excludes, the graph does."""
    return replace(
        graph,
        ops={name: op for name, op in graph.ops.items() if name in ops},
        dependences=tuple(d for d in graph.dependences if d.source in ops and d.target in ops),
        pins={name: pin for name, pin in graph.pins.items() if name in ops},
    )
