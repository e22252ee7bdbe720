"""The joint system over the straight-line program, for z3, family by family as the paper names them.

Variables: op[v, i, t] (instance i of v starts at cycle t), live[v, i, t] (its value is held at t), opw[v, w] (v runs on
warp group w; 0 is the one for variable latency). The program has n = ceil(L / II) copies of the loop and
T = (n - 1) * II + L cycles. The number of warp groups and their registers are given, not decided.

The families are the paper's, over the whole grid. Two things only are shorter than in print: op[v, i, t] is written
op[v, 0, t - i * II] (family consistency), and "has started by t" stands for the ranges of t' that op[v, i, t'] is
quantified over. Families that bound what is live from above need no rule for what is dead.

Gaps: `pins` and the rule `isolate_matrix_issue` are no part of the formulation. One thing is taken from the graph
instead of the print: a value lives for `release` cycles of its reader; in print it dies where the reader starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from core.graph.model import Dependence, DependenceKind, Graph, InOrderIssue, Op, Space
from core.solve.confirm.clauses import FALSE, TRUE, Clauses, boolean_name
from core.solve.paper.costs import busy_cycles, completion_cycles
from core.solve.paper.groups import VARIABLE_LATENCY, warp_groups


class JointSystem:
    """The system for one (II, L): `text` is what a solver reads, `placements` turns its model into a schedule."""

    def __init__(self, graph: Graph, ii: int, length: int) -> None:
        self.graph = graph
        self.ii = ii
        self.length = length
        self.copies = -(-length // ii)
        self.cycles = (self.copies - 1) * ii + length
        self._groups = warp_groups(graph)
        self._clauses = Clauses()
        self._start: dict[tuple[str, int], int] = {}
        self._started_by: dict[tuple[str, int], int] = {}
        self._opw: dict[tuple[str, int], int] = {}
        self._crossing: dict[tuple[str, str], int] = {}
        self._uniqueness_and_completion()
        self._warp_uniqueness()
        self._variable_latency()
        self._dependence()
        self._cross_warp_spills()
        self._capacity()
        self._memory_capacity_and_register_limit()
        if graph.rules.in_order_issue is not InOrderIssue.OFF:
            self._concurrency()

    @property
    def text(self) -> str:
        """The system in SMT-LIB."""
        return self._clauses.text

    def placements(self, values: Mapping[str, bool]) -> dict[str, tuple[int, int]]:
        """Start and warp group of each op in a model, which has the values of Booleans by name."""
        starts = {v: t for (v, t), literal in self._start.items() if values.get(boolean_name(literal))}
        groups = {v: w for (v, w), literal in self._opw.items() if values.get(boolean_name(literal))}
        return {name: (starts[name], groups[name]) for name in self.graph.ops}

    def _op(self, name: str, copy: int, cycle: int) -> int:
        """op[v, i, t]. Consistency (all copies alike, II apart) holds by construction."""
        return self._start.get((name, cycle - copy * self.ii), FALSE)

    def _started(self, name: str, copy: int, cycle: int) -> int:
        """Instance i of v has started at or before t."""
        local = cycle - copy * self.ii
        return FALSE if local < 0 else self._started_by.get((name, local), TRUE)

    def _starts(self, name: str) -> range:
        """The cycles at which instance 0 may start and still be complete within L."""
        return range(self.length - completion_cycles(self.graph.ops[name]) + 1)

    def _uniqueness_and_completion(self) -> None:
        """Each op starts exactly once, early enough to be complete within L."""
        for name in self.graph.ops:
            starts = self._starts(name)
            self._start.update({(name, t): self._clauses.fresh() for t in starts})
            self._clauses.either(*[self._start[name, t] for t in starts])
            self._clauses.at_most([(self._start[name, t], 1) for t in starts], 1)
            for t in starts[:-1]:
                self._started_by[name, t] = self._clauses.fresh()
                self._clauses.either(-self._started(name, 0, t), self._started(name, 0, t - 1), self._start[name, t])
                self._clauses.either(self._started(name, 0, t), -self._started(name, 0, t - 1))
                self._clauses.either(self._started(name, 0, t), -self._start[name, t])

    def _warp_uniqueness(self) -> None:
        """Each op runs on exactly one warp group, of enough warps."""
        for op in self.graph.ops.values():
            choices = [self._clauses.fresh() for _ in self._groups]
            self._opw.update({(op.id, w): literal for w, literal in enumerate(choices)})
            self._clauses.either(*choices)
            self._clauses.at_most([(literal, 1) for literal in choices], 1)
            for literal, group in zip(choices, self._groups, strict=True):
                if group is None or group.warps < op.needs_warps:
                    self._clauses.either(-literal)

    def _variable_latency(self) -> None:
        """An op is on warp group 0 if and only if it has variable latency."""
        for op in self.graph.ops.values():
            literal = self._opw[op.id, VARIABLE_LATENCY]
            self._clauses.either(literal if op.variable_latency else -literal)

    def _dependence(self) -> None:
        """v of iteration i + delta starts no less than d cycles after u of i.

        Gap: only the n iterations of the straight-line program are looked at, so that a dependence of distance >= n
        is never checked.
        """
        for edge in self.graph.dependences:
            self._apart(edge, edge.latency, when=TRUE)

    def _cross_warp_spills(self) -> None:
        """A register value that crosses warp groups is there only after its hand-off.

        Gaps: a carried hand-off of distance >= n is never checked; a hand-off has no buffer in shared memory, and
        the reader no copy in its registers.
        """
        for edge in self.graph.dependences:
            source = self.graph.ops[edge.source]
            if edge.kind is DependenceKind.FLOW and source.result.space is Space.REGISTERS:
                crosses = self._crosses(edge.source, edge.target)
                if not self.graph.rules.allow_hand_off:
                    self._clauses.either(-crosses)
                elif source.hand_off_cycles:
                    self._apart(edge, edge.latency + source.hand_off_cycles, when=crosses)

    def _apart(self, edge: Dependence, delay: int, when: int) -> None:
        """Where u of copy 0 starts at t or later, v of copy delta does not start before t + delay; other copies of
        the program say the same."""
        for t in self._starts(edge.source) if edge.distance < self.copies else ():
            early = self._started(edge.target, edge.distance, t + delay - 1)
            self._clauses.either(-when, self._started(edge.source, 0, t - 1), -early)

    def _crosses(self, one: str, other: str) -> int:
        """A literal that holds if and only if the two ops are on different warp groups."""
        if one == other:
            return FALSE
        one, other = min(one, other), max(one, other)
        if (one, other) not in self._crossing:
            crosses = self._crossing[one, other] = self._clauses.fresh()
            for w in range(len(self._groups)):
                self._clauses.either(-self._opw[one, w], self._opw[other, w], crosses)
                self._clauses.either(-self._opw[one, w], -self._opw[other, w], -crosses)
        return self._crossing[one, other]

    def _capacity(self) -> None:
        """At each cycle of the program, the instances in flight on a unit are within its capacity."""
        for unit, limit in self.graph.machine.units.items():
            blocks = [(op.id, b) for op in self.graph.ops.values() for b in op.blocks if b.unit == unit]
            for t in range(self.cycles):
                in_flight = Counter[int]()
                for name, block in blocks:
                    for past in range(block.duration):
                        for copy in range(self.copies):
                            in_flight[self._op(name, copy, t - block.offset - past)] += block.amount
                self._clauses.at_most(in_flight.items(), limit)

    def _memory_capacity_and_register_limit(self) -> None:
        """At each cycle, live values fit: shared and tensor memory as a whole, registers on each warp group.

        Gaps: a ring of whole slots can take more than its live values; all groups together may exceed the register
        file.
        """
        machine, file = self.graph.machine, self.graph.machine.registers
        sizes = {
            Space.SHARED: machine.shared_memory_bytes - machine.fixed_shared_bytes,
            Space.TENSOR: machine.tensor_memory_columns,
        }
        live = {op.id: self._live(op) for op in self.graph.ops.values() if op.result.amount}
        for t in range(self.cycles):
            held: dict[Space, list[tuple[str, int, int]]] = {space: [] for space in Space}
            for name, table in live.items():
                result = self.graph.ops[name].result
                held[result.space] += [(name, row[t], result.amount) for row in table if row[t] != FALSE]
            for space, size in sizes.items():
                self._clauses.at_most([(literal, amount) for _, literal, amount in held[space]], size)
            for w in range(len(self._groups)):
                overhead = 0 if w == VARIABLE_LATENCY else file.overhead
                here = [(self._held_on(name, literal, w), amount) for name, literal, amount in held[Space.REGISTERS]]
                self._clauses.at_most(here, file.max_per_thread - overhead)

    def _held_on(self, name: str, live: int, w: int) -> int:
        """live[v, i, t] and opw[v, w]."""
        if (w == VARIABLE_LATENCY) != self.graph.ops[name].variable_latency:
            return FALSE
        both = self._clauses.fresh()
        self._clauses.implies([live, self._opw[name, w]], both)
        return both

    def _live(self, op: Op) -> list[list[int]]:
        """live[v, i, t] by copy and cycle, backward: held until its readers are done, and before that back to its
        start. At the end of the program, carried values of the last copy are live.

        Gap: readers in iterations that the straight-line program does not have (i + delta >= n) are not seen, so that
        a value carried into the steady state counts as dead (in the paper's figure 1: 2 values instead of 3).
        """
        readers = [e for e in self.graph.dependences if e.source == op.id and e.kind is DependenceKind.FLOW]
        table: list[list[int]] = []
        for copy in range(self.copies):
            seen = [edge for edge in readers if copy + edge.distance < self.copies]
            carried_out = copy == self.copies - 1 and any(edge.distance for edge in readers)
            if not seen and not carried_out:
                table.append([FALSE] * self.cycles)
                continue
            row = [self._clauses.fresh() for _ in range(self.cycles)]
            for t in range(self.cycles - 1):
                self._clauses.either(-row[t + 1], self._op(op.id, copy, t + 1), row[t])
            for edge in seen:
                self._held_by(op, copy, row, edge)
            if carried_out:
                self._clauses.either(row[-1])
            table.append(row)
        return table

    def _held_by(self, op: Op, copy: int, row: list[int], edge: Dependence) -> None:
        """The value is live in the last cycle that the reader needs it, if that is not before it exists."""
        reader = copy + edge.distance
        for t, live in enumerate(row):
            done_next = self._op(edge.target, reader, t + 1 - edge.release)
            if t == self.cycles - 1:
                done_next = -self._started(edge.target, reader, t - edge.release)
            self._clauses.implies([done_next, self._started(op.id, copy, t)], live)

    def _concurrency(self) -> None:
        """Where an op starts that waits for an asynchronous result, no other op is in flight on its warp group.

        As in print an asynchronous op is in flight for all its cycles, and an op may start while the waiting one runs.
        The same constraint for cross-warp spills is left out, as in print.
        """
        waiting = {d.target for d in self.graph.dependences if d.blocking and self.graph.ops[d.source].asynchronous}
        for waiter in sorted(waiting):
            for op in self.graph.ops.values():
                if op.id != waiter and busy_cycles(op):
                    self._never_in_flight_at_start(waiter, op, self._crosses(waiter, op.id))

    def _never_in_flight_at_start(self, waiter: str, op: Op, unless: int) -> None:
        for t in self._starts(waiter):
            for copy in range(1 - self.copies, self.copies):
                begun, over = self._started(op.id, copy, t), self._started(op.id, copy, t - busy_cycles(op))
                self._clauses.implies([self._start[waiter, t], begun, -over], unless)
