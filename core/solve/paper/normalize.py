# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Cost normalisation (the paper's integer program): small numbers that keep the ratios of the measured ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations

from core.graph.model import Graph, Op

DEFAULT_SUM = 300


@dataclass(frozen=True, slots=True)
class Normalization:
    """`table` maps each op cost of the graph to its small one; `error` is F, the largest |C_i * C'_j - C_j * C'_i|;
    `scale` is sum C' / sum C."""

    table: dict[int, int]
    error: float
    scale: float

    def cycles(self, raw: int) -> int:
        """A number of cycles in small units: an op cost by the table, any other by the scale (1 at least, unless 0)."""
        if raw in self.table:
            return self.table[raw]
        return max(1, round(raw * self.scale)) if raw else 0

    def apply(self, graph: Graph) -> Graph:
        """The graph with every number of cycles replaced."""
        ops = {
            name: replace(
                op,
                blocks=tuple(
                    replace(b, offset=self.cycles(b.offset), duration=self.cycles(b.duration)) for b in op.blocks
                ),
                issue_cycles=self.cycles(op.issue_cycles),
                latency=self.cycles(op.latency),
                hand_off_cycles=self.cycles(op.hand_off_cycles),
            )
            for name, op in graph.ops.items()
        }
        dependences = tuple(
            replace(d, latency=self.cycles(d.latency), release=self.cycles(d.release)) for d in graph.dependences
        )
        return replace(graph, ops=ops, dependences=dependences)


def op_cost(op: Op) -> int:
    """The paper has one cost an op: the end of its last reservation, or its issue time if it uses no unit."""
    return max((block.offset + block.duration for block in op.blocks), default=op.issue_cycles)


def normalize(graph: Graph, total: int = DEFAULT_SUM, limit_s: float = 60.0) -> Normalization:
    """Minimises F subject to |C_i * C'_j - C_j * C'_i| <= F and 1 <= sum of C' <= `total`, one C an op (with SCIP).

    The graph has more numbers than the ops' costs (latencies, issue and hand-off cycles): those are scaled alike and
    rounded. Raises RuntimeError if SCIP does not finish within `limit_s`.
    """
    from ortools.linear_solver import pywraplp

    counts = Counter(cost for cost in map(op_cost, graph.ops.values()) if cost)
    solver = pywraplp.Solver.CreateSolver("SCIP")
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
    solver.SetTimeLimit(int(limit_s * 1000))
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        raise RuntimeError("SCIP did not finish the cost normalisation within its limit")
    table = {cost: round(variable.solution_value()) for cost, variable in small.items()}
    scale = sum(counts[cost] * value for cost, value in table.items()) / sum(c * n for c, n in counts.items())
    return Normalization(table, error.solution_value(), scale)
