"""The least area (amount times cycles) that a set of values needs in any schedule: a lower bound on memory.

Minimise the sum of amount * (death - start) over all starts that satisfy the dependences. All constraints are
differences of two times, so the dual is a minimum-cost flow with whole numbers: solved here by successive shortest
paths, exactly, and the flow itself is the proof of the bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from core.schedule.paths import Paths


@dataclass(frozen=True, slots=True)
class AreaValue:
    """A value: it is held from the start of `node` for at least `least` cycles and until start(reader) + extra for
    each (reader, extra) of `uses`."""

    node: int
    amount: int
    least: int
    uses: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Area:
    """`total` is the least sum of amount times life; `lives` one choice of lives that attains it."""

    total: int
    lives: tuple[int, ...]


def least_area(paths: Paths, values: Sequence[AreaValue]) -> Area:
    """The least area of `values` at the II of `paths`, over all real-valued starts of any number of stages."""
    network = _Network(paths, values)
    for value in values:
        network.send(value.node, value.amount)
    return network.area(values)


class _Network:
    """Nodes are starts, and after them one death per value. An arc (x, y, length) says time(y) - time(x) >= length
    and carries flow from x to y; `time` satisfies every arc and is tight on those with flow."""

    def __init__(self, paths: Paths, values: Sequence[AreaValue]) -> None:
        self.deaths = len(paths.earliest)
        self.arcs = list(paths.arcs)
        self.time = list(paths.earliest)
        for number, value in enumerate(values):
            death = self.deaths + number
            bounds = [(value.node, death, value.least), *((reader, death, extra) for reader, extra in value.uses)]
            self.arcs += bounds
            self.time.append(max(self.time[source] + length for source, _, length in bounds))
        self.flow = [0] * len(self.arcs)
        self.demand = [value.amount for value in values]
        self.touching: list[list[int]] = [[] for _ in self.time]
        for index, (source, target, _) in enumerate(self.arcs):
            self.touching[source].append(index)
            if target != source:
                self.touching[target].append(index)

    def send(self, origin: int, amount: int) -> None:
        """Sends a value's amount from its start to deaths that still ask for some."""
        while amount:
            sink, steps = self._nearest_demand(origin)
            pushed = min([amount, self.demand[sink], *(self.flow[index] for index, back in steps if back)])
            for index, back in steps:
                self.flow[index] += -pushed if back else pushed
            self.demand[sink] -= pushed
            amount -= pushed

    def _nearest_demand(self, origin: int) -> tuple[int, list[tuple[int, bool]]]:
        """The death with demand that is nearest by slack, and the arcs that lead there (True: against the arc, along
        which flow is taken back). Moves `time` so that these arcs are tight.

        There is one as long as the origin has something to send: demands add up to what all origins have, and every
        value's own death is reachable.
        """
        settled: dict[int, int] = {}
        reached_by: dict[int, tuple[int, int, bool]] = {}
        queue: list[tuple[int, int, int, int, bool]] = [(0, origin, -1, -1, False)]
        while True:
            distance, node, before, index, back = heapq.heappop(queue)
            if node in settled:
                continue
            settled[node] = distance
            reached_by[node] = (before, index, back)
            if node >= self.deaths and self.demand[node - self.deaths]:
                for moved, at in settled.items():
                    self.time[moved] += distance - at
                return node - self.deaths, _trace(reached_by, node)
            for arc in self.touching[node]:
                source, target, length = self.arcs[arc]
                slack = self.time[target] - self.time[source] - length
                if source == node and target not in settled:
                    heapq.heappush(queue, (distance + slack, target, node, arc, False))
                elif target == node and self.flow[arc] and source not in settled:
                    heapq.heappush(queue, (distance, source, node, arc, True))

    def area(self, values: Sequence[AreaValue]) -> Area:
        total = sum(flow * length for flow, (_, _, length) in zip(self.flow, self.arcs, strict=True))
        lives = tuple(self.time[self.deaths + n] - self.time[value.node] for n, value in enumerate(values))
        return Area(total, lives)


def _trace(reached_by: dict[int, tuple[int, int, bool]], node: int) -> list[tuple[int, bool]]:
    steps: list[tuple[int, bool]] = []
    while True:
        before, index, back = reached_by[node]
        if before < 0:
            return steps
        steps.append((index, back))
        node = before
