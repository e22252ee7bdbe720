"""Is an initiation interval possible when only some of a graph's named constraints hold? Asked many times, cheaply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from core.explain.assumptions import Assumptions, group_counts
from core.explain.clock import Clock, Solver
from core.explain.constraints import Constraint, Topic, atoms
from core.explain.guarded import MORE_GROUPS
from core.explain.prober import Prober, fits
from core.explain.relax import relaxed
from core.explain.stages import closed_up
from core.graph.model import Graph
from core.schedule.bounds import certificates
from core.schedule.check import Judge
from core.solve.events import Verdict


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
        known = self.prober.at_once(graph)
        if known is not Verdict.UNKNOWN:
            return known
        likely = False
        if held >= self._assumptions.always:
            verdict, likely = self._by_assumption(held, graph, clock)
            if verdict is not Verdict.UNKNOWN:
                return verdict
        fewer = self._with_fewer_groups(graph)
        # CP-SAT is quicker to find a schedule, z3 to find that there is none.
        verdict = self.prober.search(fewer, clock) if likely else self._alone(fewer, clock)
        return self._alone(graph, clock) if verdict is Verdict.INFEASIBLE and fewer != graph else verdict

    def _by_assumption(self, held: frozenset[Constraint], graph: Graph, clock: Clock) -> tuple[Verdict, bool]:
        """The verdict, and whether z3 has a schedule that is illegal by what it does not count: others may be legal."""
        limit_s = min(self._solver.call_limit_s, clock.left())
        if not limit_s:
            return Verdict.UNKNOWN, False
        opinion = self._assumptions.ask(held, graph, limit_s, clock.stopped)
        if opinion.schedule is not None:
            judge = Judge(graph)
            for schedule in (opinion.schedule, *closed_up(graph, opinion.schedule)):
                if fits(judge, graph, schedule):
                    self.prober.schedules.append(schedule)
                    return Verdict.FEASIBLE, False
        if opinion.verdict is not Verdict.INFEASIBLE:
            return Verdict.UNKNOWN, opinion.verdict is Verdict.FEASIBLE
        counts, core = group_counts(self._atoms), opinion.core | self._assumptions.always
        self._exclude(core | counts)
        self._loose[core | counts] = counts - core
        if counts <= held:
            return Verdict.INFEASIBLE, False
        # With any number of groups: most likely too, but that is another question.
        kept = core | (counts & held)
        if self._alone(self.graph_of(kept), clock) is Verdict.INFEASIBLE:
            self._exclude(kept)
            return Verdict.INFEASIBLE, False
        return Verdict.UNKNOWN, False

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
