"""Dependences as difference constraints: critical recurrence and longest paths, in exact arithmetic."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Arc(NamedTuple):
    """start(target) + II * distance - start(source) >= latency, for any II. Nodes are numbers from 0."""

    source: int
    target: int
    latency: int
    distance: int


@dataclass(frozen=True, slots=True)
class CriticalCycle:
    """The cycle of the greatest latency per distance: `arcs` are indices in their order around it.

    `distance` 0: the cycle closes within one iteration and no II satisfies it.
    """

    arcs: tuple[int, ...]
    latency: int
    distance: int

    @property
    def least_ii(self) -> int | None:
        """ceil(latency / distance); None if no II satisfies the cycle."""
        return -(-self.latency // self.distance) if self.distance else None


def critical_cycle(node_count: int, arcs: Sequence[Arc]) -> CriticalCycle | None:
    """The cycle that bounds II most; None if no cycle has a latency above 0.

    Maximum cycle ratio by raising: as long as a cycle is longer than its iterations at the ratio found so far, its
    own ratio is the next guess. Weights are scaled by the ratio's denominator, so all is exact.
    """
    latency, distance = 0, 1
    critical: CriticalCycle | None = None
    while True:
        weights = [distance * arc.latency - latency * arc.distance for arc in arcs]
        found = _positive_cycle(node_count, arcs, weights)
        if found is None:
            return critical
        latency = sum(arcs[index].latency for index in found)
        distance = sum(arcs[index].distance for index in found)
        critical = CriticalCycle(tuple(found), latency, distance)
        if distance == 0:
            return critical


def _positive_cycle(node_count: int, arcs: Sequence[Arc], weights: Sequence[int]) -> list[int] | None:
    """Bellman and Ford; a cycle among the last arcs that raised each node has positive weight."""
    potential = [0] * node_count
    raised_by = [-1] * node_count
    while True:
        changed = False
        for index, (source, target, _, _) in enumerate(arcs):
            reached = potential[source] + weights[index]
            if reached > potential[target]:
                potential[target] = reached
                raised_by[target] = index
                changed = True
        if not changed:
            return None
        found = _cycle_of(raised_by, arcs)
        if found is not None:
            return found


def _cycle_of(raised_by: Sequence[int], arcs: Sequence[Arc]) -> list[int] | None:
    seen_in = [-1] * len(raised_by)
    for first in range(len(raised_by)):
        node = first
        while seen_in[node] == -1 and raised_by[node] != -1:
            seen_in[node] = first
            node = arcs[raised_by[node]].source
        if seen_in[node] == first:
            cycle: list[int] = []
            end = node
            while True:
                cycle.append(raised_by[node])
                node = arcs[raised_by[node]].source
                if node == end:
                    return cycle[::-1]
        seen_in[node] = first
    return None


class Paths:
    """Longest paths at one II at which no cycle is positive (II >= the recurrence bound).

    `arcs`: (source, target, length), start(target) - start(source) >= length. `earliest`: starts that satisfy all of
    them, the least ones >= 0.
    """

    def __init__(self, node_count: int, arcs: Sequence[Arc], ii: int) -> None:
        self.ii = ii
        self.arcs = [(arc.source, arc.target, arc.latency - ii * arc.distance) for arc in arcs]
        self.earliest = [0] * node_count
        changed = True
        while changed:
            changed = False
            for source, target, length in self.arcs:
                reached = self.earliest[source] + length
                if reached > self.earliest[target]:
                    self.earliest[target] = reached
                    changed = True
        self._leaving: list[list[tuple[int, int]]] = [[] for _ in range(node_count)]
        for source, target, length in self.arcs:
            # What the arc falls short of the earliest starts: never negative, as Dijkstra's search needs.
            self._leaving[source].append((target, self.earliest[target] - self.earliest[source] - length))
        self._from: dict[int, dict[int, int]] = {}

    def longest(self, source: int) -> dict[int, int]:
        """Least start(v) - start(source) that the dependences force, by node v that a path reaches."""
        if source not in self._from:
            base = self.earliest[source]
            self._from[source] = {
                node: self.earliest[node] - base - short for node, short in self._shortfall(source).items()
            }
        return self._from[source]

    def _shortfall(self, source: int) -> dict[int, int]:
        settled: dict[int, int] = {}
        queue = [(0, source)]
        while queue:
            short, node = heapq.heappop(queue)
            if node in settled:
                continue
            settled[node] = short
            for target, extra in self._leaving[node]:
                if target not in settled:
                    heapq.heappush(queue, (short + extra, target))
        return settled
