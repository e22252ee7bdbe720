"""Which warp group holds an op: rules `groups`, `variable_latency` and `role`, and pins to groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from core.graph.model import Dependence, DependenceKind, Graph, GroupKind, Op, Space
from core.solve.confirm.clauses import FALSE, TRUE, Clauses


@dataclass(frozen=True, slots=True)
class WarpGroup:
    """The `number`-th of its kind that a schedule may use; the literal `used` holds if an op is on it."""

    kind: GroupKind
    number: int
    used: int


class Groups:
    """`all` warp groups there can be; `on[op]` has a literal for each that may hold the op, by position in `all`."""

    def __init__(self, clauses: Clauses, graph: Graph) -> None:
        self._clauses = clauses
        self._graph = graph
        self._together: dict[tuple[str, str], int] = {}
        self._crossing: dict[str, int] = {}
        self.all: list[WarpGroup] = []
        for kind in graph.groups:
            holding = sum(_may_hold(kind, op) for op in graph.ops.values())
            for number in range(min(kind.count, holding)):
                self.all.append(WarpGroup(kind, number, clauses.fresh()))
        self.on: dict[str, dict[int, int]] = {}
        for name, op in graph.ops.items():
            self.on[name] = {i: clauses.fresh() for i, group in enumerate(self.all) if _may_hold(group.kind, op)}
            clauses.either(*self.on[name].values())
            clauses.at_most([(literal, 1) for literal in self.on[name].values()], 1)
        for i, group in enumerate(self.all):
            held = [on[i] for on in self.on.values() if i in on]
            clauses.implies((group.used,), *held)
            for literal in held:
                clauses.implies((literal,), group.used)
        self._number_by_first_use()
        self._keep_pins()
        self._keep_roles()

    def together(self, one: str, other: str) -> int:
        """Literal: both ops are on one group."""
        if one == other:
            return TRUE
        key = min(one, other), max(one, other)
        if key not in self._together:
            self._together[key] = self._make_together(*key)
        return self._together[key]

    def crosses(self, dependence: Dependence) -> int:
        """Literal: the dependence hands a register value to a reader on another group."""
        source = self._graph.ops[dependence.source]
        if dependence.kind is not DependenceKind.FLOW or source.result.space is not Space.REGISTERS:
            return FALSE
        return -self.together(dependence.source, dependence.target)

    def value_crosses(self, value: str) -> int:
        """Literal: the value has a reader on another group."""
        if value not in self._crossing:
            crossing = {self.crosses(d) for d in self._graph.dependences if d.source == value}
            literal = self._clauses.fresh() if crossing - {FALSE} else FALSE
            for crosses in crossing:
                self._clauses.implies((crosses,), literal)
            self._crossing[value] = literal
        return self._crossing[value]

    def _make_together(self, one: str, other: str) -> int:
        first, second = self.on[one], self.on[other]
        if not first.keys() & second.keys():
            return FALSE
        if len(first) == len(second) == 1:
            return TRUE
        same = self._clauses.fresh()
        for i in sorted(first.keys() | second.keys()):
            a, b = first.get(i, FALSE), second.get(i, FALSE)
            self._clauses.implies((a, b), same)
            self._clauses.implies((a, same), b)
            self._clauses.implies((b, same), a)
        return same

    def _number_by_first_use(self) -> None:
        """Groups of a kind differ in nothing: an op is on one only if an earlier op is on the one before."""
        for i, group in enumerate(self.all):
            if group.number:
                before: list[int] = []
                for on in self.on.values():
                    if i in on:
                        self._clauses.implies((on[i],), *before)
                        before.append(on[i - 1])

    def _keep_pins(self) -> None:
        pinned = [(op, pin.group) for op, pin in self._graph.pins.items() if pin.group is not None]
        for (one, group), (other, another) in combinations(pinned, 2):
            same = self.together(one, other)
            self._clauses.either(same if group == another else -same)

    def _keep_roles(self) -> None:
        graph = self._graph
        if graph.rules.isolate_matrix_issue:
            busy = [n for n, op in graph.ops.items() if not (op.matrix or op.asynchronous) and op.issue_cycles]
            for matrix in (n for n, op in graph.ops.items() if op.matrix):
                for name in busy:
                    self._clauses.either(-self.together(matrix, name))
        if not graph.rules.allow_hand_off:
            for dependence in graph.dependences:
                self._clauses.either(-self.crosses(dependence))


def _may_hold(kind: GroupKind, op: Op) -> bool:
    return op.variable_latency == kind.variable_latency and op.needs_warps <= kind.warps
