"""Live ranges of values, and what they hold: copies at a slot, or the depth of a ring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.graph.model import Dependence, DependenceKind, Graph, Space
from core.solve.confirm.clauses import FALSE, TRUE, Clauses, Conjunction, Term
from core.solve.confirm.groups import Groups
from core.solve.confirm.times import Moment, Times


@dataclass(frozen=True, slots=True)
class LiveRange:
    """[begin, end + offset), where all of `when` hold."""

    begin: Moment
    end: Moment
    offset: int
    when: Conjunction = ()


class LiveRanges:
    """Ranges by value. Copies and depths beyond `counted[value]` go uncounted, so that small values stay cheap: a
    schedule in which no value has more is judged exactly, and if there is no schedule with less counted, there is none.
    """

    def __init__(
        self, clauses: Clauses, graph: Graph, times: Times, groups: Groups, counted: Mapping[str, int]
    ) -> None:
        self._clauses = clauses
        self._graph = graph
        self._times = times
        self._groups = groups
        self._counted = counted
        self.readers: dict[str, list[Dependence]] = {name: [] for name in graph.ops}
        for dependence in graph.dependences:
            if dependence.kind is DependenceKind.FLOW:
                self.readers[dependence.source].append(dependence)

    def most_registers(self) -> int:
        """No fewer registers per thread than live values of one group can take, as far as they are counted."""
        return sum(
            op.result.amount * self._counted[value] * (1 + len(self.readers[value]))
            for value, op in self._graph.ops.items()
            if op.result.space is Space.REGISTERS
        )

    def anywhere(self, value: str) -> list[LiveRange]:
        """To each reader on any group: what a value in shared or tensor memory lives through."""
        found = [self._to_reader(d, ()) for d in self.readers[value]]
        return found or [self._to_completion(value, 0, ())]

    def at_home(self, value: str) -> list[LiveRange]:
        """To each reader on the value's own group, and until it is handed off if it crosses."""
        crosses = self._groups.value_crosses(value)
        found = [self._to_reader(d, (-self._groups.crosses(d),)) for d in self.readers[value]]
        if not found:
            return [self._to_completion(value, 0, ())]
        return [*found, self._to_completion(value, self._graph.ops[value].hand_off_cycles, (crosses,))]

    def handed_off(self, value: str) -> list[LiveRange]:
        """To each reader on another group: what a hand-off buffer lives through."""
        return [self._to_reader(d, (self._groups.crosses(d),)) for d in self.readers[value]]

    def at_reader(self, dependence: Dependence) -> LiveRange:
        """The copy that a reader on another group holds."""
        reader = dependence.target
        begin, end = self._times.start[reader], self._times.unit_start[reader]
        return LiveRange(begin, end, dependence.release, (self._groups.crosses(dependence),))

    def copies(self, value: str, ranges: Sequence[LiveRange], anchor: str, room: int) -> Iterator[Term]:
        """Terms whose sum is at least the value's amount times its copies at the anchor's slot, no more than `room`."""
        amount, copy = self._graph.ops[value].result.amount, TRUE
        for count in range(1, self._counted[value] + 1):
            cases = [
                (*live.when, *case)
                for live in ranges
                for case in self._times.copies(live.begin, live.end, live.offset, self._times.start[anchor], count)
            ]
            copy = self._one_more(copy, cases, count * amount <= room)
            if copy == FALSE:
                return
            yield copy, amount

    def depths(self, value: str, ranges: Sequence[LiveRange], amount: int, first: int, room: int) -> Iterator[Term]:
        """Terms whose sum is at least the size of the value's ring, of slots of `amount`, no more than `room`. The
        literal `first` says that there is one at all."""
        yield first, amount
        depth = first
        for count in range(1, self._counted[value]):
            cases = [
                (*live.when, *case)
                for live in ranges
                for case in self._times.exceeds(live.begin, live.end, live.offset, count * self._times.ii)
            ]
            depth = self._one_more(depth, cases, (count + 1) * amount <= room)
            if depth == FALSE:
                return
            yield depth, amount

    def _one_more(self, before: int, cases: Sequence[Conjunction], possible: bool) -> int:
        """A literal that holds in all `cases`, and only where `before` does; FALSE if it is not possible or none can
        occur."""
        occurring = [case for case in cases if FALSE not in case]
        literal = self._clauses.fresh() if occurring and possible else FALSE
        if literal != FALSE:
            self._clauses.implies((literal,), before)
        for case in occurring:
            self._clauses.implies(case, literal)
        return literal

    def _to_reader(self, dependence: Dependence, when: Conjunction) -> LiveRange:
        end = self._times.unit_start[dependence.target]
        offset = self._times.ii * dependence.distance + dependence.release
        return LiveRange(self._times.start[dependence.source], end, offset, when)

    def _to_completion(self, value: str, more: int, when: Conjunction) -> LiveRange:
        offset = self._graph.ops[value].latency + more
        return LiveRange(self._times.start[value], self._times.unit_start[value], offset, when)
