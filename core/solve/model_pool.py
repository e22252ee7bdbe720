# pyright: reportUnknownMemberType=false
"""The register file in the exact model: what the grants of all groups together may take (rule `registers`)."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from core.graph.model import Pool
from core.solve.model_groups import Grouping
from core.solve.problem import WARP_GROUP, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ortools.sat.python import cp_model

THREADS_PER_WARP = 32
MOST_PER_THREAD = 255


def add_register_file(
    cp: cp_model.CpModel, problem: Problem, grouping: Grouping, grants: Sequence[cp_model.LinearExprT]
) -> Packing | None:
    """Limits the grants (of all candidates; 0 where unused); returns how small groups are packed, if they are."""
    file = problem.graph.machine.registers
    if file.pool is Pool.FLAT:
        words = [THREADS_PER_WARP * c.warps * grant for c, grant in zip(problem.candidates, grants, strict=True)]
        cp.add(sum(words) <= file.file_words)
        return None
    packing = Packing(cp, problem, grouping, grants)
    large = [i for i, candidate in enumerate(problem.candidates) if candidate.warps >= WARP_GROUP]
    weight = {i: -(-problem.candidates[i].warps // WARP_GROUP) for i in large}
    number = [weight[i] * grouping.used[i] for i in large] + packing.opened
    granted = [weight[i] * grants[i] for i in large] + packing.granted
    is_number = [
        cp.new_bool_var(f"warp_groups:{count}") for count in range(sum(weight.values()) + len(packing.opened) + 1)
    ]
    cp.add_exactly_one(is_number)
    for count, literal in enumerate(is_number):
        cp.add(sum(number) == count).only_enforce_if(literal)
        if count:
            launched = min(MOST_PER_THREAD, file.file_words // (THREADS_PER_WARP * WARP_GROUP * count))
            launched -= launched % file.granularity
            cp.add(sum(granted) <= count * launched).only_enforce_if(literal)
    return packing


class Packing:
    """Small groups in warp groups: pool `warpgroup` packs them in the order of their names, each into the warp group
    begun last if it has room, and grants all of a warp group the largest among them.

    Names are free but for those of pins, so every sequence of packs is possible in which no pack has room for the first
    of the next. `opened[k]`: there is a k-th pack; `granted[k]`: its registers per thread.
    """

    def __init__(
        self, cp: cp_model.CpModel, problem: Problem, grouping: Grouping, grants: Sequence[cp_model.LinearExprT]
    ) -> None:
        self._cp = cp
        self._candidates = problem.candidates
        self._anchored = problem.anchored
        self._small = [i for i, candidate in enumerate(problem.candidates) if candidate.warps < WARP_GROUP]
        warps = sum(problem.candidates[i].warps for i in self._small)
        packs = range(min(1, warps) if warps <= WARP_GROUP else len(self._small))
        most = problem.graph.machine.registers.max_per_thread
        self.opened = [cp.new_bool_var(f"pack:{k}") for k in packs]
        self.granted = [cp.new_int_var(0, most, f"granted:{k}") for k in packs]
        self._inside = [{i: cp.new_bool_var("") for i in self._small} for _ in packs]
        self._first = [{i: cp.new_bool_var("") for i in self._small} for _ in packs]
        for i in self._small:
            cp.add(sum(inside[i] for inside in self._inside) == grouping.used[i])
        for k in packs:
            self._fill(k, grants)
        self._keep_pinned_names_in_order()

    def _fill(self, k: int, grants: Sequence[cp_model.LinearExprT]) -> None:
        cp, inside, first = self._cp, self._inside[k], self._first[k]
        cp.add(self._warps(k) <= WARP_GROUP)
        cp.add(sum(first.values()) == self.opened[k])
        if k:
            cp.add_implication(self.opened[k], self.opened[k - 1])
        for i in self._small:
            cp.add_implication(inside[i], self.opened[k])
            cp.add_implication(first[i], inside[i])
            cp.add(self.granted[k] >= grants[i]).only_enforce_if(inside[i])
            if k:
                full = self._warps(k - 1) + self._candidates[i].warps > WARP_GROUP
                cp.add(full).only_enforce_if(first[i])

    def _warps(self, k: int) -> cp_model.LinearExprT:
        return sum(self._candidates[i].warps * literal for i, literal in self._inside[k].items())

    def _keep_pinned_names_in_order(self) -> None:
        pinned = [i for i in self._small if self._named(i)]
        for early, late in permutations(pinned, 2):
            if self._candidates[early].name < self._candidates[late].name:
                for k, first in enumerate(self._first):
                    self._cp.add_implication(first[late], ~self._inside[k][early])
                    for after in self._inside[k + 1 :]:
                        self._cp.add_implication(self._inside[k][late], ~after[early])

    def _named(self, candidate: int) -> bool:
        """Whether the group's name is given."""
        return self._anchored or self._candidates[candidate].pinned is not None

    def names(self, value: Callable[[cp_model.LinearExprT], int]) -> dict[int, str]:
        """Names of the small groups in a solution that sort as its packs want them: their own wherever those do."""
        order: list[int] = []
        for inside, first in zip(self._inside, self._first, strict=True):
            members = [i for i in self._small if value(inside[i])]
            order += sorted(members, key=lambda i: (not value(first[i]), self._candidates[i].name))
        own = {i: self._candidates[i].name for i in order}
        if len(self.opened) <= 1 or list(own.values()) == sorted(own.values()):
            return own
        names: dict[int, str] = {}
        before = ""
        for number, i in enumerate(order):
            if self._named(i):
                before = names[i] = self._candidates[i].name
            else:
                names[i] = f"{before} {number:03} {self._candidates[i].kind}"
        return names
