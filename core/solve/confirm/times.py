"""Times in difference logic: two systems of integers, slots and stages, and what they say of cycles together.

A moment is cycle II * stage + slot with 0 <= slot < II and any stage. Every atom compares a difference of two slots or
of two stages with a constant, so both systems stay in difference logic, and no number of stages need be assumed;
sums of cycles are taken apart into cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.graph.model import Graph
from core.solve.confirm.clauses import FALSE, TRUE, Clauses, Conjunction


@dataclass(frozen=True, slots=True)
class Moment:
    """The names of the integers that make up an op's start, or its start on the unit."""

    stage: str
    slot: str

    def cycle(self, values: Mapping[str, int], ii: int) -> int:
        """The cycle in a model of the system; a value that is not there may be anything."""
        return ii * values.get(self.stage, 0) + values.get(self.slot, 0)


class Times:
    """`start[op]`, and `unit_start[op]` up to `queue` cycles later (the same moment where there is no queue).

    With `stages`, all starts lie in [0, stages * II). Otherwise, and without pinned starts, one op starts at 0 and any
    other before or after it: all rules depend on differences of starts only.
    """

    def __init__(self, clauses: Clauses, graph: Graph, ii: int, stages: int | None) -> None:
        self._clauses = clauses
        self.ii = ii
        self.start: dict[str, Moment] = {}
        self.unit_start: dict[str, Moment] = {}
        pinned = {op: pin.start for op, pin in graph.pins.items() if pin.start is not None}
        bounded = bool(pinned) or stages is not None
        if not bounded:
            pinned = dict.fromkeys(_most_dependent(graph), 0)
        for number, (name, op) in enumerate(graph.ops.items()):
            start = self._moment(f"t{number}")
            self.start[name] = self.unit_start[name] = start
            if bounded:
                clauses.within(start.stage, 0, None if stages is None else stages - 1)
            if name in pinned:
                stage, slot = divmod(pinned[name], ii)
                clauses.within(start.stage, stage, stage)
                clauses.within(start.slot, slot, slot)
            if op.queue:
                self.unit_start[name] = self._moment(f"u{number}")
                self.require(start, self.unit_start[name], 0, 0)
                self.require(self.unit_start[name], start, op.queue, 0)

    def _moment(self, name: str) -> Moment:
        return Moment(self._clauses.integer(f"{name}stage"), self._clauses.integer(f"{name}slot", 0, self.ii - 1))

    def slots_apart(self, one: Moment, other: Moment, cycles: int) -> int:
        """Literal: slot(other) - slot(one) >= cycles."""
        if cycles <= (0 if one == other else 1 - self.ii):
            return TRUE
        if one == other or cycles >= self.ii:
            return FALSE
        return self._clauses.difference(one.slot, other.slot, cycles)

    def stages_apart(self, one: Moment, other: Moment, stages: int) -> int:
        """Literal: stage(other) - stage(one) >= stages."""
        if one == other:
            return TRUE if stages <= 0 else FALSE
        return self._clauses.difference(one.stage, other.stage, stages)

    def require(self, one: Moment, other: Moment, offset: int, cycles: int, when: Conjunction = ()) -> None:
        """`other` + offset is at least `cycles` after `one`, where all of `when` hold."""
        periods, rest = divmod(cycles - offset, self.ii)
        for more, slots in enumerate((self.ii, rest, rest - self.ii)):
            later = self.stages_apart(one, other, periods + more)
            self._clauses.implies(when, later, self.slots_apart(one, other, slots))

    def exceeds(self, one: Moment, other: Moment, offset: int, cycles: int) -> Iterator[Conjunction]:
        """The cases in which `other` + offset is more than `cycles` after `one`."""
        periods, rest = divmod(cycles + 1 - offset, self.ii)
        for more, slots in enumerate((rest, rest - self.ii, -self.ii)):
            yield self.stages_apart(one, other, periods + more), self.slots_apart(one, other, slots)

    def copies(self, begin: Moment, end: Moment, offset: int, anchor: Moment, count: int) -> Iterator[Conjunction]:
        """The cases in which at least `count` > 0 iterations' [begin, end + offset) cover the anchor's slot.

        Their number is floor((end + offset - 1 - anchor) / II) - floor((begin - 1 - anchor) / II), which is
        stage(end) - stage(begin) + floor((slot(end) - slot(anchor) + offset - 1) / II)
        + (1 if slot(begin) <= slot(anchor)).
        """
        least, most = (offset - self.ii) // self.ii, (offset + self.ii - 2) // self.ii
        begun = self.slots_apart(begin, anchor, 0)
        for periods in range(least, most + 1):
            ends_late = self.slots_apart(anchor, end, periods * self.ii - offset + 1)
            yield ends_late, self.stages_apart(begin, end, count - periods)
            yield ends_late, begun, self.stages_apart(begin, end, count - periods - 1)

    def covers(self, begin: Moment, shift: int, cycles: int, anchor: Moment) -> Iterator[Conjunction]:
        """The cases in which [begin + shift, begin + shift + cycles), cycles < II, covers the anchor's slot."""
        for first in self._shifts(shift):
            yield self.slots_apart(begin, anchor, first), -self.slots_apart(begin, anchor, first + cycles)

    def keep_apart(
        self, one: Moment, cycles: int, other: Moment, other_cycles: int, shift: int = 0, when: Conjunction = ()
    ) -> None:
        """[one, one + cycles) and [other + shift, other + shift + other_cycles) share no slot, where all of `when`
        hold. Both ranges have at least one cycle."""
        if cycles + other_cycles > self.ii:
            self._clauses.implies(when)
            return
        for middle in self._shifts(-shift):
            before = -self.slots_apart(one, other, middle - other_cycles + 1)
            self._clauses.implies(when, before, self.slots_apart(one, other, middle + cycles))

    def _shifts(self, shift: int) -> range:
        """`shift` plus multiples of II: all that a range of up to II cycles there can share with a slot difference."""
        rest = shift % self.ii
        return range(rest - 2 * self.ii, rest + 2 * self.ii, self.ii)


def _most_dependent(graph: Graph) -> list[str]:
    """The op with the most dependences, the first of several: fixed, it settles most (a load took twice as long)."""
    ends = Counter(end for d in graph.dependences for end in (d.source, d.target))
    return sorted(graph.ops, key=lambda op: -ends[op])[:1]
