# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Cost normalisation (the paper's integer program): small numbers that keep the ratios of the measured ones."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations

from core.graph.model import Graph, Op
from core.solve.engine import Budget
from core.solve.events import Verdict
from core.solve.paper.costs import busy_cycles
from core.solve.paper.program import run_program, scip

DEFAULT_SUM = 300


@dataclass(frozen=True, slots=True)
class Normalization:
    """`table` maps each op cost of the graph to its small one; `error` is F, the largest |C_i * C'_j - C_j * C'_i|;
    `scale` is sum C' / sum C, small cycles a raw one."""

    table: dict[int, int]
    error: int
    scale: float

    def cycles(self, raw: int) -> int:
        """A number of cycles in small ones: an op cost by the table, any other by the scale, rounded."""
        return self.table.get(raw, round(raw * self.scale))

    def apply(self, graph: Graph) -> Graph:
        """The graph with every number of cycles replaced."""
        ops = {name: self._op(op) for name, op in graph.ops.items()}
        dependences = tuple(
            replace(d, latency=self.cycles(d.latency), release=self.cycles(d.release)) for d in graph.dependences
        )
        pins = {
            name: pin if pin.start is None else replace(pin, start=self.cycles(pin.start))
            for name, pin in graph.pins.items()
        }
        return replace(graph, ops=ops, dependences=dependences, pins=pins)

    def _op(self, op: Op) -> Op:
        # Blocks are scaled within the op, by their begin and end: those that touch still do, and none overlap.
        cost = busy_cycles(op)
        blocks = tuple(
            replace(block, offset=begin, duration=self._within(cost, block.offset + block.duration) - begin)
            for block in op.blocks
            for begin in [self._within(cost, block.offset)]
        )
        return replace(
            op,
            blocks=blocks,
            issue_cycles=self.cycles(op.issue_cycles),
            latency=self.cycles(op.latency),
            hand_off_cycles=self.cycles(op.hand_off_cycles),
            queue=self.cycles(op.queue),
        )

    def _within(self, cost: int, cycle: int) -> int:
        return round(cycle * self.table[cost] / cost) if cost else 0


def normalize(graph: Graph, total: int, budget: Budget) -> Normalization | None:
    """Minimises F subject to |C_i * C'_j - C_j * C'_i| <= F and 1 <= sum of C' <= `total`, one C an op; None if the
    budget is spent first.

    Of solutions that are equal in F the paper names none; here it is the finest, divided by what its numbers have in
    common. Costs that fit the sum already stay. The graph has more numbers than the ops' costs (latencies, issue and
    hand-off cycles): they are scaled alike and rounded.
    """
    counts = Counter(cost for cost in map(busy_cycles, graph.ops.values()) if cost)
    raw = sum(cost * count for cost, count in counts.items())
    if raw <= total:
        return Normalization({cost: cost for cost in counts}, 0, 1.0)
    solver = scip()
    error = solver.NumVar(0, solver.infinity(), "F")
    small = {cost: solver.IntVar(0, total, f"C'{cost}") for cost in sorted(counts)}
    for first, second in combinations(small, 2):
        difference = first * small[second] - second * small[first]
        solver.Add(difference <= error)
        solver.Add(-difference <= error)
    weighted = solver.Sum([counts[cost] * variable for cost, variable in small.items()])
    solver.Add(weighted >= 1)
    solver.Add(weighted <= total)
    solver.Minimize(error)
    if run_program(solver, budget) is not Verdict.FEASIBLE:
        return None
    least = round(error.solution_value())
    solver.Add(error <= least + 0.5)
    solver.Maximize(weighted)
    if run_program(solver, budget) is not Verdict.FEASIBLE:
        return None
    values = {cost: round(variable.solution_value()) for cost, variable in small.items()}
    common = math.gcd(*values.values())
    table = {cost: value // common for cost, value in values.items()}
    return Normalization(table, least, sum(counts[cost] * value for cost, value in table.items()) / raw)
