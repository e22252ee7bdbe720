"""Pool `warpgroup`: small groups packed into warp groups of four warps, and what a launch of so many gets.

The format packs small groups in the order of their names, each into the warp group begun last if it has room. Names are
free but for those of pins, so any sequence of packs may come out in which no pack has room for the first of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from core.graph.model import Graph
from core.solve.confirm.clauses import FALSE, Clauses, Term
from core.solve.confirm.groups import Groups

WARP_GROUP = 4
THREADS = 128
ADDRESSABLE = 255


class Packing:
    """`inside[k][group]`, `first[k][group]`: the literals that a small group is in pack k, and is the first there."""

    def __init__(self, clauses: Clauses, graph: Graph, groups: Groups, levels: Sequence[Sequence[int]]) -> None:
        self._clauses = clauses
        self._graph = graph
        self._groups = groups
        self._levels = levels
        self._warps = {i: g.kind.warps for i, g in enumerate(groups.all) if g.kind.warps < WARP_GROUP}
        packs = range(len(self._warps))
        self.inside = [{i: clauses.fresh() for i in self._warps} for _ in packs]
        self.first = [{i: clauses.fresh() for i in self._warps} for _ in packs]
        self._opened = [clauses.fresh() for _ in packs]
        for i in self._warps:
            used = groups.all[i].used
            clauses.implies((used,), *(inside[i] for inside in self.inside))
            clauses.at_most([(inside[i], 1) for inside in self.inside], 1)
            for inside in self.inside:
                clauses.implies((inside[i],), used)
        for pack in packs:
            self._fill(pack)
        self._keep_pinned_names_in_order()
        self._limit()

    def _fill(self, pack: int) -> None:
        clauses, inside, first, opened = self._clauses, self.inside[pack], self.first[pack], self._opened[pack]
        clauses.at_most([(inside[i], warps) for i, warps in self._warps.items()], WARP_GROUP)
        clauses.implies((opened,), *first.values())
        clauses.at_most([(literal, 1) for literal in first.values()], 1)
        for i, warps in self._warps.items():
            clauses.implies((inside[i],), opened)
            clauses.implies((first[i],), inside[i])
            if pack:
                clauses.implies((opened,), self._opened[pack - 1])
                before = [(self.inside[pack - 1][j], other) for j, other in self._warps.items()]
                clauses.at_least(before, WARP_GROUP + 1 - warps, first[i])

    def sequence(self, holds: Callable[[int], bool]) -> list[int]:
        """The small groups that are used, in the order that packs them as a model of the system does."""
        pinned = {i: name for name, op in self._pinned().items() for i, on in self._groups.on[op].items() if holds(on)}
        found: list[int] = []
        for inside, first in zip(self.inside, self.first, strict=True):
            members = [i for i in inside if holds(inside[i])]
            found += sorted(members, key=lambda i: (not holds(first[i]), pinned.get(i, "")))
        return found

    def _pinned(self) -> dict[str, str]:
        """Names that pins give to groups, each with the first op pinned there, in the order of the names."""
        pinned: dict[str, str] = {}
        for op, pin in self._graph.pins.items():
            if pin.group is not None:
                pinned.setdefault(pin.group, op)
        return dict(sorted(pinned.items()))

    def _keep_pinned_names_in_order(self) -> None:
        for (_, early), (_, late) in combinations(self._pinned().items(), 2):
            for pack, inside in enumerate(self.inside):
                held, led = self._holding(late, inside), self._holding(late, self.first[pack])
                self._clauses.implies((led, self._holding(early, inside)))
                for after in self.inside[pack + 1 :]:
                    self._clauses.implies((held, self._holding(early, after)))

    def _holding(self, op: str, pack: dict[int, int]) -> int:
        """Literal: the op's group is in the pack (or is the first there)."""
        literal = self._clauses.fresh()
        for i, here in self._groups.on[op].items():
            self._clauses.implies((here, pack.get(i, FALSE)), literal)
        return literal

    def _limit(self) -> None:
        clauses, file = self._clauses, self._graph.machine.registers
        count = list(self._count())
        granted = list(self._granted())
        most = sum(weight for _, weight in count)
        exactly = [clauses.fresh() for _ in range(most)]
        clauses.either(*exactly)
        for number, literal in enumerate(exactly, start=1):
            clauses.at_most(count, number, literal)
            clauses.at_least(count, number, literal)
            launched = min(ADDRESSABLE, file.file_words // (THREADS * number)) // file.granularity
            clauses.at_most(granted, number * launched, literal)

    def _count(self) -> Iterator[Term]:
        """How many warp groups there are."""
        yield from ((opened, 1) for opened in self._opened)
        for i, group in enumerate(self._groups.all):
            if i not in self._warps:
                yield group.used, -(-group.kind.warps // WARP_GROUP)

    def _granted(self) -> Iterator[Term]:
        """Granules of all warp groups; a pack takes what its largest takes."""
        for i, levels in enumerate(self._levels):
            if i not in self._warps:
                warp_groups = -(-self._groups.all[i].kind.warps // WARP_GROUP)
                yield from ((level, warp_groups) for level in levels)
        for inside in self.inside:
            for granule in range(len(self._levels[0])):
                level = self._clauses.fresh()
                for i in self._warps:
                    self._clauses.implies((inside[i], self._levels[i][granule]), level)
                yield level, 1
