# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false
"""The joint system over the straight-line program, in z3, family by family as the paper names them.

Variables: op[v, i, t] (instance i of v starts at cycle t), live[v, i, t] (its value is held at t), opw[v, w] (v runs on
warp group w; 0 is the variable-latency one). The program has n = ceil(L / II) copies of the loop and
T = (n - 1) * II + L cycles. The number of warp groups and their registers are given, not decided.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import z3

from core.graph.model import Dependence, DependenceKind, Graph, InOrderIssue, Op, Space

FALSE = z3.BoolVal(False)


class JointSystem:
    """The system for one (II, L): `constraints` is what a solver needs, `read` turns its model into a schedule."""

    def __init__(self, graph: Graph, ii: int, length: int) -> None:
        self.graph = graph
        self.ii = ii
        self.length = length
        self.copies = -(-length // ii)
        self.cycles = (self.copies - 1) * ii + length
        plain = [kind.warps for kind in graph.groups if not kind.variable_latency for _ in range(kind.count)]
        loading = max((kind.warps for kind in graph.groups if kind.variable_latency), default=0)
        self.group_warps = (loading, *plain)
        self.constraints: list[Any] = []
        self._start: dict[tuple[str, int], Any] = {}
        self._started: dict[tuple[str, int], Any] = {}
        self._warp: dict[tuple[str, int], Any] = {}
        self._uniqueness_and_completion()
        self._warp_uniqueness()
        self._variable_latency()
        self._dependence_and_spills()
        self._capacity()
        self._memory_capacity_and_register_limit()
        if graph.rules.in_order_issue is not InOrderIssue.OFF:
            self._concurrency()

    def read(self, model: Any) -> dict[str, tuple[int, int]]:
        """Start and warp group of each op in a model of the constraints."""
        starts = {v: t for (v, t), literal in self._start.items() if z3.is_true(model.eval(literal))}
        groups = {v: w for (v, w), literal in self._warp.items() if z3.is_true(model.eval(literal))}
        return {name: (starts[name], groups[name]) for name in self.graph.ops}

    def _op(self, name: str, iteration: int, cycle: int) -> Any:
        """op[v, i, t]. Consistency (all copies alike, II apart) holds by construction: it is op[v, 0, t - i * II]."""
        return self._start.get((name, cycle - iteration * self.ii), FALSE)

    def _has_started(self, name: str, iteration: int, cycle: int) -> Any:
        """Instance i of v has started at or before t."""
        local = min(cycle - iteration * self.ii, self.length - 1)
        return self._started[name, local] if local >= 0 else FALSE

    def _uniqueness_and_completion(self) -> None:
        """Each op starts exactly once, early enough to be complete within L."""
        for op in self.graph.ops.values():
            starts = [z3.Bool(f"op {op.id} {t}") for t in range(min(self.length - op.latency + 1, self.length))]
            self._start.update({(op.id, t): literal for t, literal in enumerate(starts)})
            self.constraints.append(z3.PbEq([(literal, 1) for literal in starts], 1) if starts else FALSE)
            before: Any = FALSE
            for t in range(self.length):
                if t < len(starts):
                    now = z3.Bool(f"started {op.id} {t}")
                    self.constraints.append(now == z3.Or(before, starts[t]))
                    before = now
                self._started[op.id, t] = before

    def _warp_uniqueness(self) -> None:
        """Each op runs on exactly one warp group, of enough warps."""
        for op in self.graph.ops.values():
            choices = [z3.Bool(f"opw {op.id} {w}") for w in range(len(self.group_warps))]
            self._warp.update({(op.id, w): literal for w, literal in enumerate(choices)})
            self.constraints.append(z3.PbEq([(literal, 1) for literal in choices], 1))
            for literal, warps in zip(choices, self.group_warps, strict=True):
                if warps < op.needs_warps:
                    self.constraints.append(z3.Not(literal))

    def _variable_latency(self) -> None:
        """An op is on warp group 0 if and only if it has variable latency."""
        for op in self.graph.ops.values():
            self.constraints.append(self._warp[op.id, 0] == z3.BoolVal(op.variable_latency))

    def _together(self, first: str, second: str) -> Any:
        """Both ops are on one warp group."""
        groups = range(len(self.group_warps))
        return z3.Or([z3.And(self._warp[first, w], self._warp[second, w]) for w in groups])

    def _dependence_and_spills(self) -> None:
        """v of iteration i + delta starts d cycles after u of i, and the spill cost later if the value crosses.

        Gap: only the n iterations of the straight-line program are looked at, so that a dependence of distance >= n
        is never checked, nor a carried hand-off that is longer than they are.
        """
        for edge in self.graph.dependences:
            source = self.graph.ops[edge.source]
            self._delay(edge, edge.latency, None)
            if edge.kind is DependenceKind.FLOW and source.result.space is Space.REGISTERS:
                crosses = z3.Not(self._together(edge.source, edge.target))
                if not self.graph.rules.allow_hand_off:
                    self.constraints.append(z3.Not(crosses))
                elif source.hand_off_cycles:
                    self._delay(edge, edge.latency + source.hand_off_cycles, crosses)

    def _delay(self, edge: Dependence, delay: int, condition: Any) -> None:
        for iteration in range(self.copies - edge.distance):
            for t in range(self.length):
                cycle = iteration * self.ii + t
                early = self._has_started(edge.target, iteration + edge.distance, cycle + delay - 1)
                clause = z3.Not(z3.And(self._op(edge.source, iteration, cycle), early))
                self.constraints.append(clause if condition is None else z3.Implies(condition, clause))

    def _at_most(self, terms: list[tuple[Any, int]], limit: int) -> None:
        terms = [(literal, weight) for literal, weight in terms if not z3.is_false(literal)]
        if sum(weight for _, weight in terms) > limit:
            self.constraints.append(z3.PbLe(terms, limit))

    def _capacity(self) -> None:
        """At each cycle of the program, the instances in flight on a unit are within its capacity."""
        for unit, limit in self.graph.machine.units.items():
            blocks = [(op.id, b) for op in self.graph.ops.values() for b in op.blocks if b.unit == unit]
            for t in range(self.cycles):
                self._at_most(
                    [
                        (self._op(name, iteration, t - block.offset - past), block.amount)
                        for name, block in blocks
                        for past in range(block.duration)
                        for iteration in range(self.copies)
                    ],
                    limit,
                )

    def _live(self, op: Op) -> list[list[Any]]:
        """live[v, i, t] by iteration and cycle, backward: held where it is read, and before that back to its start.

        Gap: readers in iterations that the straight-line program does not have (i + delta >= n) are not seen, so that
        a value carried out of the last copies counts as dead (in the paper's figure 1: 2 values instead of 3).
        """
        table = [
            [z3.Bool(f"live {op.id} {iteration} {t}") for t in range(self.cycles)] for iteration in range(self.copies)
        ]
        readers = [e for e in self.graph.dependences if e.source == op.id and e.kind is DependenceKind.FLOW]
        for iteration, row in enumerate(table):
            for t in range(self.cycles - 1):
                born = self._op(op.id, iteration, t + 1)
                self.constraints.append(z3.Implies(z3.And(row[t + 1], z3.Not(born)), row[t]))
            for edge in readers:
                if iteration + edge.distance < self.copies:
                    self._held(row, edge, iteration + edge.distance)
        return table

    def _held(self, row: list[Any], edge: Dependence, reader: int) -> None:
        """The value is live while the reader's instance reads it: up to the cycle before start + release."""
        for t, live in enumerate(row):
            last = self._op(edge.target, reader, t + 1 - edge.release)
            if not z3.is_false(last):
                self.constraints.append(z3.Implies(last, live))

    def _memory_capacity_and_register_limit(self) -> None:
        """At each cycle, live values fit: shared and tensor memory as a whole, registers on each warp group."""
        machine = self.graph.machine
        memories = {
            Space.SHARED: machine.shared_memory_bytes - machine.fixed_shared_bytes,
            Space.TENSOR: machine.tensor_memory_columns,
        }
        registers = machine.registers.max_per_thread - machine.registers.overhead
        live = {op.id: self._live(op) for op in self.graph.ops.values() if op.result.amount}
        for t in range(self.cycles):
            held: dict[Space, list[tuple[str, Any, int]]] = {space: [] for space in Space}
            for name, table in live.items():
                result = self.graph.ops[name].result
                held[result.space] += [(name, row[t], result.amount) for row in table]
            for space, size in memories.items():
                self._at_most([(literal, amount) for _, literal, amount in held[space]], size)
            for w in range(1, len(self.group_warps)):
                here = [(z3.And(live, self._warp[name, w]), amount) for name, live, amount in held[Space.REGISTERS]]
                self._at_most(here, registers)

    def _concurrency(self) -> None:
        """While an op that waits for an asynchronous result occupies its warp group, nothing else starts there."""
        waiting = {d.target for d in self.graph.dependences if d.blocking and self.graph.ops[d.source].asynchronous}
        issuing = [op for op in self.graph.ops.values() if op.issue_cycles]
        for first, second in combinations(issuing, 2):
            if first.id in waiting or second.id in waiting:
                together = self._together(first.id, second.id)
                for shift in range(1 - self.copies, self.copies):
                    self._apart(first, second, shift, together)

    def _apart(self, first: Op, second: Op, shift: int, together: Any) -> None:
        """first of an iteration and second of the one `shift` later do not overlap where they are together."""
        for t in range(self.length):
            starts = self._op(first.id, 0, t)
            overlaps = [
                self._op(second.id, shift, u) for u in range(t - second.issue_cycles + 1, t + first.issue_cycles)
            ]
            overlaps = [literal for literal in overlaps if not z3.is_false(literal)]
            if overlaps and not z3.is_false(starts):
                self.constraints.append(z3.Implies(z3.And(together, starts), z3.Not(z3.Or(overlaps))))
