"""What pinned starts exclude by arithmetic: chains of dependences that do not fit between them, and units that they ask
for at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from core.schedule.certificate import Certificate
from core.schedule.check_timing import crowded
from core.schedule.circle import profile
from core.schedule.index import GraphIndex
from core.schedule.paths import Arc, CriticalCycle, critical_cycle
from core.schedule.report import Family


class PinnedStarts:
    """The pinned starts of a graph as bounds: cycle 0 is one more node, before which nothing starts.

    `arcs`: the dependences, in the order of the graph. A pinned op that may wait for its unit in a queue asks for it at
    no certain time.
    """

    def __init__(self, index: GraphIndex, arcs: Sequence[Arc]) -> None:
        self._index = index
        self._pinned = {op: pin.start for op, pin in index.graph.pins.items() if pin.start is not None}
        self._dependences = len(arcs)
        self._cycle: CriticalCycle | None = None
        self._arcs: list[Arc] = []
        if not self._pinned:
            return
        zero = len(index.graph.ops)
        starts = [(index.numbers[op], start) for op, start in self._pinned.items()]
        self._arcs = [Arc(zero, number, 0, 0) for number in range(zero)]
        self._arcs += [Arc(zero, number, start, 0) for number, start in starts]
        self._arcs += [Arc(number, zero, -start, 0) for number, start in starts]
        cycle = critical_cycle(zero + 1, [*arcs, *self._arcs])
        if cycle is not None and any(number >= len(arcs) for number in cycle.arcs):
            self._cycle = cycle

    @property
    def least_ii(self) -> int | None:
        """The least II with which all chains fit between pinned starts; None if none does."""
        return 0 if self._cycle is None else self._cycle.least_ii

    def certificate(self, ii: int) -> Certificate | None:
        """Why `ii`, and any lesser II, is too small for a chain between pinned starts, if it is."""
        if self._cycle is None or self._cycle.latency <= self._cycle.distance * ii:
            return None
        return self._chain(self._cycle, ii)

    def _chain(self, cycle: CriticalCycle, ii: int) -> Certificate:
        dependences, names = self._index.graph.dependences, list(self._index.graph.ops)
        first = next(at for at, arc in enumerate(cycle.arcs) if self._source(arc) == len(names))
        around = [*cycle.arcs[first:], *cycle.arcs[:first]]
        begin, end = self._arcs[around[0] - self._dependences], self._arcs[around[-1] - self._dependences]
        head, tail = names[begin.target], names[end.source]
        ops = (head, *(dependences[arc].target for arc in around[1:-1]))
        available = -end.latency
        required = available + cycle.latency - cycle.distance * ii
        since = f"pinned to cycle {begin.latency}" if head in self._pinned else "which starts at cycle 0 or later"
        chain = f"{' -> '.join(ops)} begins with {head}, {since}"
        sentence = f"{tail} is pinned to cycle {available} and cannot start before {required}: {chain}"
        return Certificate(Family.DEPENDENCE, "pinned starts", required, available, ops, sentence)

    def _source(self, arc: int) -> int | None:
        return self._arcs[arc - self._dependences].source if arc >= self._dependences else None

    def clashes(self, ii: int) -> Iterator[Certificate]:
        """Units that pinned ops ask for at the same time at `ii`. At a lesser II they may not."""
        if not self._pinned:
            return
        ops = [op for op in map(self._index.graph.ops.__getitem__, self._pinned) if not op.queue]
        for unit, capacity in self._index.graph.machine.units.items():
            ranges = [
                (op.id, begin := self._pinned[op.id] + block.offset, begin + block.duration, block.amount)
                for op in ops
                for block in op.blocks
                if block.unit == unit
            ]
            steps = profile(((begin, end, amount) for _, begin, end, amount in ranges), ii)
            for found in islice(crowded(unit, capacity, ranges, steps, ii), 1):
                sentence = f"where they are pinned {found.message}"
                yield Certificate(Family.UNIT, unit, found.required or 0, capacity, found.ops, sentence)
