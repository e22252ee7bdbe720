"""z3's system of one interval with a guard for each named constraint: assumed, it holds; else it is left out.

So that one solver, which keeps what it has learned, can be asked about every set of constraints. With a set of guards
the system says no more than `relaxed` does of the graph without the others: what it excludes is excluded. It may say
less (registers count only if both their limit and the dependences are assumed), so a schedule from it must be judged.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from itertools import combinations

from core.explain.constraints import Constraint, Topic, atoms, issuing_ops
from core.graph.model import Dependence, Graph, InOrderIssue, Op, Pool
from core.schedule.check_groups import keeps_group_busy
from core.solve.confirm.clauses import FALSE, TRUE, Clauses, Conjunction, Term
from core.solve.confirm.grants import Grants, add_pool
from core.solve.confirm.groups import Groups
from core.solve.confirm.live_ranges import LiveRange, LiveRanges
from core.solve.confirm.memory import add_registers, add_shared_memory, add_tensor_memory
from core.solve.confirm.system import System
from core.solve.confirm.times import Times
from core.solve.confirm.timing import add_issue, add_units

MORE_GROUPS = 2
"""Groups of each kind that there are beyond its number where that is not assumed."""

COUNTED = 3
"""Copies of a value that are counted."""

_ALWAYS = frozenset({Topic.VARIABLE_LATENCY, Topic.WARPS})
"""What the groups are built by, and what holds without a guard."""


class GuardedSystem(System):
    """`guards`: the literals by the smallest constraints; `always`: those that hold without one."""

    def __init__(self, graph: Graph, ii: int, constraints: Iterable[Constraint]) -> None:
        self._graph = graph
        self._clauses = clauses = _GuardedClauses()
        every = sorted(atoms(constraints), key=repr)
        self.always = frozenset(c for c in every if c.topic in _ALWAYS or _pins_start(graph, c))
        self.guards = {c: clauses.fresh() for c in every if c not in self.always}
        self.times = Times(clauses, graph, ii, None)
        reads = {d: self._literal(Constraint(Topic.DEPENDENCES, dependences=(d,))) for d in graph.dependences}
        bare = self._bare()
        self.groups = groups = _GuardedGroups(clauses, bare, reads)
        hand_off = self._literal(Constraint(Topic.HAND_OFF_TIME))
        live = _GuardedLiveRanges(clauses, bare, self.times, groups, reads, hand_off)
        self._add_times(reads, hand_off)
        limit = self._of(Topic.REGISTER_LIMIT)
        with clauses.under(*limit):
            grants = Grants(clauses, bare, groups, live.most_registers())
            if limit:
                add_registers(clauses, bare, groups, grants, live)
        self.packing = None
        if file := self._of(Topic.REGISTER_FILE):
            # Small groups are packed in the order of the names that pins give.
            named = self._of(Topic.PIN) if graph.machine.registers.pool is Pool.WARPGROUP else []
            with clauses.under(*file, *named):
                self.packing = add_pool(clauses, graph, groups, grants)
        if shared := self._of(Topic.SHARED_MEMORY):
            with clauses.under(*shared):
                add_shared_memory(clauses, bare, groups, live)
        if tensor := self._of(Topic.TENSOR_MEMORY):
            with clauses.under(*tensor):
                add_tensor_memory(clauses, bare, live)
        self._add_roles(reads)
        self._add_pins()
        self.text = clauses.text

    def as_held(self, held: Collection[Constraint]) -> GuardedSystem:
        """What a schedule is read by where only these are assumed: groups are packed only if all that says how is."""
        packed = all(c in held for c in self.guards if c.topic is Topic.REGISTER_FILE or c.topic is Topic.PIN)
        result = copy(self)
        result.packing = self.packing if packed else None
        return result

    def _literal(self, constraint: Constraint) -> int:
        """What says that the constraint is assumed; TRUE without a guard, or where the graph has no such one."""
        return self.guards.get(constraint, TRUE)

    def _of(self, topic: Topic) -> list[int]:
        return [literal for constraint, literal in self.guards.items() if constraint.topic is topic]

    def _bare(self) -> Graph:
        """The graph with more groups, and without what is added under guards afterwards."""
        rules = replace(self._graph.rules, isolate_matrix_issue=False, allow_hand_off=True)
        groups = tuple(replace(kind, count=kind.count + MORE_GROUPS) for kind in self._graph.groups)
        unguarded = {op: pin for op, pin in self._graph.pins.items() if Constraint(Topic.PIN, op) not in self.guards}
        return replace(self._graph, rules=rules, groups=groups, pins=unguarded)

    def _add_times(self, reads: Mapping[Dependence, int], hand_off: int) -> None:
        graph, clauses, times = self._graph, self._clauses, self.times
        for d, assumed in reads.items():
            source, target, offset = times.unit_start[d.source], times.start[d.target], times.ii * d.distance
            with clauses.under(assumed):
                times.require(source, target, offset, d.latency)
            cycles = graph.ops[d.source].hand_off_cycles
            if cycles:
                with clauses.under(assumed, hand_off):
                    times.require(source, target, offset, d.latency + cycles, (self.groups.crosses(d),))
        for constraint, assumed in self.guards.items():
            if constraint.topic is Topic.UNIT:
                with clauses.under(assumed):
                    add_units(clauses, _with_blocks_of(graph, constraint.subject), times)
            elif constraint.topic is Topic.ISSUE:
                waits = [literal for d, literal in reads.items() if d.blocking]
                weak = graph.rules.in_order_issue is InOrderIssue.WEAK
                with clauses.under(assumed, *(waits if weak else ())):
                    issuing = {op.id for op in issuing_ops(graph, constraint)}
                    add_issue(clauses, _issuing_only(graph, issuing), times, self.groups)

    def _add_roles(self, reads: Mapping[Dependence, int]) -> None:
        graph, clauses, groups = self._graph, self._clauses, self.groups
        for constraint, assumed in self.guards.items():
            if constraint.topic is Topic.GROUP_COUNT:
                count = graph.group_kind(constraint.subject).count
                for group in groups.all:
                    if group.kind.kind == constraint.subject and group.number >= count:
                        clauses.implies((assumed,), -group.used)
            elif constraint.topic is Topic.NO_HAND_OFF:
                for d, read in reads.items():
                    clauses.implies((assumed, read), -groups.crosses(d))
            elif constraint.topic is Topic.MATRIX_ROLE:
                busy = [op.id for op in graph.ops.values() if keeps_group_busy(op)]
                for matrix in (op.id for op in graph.ops.values() if op.matrix):
                    for name in busy:
                        clauses.implies((assumed,), -groups.together(matrix, name))

    def _add_pins(self) -> None:
        pinned = [(op, pin.group) for op, pin in self._graph.pins.items() if pin.group is not None]
        for (one, group), (other, another) in combinations(pinned, 2):
            both = (self._literal(Constraint(Topic.PIN, one)), self._literal(Constraint(Topic.PIN, other)))
            same = self.groups.together(one, other)
            self._clauses.implies(both, same if group == another else -same)


class _GuardedClauses(Clauses):
    """Clauses that hold only where all of the guards hold under which they are added."""

    def __init__(self) -> None:
        super().__init__()
        self._guards: tuple[int, ...] = ()

    @contextmanager
    def under(self, *guards: int) -> Generator[None]:
        """What is added inside holds under these guards, and no others."""
        before, self._guards = self._guards, guards
        try:
            yield
        finally:
            self._guards = before

    def either(self, *literals: int) -> None:
        super().either(*literals, *(-guard for guard in self._guards))

    def at_most(self, terms: Iterable[Term], limit: int, when: int = TRUE) -> None:
        terms = list(terms)
        if not self._guards:
            super().at_most(terms, limit, when)
            return
        holds = self.fresh()
        self.either(-when, holds)
        with self.under():
            super().at_most(terms, limit, holds)


class _GuardedGroups(Groups):
    """Literals of groups, defined without guards wherever they are first asked for."""

    def __init__(self, clauses: _GuardedClauses, graph: Graph, reads: Mapping[Dependence, int]) -> None:
        self._guarded = clauses
        self._reads = reads
        self._with_readers: dict[str, int] = {}
        super().__init__(clauses, graph)

    def value_crosses(self, value: str) -> int:
        """Literal: a reader that is assumed is on another group."""
        if value not in self._with_readers:
            crossing = [(self.crosses(d), read) for d, read in self._reads.items() if d.source == value]
            crossing = [(crosses, read) for crosses, read in crossing if crosses != FALSE]
            self._with_readers[value] = literal = self._guarded.fresh() if crossing else FALSE
            with self._guarded.under():
                for case in crossing:
                    self._guarded.implies(case, literal)
        return self._with_readers[value]

    def _make_together(self, one: str, other: str) -> int:
        with self._guarded.under():
            return super()._make_together(one, other)


class _GuardedLiveRanges(LiveRanges):
    """Live ranges to those readers whose dependence is assumed."""

    def __init__(
        self,
        clauses: _GuardedClauses,
        graph: Graph,
        times: Times,
        groups: Groups,
        reads: Mapping[Dependence, int],
        hand_off: int,
    ) -> None:
        super().__init__(clauses, graph, times, groups, dict.fromkeys(graph.ops, COUNTED))
        self._guarded = clauses
        self._hand_offs = {name: op.hand_off_cycles for name, op in graph.ops.items()}
        self._reads = reads
        self._hand_off = hand_off

    def at_home(self, value: str) -> list[LiveRange]:
        found = super().at_home(value)
        cycles = self._hand_offs[value]
        if not self.readers[value] or not cycles:
            return found
        *others, handed = found
        at_once = replace(handed, offset=handed.offset - cycles)
        return [*others, at_once, replace(handed, when=(*handed.when, self._hand_off))]

    def at_reader(self, dependence: Dependence) -> LiveRange:
        found = super().at_reader(dependence)
        return replace(found, when=(*found.when, self._reads[dependence]))

    def depths(self, value: str, ranges: Sequence[LiveRange], amount: int, first: int, room: int) -> Iterator[Term]:
        if first == TRUE and self.readers[value]:
            first = self._guarded.fresh()
            for d in self.readers[value]:
                self._guarded.implies((self._reads[d],), first)
        return super().depths(value, ranges, amount, first, room)

    def _to_reader(self, dependence: Dependence, when: Conjunction) -> LiveRange:
        return super()._to_reader(dependence, (*when, self._reads[dependence]))


def _pins_start(graph: Graph, constraint: Constraint) -> bool:
    return constraint.topic is Topic.PIN and graph.pins[constraint.subject].start is not None


def _with_blocks_of(graph: Graph, unit: str) -> Graph:
    def edit(op: Op) -> Op:
        return replace(op, blocks=tuple(block for block in op.blocks if block.unit == unit))

    return replace(graph, ops={name: edit(op) for name, op in graph.ops.items()})


def _issuing_only(graph: Graph, issuing: set[str]) -> Graph:
    ops = {name: op if name in issuing else replace(op, issue_cycles=0) for name, op in graph.ops.items()}
    return replace(graph, ops=ops)
