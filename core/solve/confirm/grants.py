"""Register grants as decisions, and rule `registers` of what all groups are granted together."""

from __future__ import annotations

from collections.abc import Iterator

from core.graph.model import Graph, Pool
from core.solve.confirm.clauses import Clauses, Term
from core.solve.confirm.groups import Groups
from core.solve.confirm.packing import Packing

WARP = 32
VARIABLE_LATENCY_LEAST = 24


class Grants:
    """`levels[group][k]`: the literal that the group is granted more than k granules; none if it is not used.

    A granule is `granularity` registers per thread. `most` is the largest grant there can be, in registers, or one
    that holds `most_live` registers beside the overhead, if that is smaller: more is of no use.
    """

    def __init__(self, clauses: Clauses, graph: Graph, groups: Groups, most_live: int) -> None:
        self._clauses = clauses
        self._groups = groups
        file = graph.machine.registers
        self._granularity = file.granularity
        possible = file.max_per_thread // file.granularity
        useful = self._granules_for(max(VARIABLE_LATENCY_LEAST, file.overhead + most_live))
        self._granules = min(possible, useful)
        self.most = self._granules * file.granularity
        self.levels: list[list[int]] = []
        for group in groups.all:
            least = VARIABLE_LATENCY_LEAST if group.kind.variable_latency else file.overhead
            forced = self._granules_for(least)
            if forced > possible:
                clauses.either(-group.used)
            levels = [group.used] * min(forced, self._granules)
            while len(levels) < self._granules:
                level = clauses.fresh()
                clauses.implies((level,), levels[-1] if levels else group.used)
                levels.append(level)
            self.levels.append(levels)

    def withheld(self, op: str) -> Iterator[Term]:
        """Terms whose sum is at least the registers by which the grant of the op's group falls short of `most`."""
        on = self._groups.on[op]
        for granule in range(self._granules):
            withheld = self._clauses.fresh()
            for i, here in on.items():
                self._clauses.implies((here,), self.levels[i][granule], withheld)
            yield withheld, self._granularity

    def _granules_for(self, registers: int) -> int:
        return -(-registers // self._granularity)


def add_pool(clauses: Clauses, graph: Graph, groups: Groups, grants: Grants) -> Packing | None:
    """The grants of all used groups fit the register file. With pool `warpgroup`: how small groups are packed."""
    file = graph.machine.registers
    if file.pool is Pool.WARPGROUP:
        return Packing(clauses, graph, groups, grants.levels)
    terms: list[Term] = []
    for group, levels in zip(groups.all, grants.levels, strict=True):
        terms += [(level, WARP * group.kind.warps * file.granularity) for level in levels]
    clauses.at_most(terms, file.file_words)
    return None
