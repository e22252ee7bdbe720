"""What rounding costs: the exact model on graphs with the paper's normalised costs, against the graph's own cycles.

python tests/bench/rounding.py [--limit-s 300] [--only NAME ...] [--out FILE]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from report import RESULTS, environment, project_graphs, table, write

from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.schedule.model import Schedule
from core.solve.engine import Budget
from core.solve.events import Level, SolveOptions, SolveResult, Status
from core.solve.paper.normalize import normalize
from core.solve.solve import solve

SUMS = (100, 300, 1000)
HEAD = ("project", "costs", "F", "cycles each", "status", "II", "II in cycles", "at the bound", "order", "s")
NOTES = (
    "Costs: the graph's own, or normalised with that limit on their sum; all are solved by the exact model for II and "
    "L. At the bound: whether the least II is that of units and recurrences (?: not decided). Order: the ops of the "
    "most loaded unit by slot, from the first of the text on; of several optima one is shown, so that another order "
    "is one that the rounded costs allow as well or better."
)


@dataclass(frozen=True)
class Solved:
    """What the exact model finds under some costs, each cycle worth `unit` of the graph's."""

    graph: Graph
    unit: float
    error: int
    result: SolveResult

    @property
    def at_bound(self) -> str:
        """Whether the least II is the greatest of the units' and the recurrences' bound."""
        least = bounds(self.graph).min_ii
        if self.result.ii == least:
            return "yes"
        if self.result.proved_lower_bound > (least or 0):
            return "no"
        return "?"


def main() -> None:
    """Solves all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=300.0, help="seconds for one graph")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="projects whose name begins so")
    parser.add_argument("--out", type=Path, default=RESULTS / "rounding.md")
    options = parser.parse_args()
    rows: list[list[str]] = []
    changes: list[str] = []
    for name, graph in project_graphs():
        if not options.only or name.startswith(tuple(options.only)):
            solved = [solve_rounded(graph, total, options.limit_s) for total in (None, *SUMS)]
            unit = busiest_unit(graph)
            for total, one in zip((None, *SUMS), solved, strict=True):
                rows.append([name, "own" if total is None else f"sum {total}", *cells(one, unit)])
                print(*rows[-1], sep="\t", flush=True)
                if total is not None:
                    changes += [f"- {name}, sum {total}: {change}" for change in differences(solved[0], one, unit)]
    found = "\n".join(changes) or "Rounding changes no verdict and no order of these projects."
    write(
        options.out,
        "# Rounded costs against the graph's own",
        f"{environment()} Limit {options.limit_s:g} s.",
        table(HEAD, rows),
        NOTES,
        "## What rounding changes",
        found,
    )


def solve_rounded(graph: Graph, total: int | None, limit_s: float) -> Solved:
    """The exact model under normalised costs; None: under the graph's own."""
    unit, error = 1.0, 0
    if total is not None:
        normalization = normalize(graph, total, Budget(limit_s, lambda: False))
        if normalization is None:
            raise SystemExit(f"{graph.name}: no normalisation within the limit")
        graph, unit, error = normalization.apply(graph), 1 / normalization.scale, normalization.error
    options = SolveOptions(objective=(Level.II, Level.LENGTH), limit_s=limit_s)
    return Solved(graph, unit, error, solve(graph, options))


def cells(one: Solved, unit: str) -> list[str]:
    """The row behind project and costs."""
    result = one.result
    ii = ["-", "-"] if result.ii is None else [str(result.ii), f"{result.ii * one.unit:.0f}"]
    order = "-" if result.schedule is None else " ".join(order_on(one.graph, result.schedule, unit))
    return [str(one.error), f"{one.unit:.4g}", result.status.value, *ii, one.at_bound, order, f"{result.seconds:.1f}"]


def differences(own: Solved, rounded: Solved, unit: str) -> list[str]:
    """What is decided otherwise than under the graph's own costs."""
    found: list[str] = []
    if "?" not in (own.at_bound, rounded.at_bound) and own.at_bound != rounded.at_bound:
        found.append(f"the bound is reached: {rounded.at_bound}, under its own costs: {own.at_bound}")
    if {own.result.status, rounded.result.status} == {Status.OPTIMAL, Status.INFEASIBLE}:
        found.append(f"{rounded.result.status.value}, under its own costs: {own.result.status.value}")
    if own.result.ii is not None and rounded.result.ii is not None:
        ratio = rounded.result.ii * rounded.unit / own.result.ii
        if abs(ratio - 1) > 0.01:
            found.append(f"least II {100 * (ratio - 1):+.1f} %")
    if own.result.schedule is not None and rounded.result.schedule is not None:
        orders = [order_on(one.graph, one.result.schedule, unit) for one in (own, rounded) if one.result.schedule]
        if orders[0] != orders[1]:
            found.append(f"order on {unit}: {' '.join(orders[1])}, under its own costs: {' '.join(orders[0])}")
    return found


def busiest_unit(graph: Graph) -> str:
    """The unit with the most work for its capacity."""
    work = {
        unit: sum(b.duration * b.amount for op in graph.ops.values() for b in op.blocks if b.unit == unit) / capacity
        for unit, capacity in graph.machine.units.items()
        if capacity
    }
    return max(work, key=lambda unit: work[unit])


def order_on(graph: Graph, schedule: Schedule, unit: str) -> list[str]:
    """The unit's ops by slot, from the first of the text on."""
    ops = [name for name, op in graph.ops.items() if any(block.unit == unit for block in op.blocks)]
    order = sorted(ops, key=lambda op: (schedule.slot(op), ops.index(op)))
    first = order.index(ops[0])
    return order[first:] + order[:first]


if __name__ == "__main__":
    main()
