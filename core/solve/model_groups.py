# pyright: reportUnknownMemberType=false
"""Variables of the exact model in space: which group holds an op, which groups are used, what crosses."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from core.graph.model import Dependence, Space
from core.solve.problem import Problem

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    Condition = tuple[cp_model.BoolVarT, ...] | None
    """Literals that all hold; () is always, None is never."""


class Grouping:
    """Candidates hold ops. Ops of one cluster (`problem.clusters`) share their literals.

    Groups of a kind are numbered by their first op in the order of the text, since renaming them changes nothing.
    """

    def __init__(self, cp: cp_model.CpModel, problem: Problem, clusters: list[tuple[str, ...]]) -> None:
        self._cp = cp
        self._problem = problem
        self._cluster = {name: i for i, members in enumerate(clusters) for name in members}
        self._apart = {frozenset((self._cluster[a], self._cluster[b])) for a, b in problem.apart}
        self._same: dict[frozenset[int], Condition] = {}
        self._crosses: dict[str, Condition] = {}
        self._on: list[dict[int, cp_model.IntVar]] = []
        for members in clusters:
            allowed = set(problem.allowed[members[0]]).intersection(*(problem.allowed[m] for m in members))
            literals = {i: cp.new_bool_var(f"on:{members[0]}@{problem.candidates[i].name}") for i in sorted(allowed)}
            cp.add_exactly_one(literals.values())
            self._on.append(literals)
        self.used = [cp.new_bool_var(f"used:{candidate.name}") for candidate in problem.candidates]
        for i, used in enumerate(self.used):
            holding = [literals[i] for literals in self._on if i in literals]
            cp.add_bool_or([*holding, ~used])
            for literal in holding:
                cp.add_implication(literal, used)
            pinned = problem.candidates[i].pinned
            if pinned is not None:
                # Not all ops that must be on one group with this one may be where it is pinned.
                its_own = self.on(pinned).get(i)
                for literal in holding:
                    cp.add_bool_or([~literal] if its_own is None else [~literal, its_own])
        for kind in problem.graph.groups:
            of_kind = [self.used[i] for i, one in enumerate(problem.candidates) if one.kind == kind.kind]
            cp.add(sum(of_kind) <= kind.count)
        for pair in self._apart:
            self._keep_apart(pair)
        self._number_groups()

    def on(self, op: str) -> dict[int, cp_model.IntVar]:
        """Literals by candidate; only candidates that may hold the op."""
        return self._on[self._cluster[op]]

    def together(self, a: str, b: str) -> Condition:
        """When two ops are on one group."""
        pair = frozenset((self._cluster[a], self._cluster[b]))
        if len(pair) == 1:
            return ()
        if pair not in self._same:
            self._same[pair] = None if pair in self._apart else self._make_same(*(self._on[i] for i in sorted(pair)))
        return self._same[pair]

    def parted(self, a: str, b: str) -> Condition:
        """When two ops are on different groups."""
        return opposite(self.together(a, b))

    def crosses(self, value: str) -> Condition:
        """When a register value has a flow reader on another group."""
        if value not in self._crosses:
            self._crosses[value] = self._make_crosses(value)
        return self._crosses[value]

    def crossing(self, dependence: Dependence) -> Condition:
        """When the dependence hands a register value to another group."""
        if self._problem.graph.ops[dependence.source].result.space is not Space.REGISTERS:
            return None
        return self.parted(dependence.source, dependence.target)

    def _make_same(self, one: dict[int, cp_model.IntVar], other: dict[int, cp_model.IntVar]) -> Condition:
        if not one.keys() & other.keys():
            return None
        if len(one) == len(other) == 1:
            return ()
        same = self._cp.new_bool_var("")
        for i in sorted(one.keys() | other.keys()):
            if i in one and i in other:
                self._cp.add_bool_or([~one[i], ~other[i], same])
                self._cp.add_bool_or([~one[i], other[i], ~same])
                self._cp.add_bool_or([one[i], ~other[i], ~same])
            else:
                self._cp.add_implication(one[i] if i in one else other[i], ~same)
        return (same,)

    def _make_crosses(self, value: str) -> Condition:
        parted = {self._cluster[d.target]: self.crossing(d) for d in self._problem.readers[value]}
        if any(condition == () for condition in parted.values()):
            return ()
        literals = [condition[0] for condition in parted.values() if condition is not None]
        if not literals:
            return None
        if len(literals) == 1:
            return (literals[0],)
        crosses = self._cp.new_bool_var(f"crosses:{value}")
        self._cp.add_bool_or([*literals, ~crosses])
        for literal in literals:
            self._cp.add_implication(literal, crosses)
        return (crosses,)

    def _keep_apart(self, pair: frozenset[int]) -> None:
        if len(pair) == 1:
            self._cp.add_bool_or([])
            return
        one, other = (self._on[i] for i in pair)
        for i in one.keys() & other.keys():
            self._cp.add_bool_or([~one[i], ~other[i]])

    def _number_groups(self) -> None:
        """Of two like groups the second is used only if the first is, and by later ops."""
        problem = self._problem
        if problem.anchored:
            return
        for i, (one, other) in enumerate(pairwise(problem.candidates)):
            if one.kind != other.kind or one.pinned or other.pinned:
                continue
            for k, literals in enumerate(self._on):
                if i + 1 in literals:
                    before = [earlier[i] for earlier in self._on[:k] if i in earlier]
                    self._cp.add_bool_or([*before, ~literals[i + 1]])


def opposite(condition: Condition) -> Condition:
    """When the condition, of at most one literal, does not hold."""
    if condition is None:
        return ()
    if not condition:
        return None
    (literal,) = condition
    return (~literal,)
