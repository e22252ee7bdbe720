"""Cores: minimal sets of named constraints that exclude an interval, several of them, the most different first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.explain.chains import chains
from core.explain.clock import Clock
from core.explain.constraints import Constraint, Topic, atoms, part_of
from core.explain.decisions import Decisions
from core.explain.minimal import minimal_subset
from core.schedule.bounds import certificates
from core.schedule.report import Family
from core.solve.events import Verdict

SINGLY = 2
"""More units than these are left out by halves."""

MANY = 6
"""Of more constraints a short proof may name fewer."""


@dataclass(frozen=True, slots=True)
class Found:
    """A core. `minimal`: each of its constraints was shown to be needed. `refined`: so was each of its dependences."""

    constraints: tuple[Constraint, ...]
    minimal: bool
    refined: bool = False


class Cores:
    """Finds cores of one question. What is asked must be known to be impossible."""

    def __init__(self, decisions: Decisions, clock: Clock) -> None:
        self._decisions = decisions
        self._clock = clock

    def find(self, most: int) -> Iterator[Found]:
        """Up to `most` different cores, none a part of another: first those that arithmetic shows, then others that
        share nothing with those before, then any others. Fewer may be all there are, or all that the clock leaves time
        for."""
        seen: list[frozenset[Constraint]] = []
        for core in self._different():
            found = atoms(core.constraints)
            if not any(found <= other or other <= found for other in seen):
                seen.append(found)
                yield core
            if len(seen) == most or not self._clock.left():
                return

    def _different(self) -> Iterator[Found]:
        found: list[Found] = []
        for seed in self._arithmetic():
            found.append(self._shrunk(seed))
            yield found[-1]
        if not found:
            found.append(self._shrunk(self._decisions.constraints))
            yield found[-1]
        while self._excludes(rest := self._decisions.without(c for core in found for c in core.constraints)):
            found.append(self._shrunk(rest))
            yield found[-1]
        for core in tuple(found):
            for constraint in core.constraints:
                rest = self._decisions.without([constraint])
                if self._excludes(rest):
                    yield self._shrunk(rest)

    def only(self, core: Found) -> bool | None:
        """Whether there is no other core than this minimal one: each of its constraints, left out, makes what is asked
        possible. None: not known."""
        verdicts = [self._decisions.verdict(self._decisions.without([c]), self._clock) for c in core.constraints]
        if Verdict.INFEASIBLE in verdicts:
            return False
        return None if Verdict.UNKNOWN in verdicts else True

    def refined(self, core: Found) -> Found:
        """The core with only those dependences that it needs, put together in chains; where the clock ends that, with
        fewer than before, as one constraint."""
        whole = next((c for c in core.constraints if c.topic is Topic.DEPENDENCES), None)
        if whole is None:
            return replace(core, refined=True)
        kept = [c for c in core.constraints if c is not whole]
        # What is quick to ask about excludes with few dependences: those are most likely enough without it too.
        asked = [*kept, *(c for c in self._decisions.quickly if c not in kept)]
        needed = self._least(asked, whole.atoms)
        if not self._excludes([*kept, *needed]):
            needed = self._least(kept, whole.atoms)
        dependences = tuple(atom.dependences[0] for atom in needed)
        minimal = core.minimal and all(self._needed(kept, needed, atom) for atom in needed)
        if not minimal:
            fewer = replace(whole, dependences=dependences)
            return Found((fewer, *kept), core.minimal)
        found = chains(dependences, list(self._decisions.graph.ops))
        return Found((*(replace(whole, dependences=chain.dependences) for chain in found), *kept), True, True)

    def _arithmetic(self) -> Iterator[list[Constraint]]:
        """For each rule, and each unit, by which arithmetic excludes the interval: constraints with which it does."""
        decisions = self._decisions
        rules = dict.fromkeys((c.family, c.subject) for c in certificates(decisions.graph, decisions.ii))
        units = [constraint.subject for constraint in decisions.constraints if constraint.topic is Topic.UNIT]
        told = dict.fromkeys((family, subject if subject in units else None) for family, subject in rules)

        for family, unit in told:
            yield minimal_subset([], decisions.constraints, partial(self._shown, family, unit))

    def _shown(self, family: Family, unit: str | None, kept: Sequence[Constraint]) -> bool:
        found = certificates(self._decisions.graph_of(kept), self._decisions.ii)
        return any(c.family is family and (unit is None or c.subject == unit) for c in found)

    def _shrunk(self, constraints: Sequence[Constraint]) -> Found:
        constraints = self._decisions.narrowed((), constraints)
        if len(constraints) > MANY:
            self._decisions.sharpen(constraints, self._clock)
        core = tuple(self._least((), constraints))
        return Found(core, all(self._needed((), core, constraint) for constraint in core))

    def _least(self, kept: Sequence[Constraint], candidates: Sequence[Constraint]) -> list[Constraint]:
        """A minimal part of the candidates that excludes beside `kept`, if the clock leaves time for it: those that a
        proof named, less what can still be left out, which is asked of the quickest to answer first."""
        least = self._decisions.narrowed(kept, candidates)
        slow = [c for c in least if c.topic is Topic.GROUP_COUNT or self._decisions.hard(c)]
        least = self._less(kept, least, [c for c in reversed(least) if c not in slow])
        doubtful = self._decisions.doubtful([*kept, *least])
        hard = [c for c in least if self._decisions.hard(c)]
        for left_out in ([*doubtful, *hard], doubtful):
            rest = [c for c in least if c not in left_out]
            if len(rest) < len(least) and self._excludes([*kept, *rest]):
                least = self._decisions.narrowed(kept, rest)
                break
        return self._less(kept, least, [c for c in slow if c not in hard] + hard)

    def _less(
        self, kept: Sequence[Constraint], least: Sequence[Constraint], order: Sequence[Constraint]
    ) -> list[Constraint]:
        """What is left once, in this order, all have been left out without which the rest excludes."""
        least, units = list(least), [c for c in order if c.topic is Topic.UNIT]
        if len(units) > SINGLY:
            others = [c for c in least if c not in units]
            few = minimal_subset([*kept, *others], units, self._excludes)
            least = self._decisions.narrowed(kept, [c for c in least if c in others or c in few])
        for constraint in order:
            rest = [c for c in least if part_of(constraint, c.atoms) != c]
            if len(rest) < len(least) and self._excludes([*kept, *rest]):
                least = self._decisions.narrowed(kept, rest)
        return least

    def _needed(self, kept: Sequence[Constraint], core: Sequence[Constraint], constraint: Constraint) -> bool:
        rest = [*kept, *(other for other in core if other is not constraint)]
        return self._decisions.verdict(rest, self._clock) is Verdict.FEASIBLE

    def _excludes(self, kept: Sequence[Constraint]) -> bool:
        return self._decisions.excludes(kept, self._clock)
