"""What rounding costs: the exact model on graphs with the paper's normalised costs, against the graph's own cycles.

    python -m tests.bench.rounding [--limit-s 300] [--only NAME ...] [--resume] [--out FILE]

`--resume` goes on with a run that was interrupted.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.model import Schedule
from core.solve.engine import Budget
from core.solve.events import Level, SolveOptions
from core.solve.paper.normalize import normalize
from core.solve.paper.retime import retimed
from core.solve.solve import solve
from tests.bench.report import RESULTS, UNFINISHED, Kept, broken, cpu_seconds, environment, project_graphs, table, write

SUMS = (100, 300, 1000)
HEAD = (
    "project",
    "costs",
    "F",
    "cycles each",
    "status",
    "II",
    "II in cycles",
    "at the bound",
    "bound by",
    "order",
    "in raw cycles",
    "CPU s",
)
NOTES = (
    "Costs: the graph's own, or normalised with that limit on their sum; all are solved by the exact model for II and "
    "L. At the bound: whether the least II is that of units and recurrences (?: not decided); bound by: what excludes "
    "the II below. Order: the ops of the most loaded unit by slot, from the first of the text on; of several optima "
    "one is shown, so that another order is one that the rounded costs allow as well or better. In raw cycles: the "
    "least II that the groups and orders of the rounded schedule reach with the graph's own costs, and what is broken "
    "then; contradictory: small cycles of 0 hid an order that cannot be kept. Loops with pinned starts are left out: "
    "those are in cycles."
)


def main() -> None:
    """Solves all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=300.0, help="seconds for one graph")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="projects whose name begins so")
    parser.add_argument("--out", type=Path, default=RESULTS / "rounding.md")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted")
    options = parser.parse_args()
    kept = Kept(UNFINISHED / "rounding.jsonl", options.resume)
    rows: list[list[str]] = []
    changes: list[str] = []
    for name, graph in project_graphs():
        if options.only and not name.startswith(tuple(options.only)):
            continue
        if any(pin.start is not None for pin in graph.pins.values()):
            continue
        solved = [measured(kept, graph, total, options.limit_s) for total in (None, *SUMS)]
        for total, one in zip((None, *SUMS), solved, strict=True):
            rows.append([name, "own" if total is None else f"sum {total}", *cells(one)])
            print(*rows[-1], sep="\t", flush=True)
            if total is not None:
                changes += [f"- {name}, sum {total}: {change}" for change in differences(solved[0], one)]
    write(
        options.out,
        "# Rounded costs against the graph's own",
        f"{environment()} Limit {options.limit_s:g} s.",
        table(HEAD, rows),
        NOTES,
        "## What rounding changes",
        "\n".join(changes) or "Rounding changes no verdict and no order of these projects.",
    )


def measured(kept: Kept, graph: Graph, total: int | None, limit_s: float) -> dict[str, Any]:
    """What the exact model finds under normalised costs, None: the graph's own; as it is kept, or now."""
    key = Kept.key(graph, f"sum {total}")
    return kept.get(key) or kept.put(key, solve_rounded(graph, total, limit_s))


def solve_rounded(graph: Graph, total: int | None, limit_s: float) -> dict[str, Any]:
    """Status, II, order and the rest; each cycle is worth `unit` of the graph's."""
    raw, unit, error, busiest = graph, 1.0, 0, busiest_unit(graph)
    if total is not None:
        normalization = normalize(graph, total, Budget(limit_s, lambda: False))
        if normalization is None:
            return {"status": "no normalisation in time"}
        graph, unit, error = normalization.apply(graph), 1 / normalization.scale, normalization.error
    began = cpu_seconds()
    result = solve(graph, SolveOptions(objective=(Level.II, Level.LENGTH), limit_s=limit_s))
    below = [entry.by for entry in result.trail if entry.ii == result.proved_lower_bound - 1]
    least = bounds(graph).min_ii
    return {
        "status": result.status.value,
        "ii": result.ii,
        "unit": unit,
        "error": error,
        "at_bound": "yes" if result.ii == least else "no" if result.proved_lower_bound > (least or 0) else "?",
        "by": below[-1] if below else "-",
        "busiest": busiest,
        "order": [] if result.schedule is None else order_on(graph, result.schedule, busiest),
        "raw": "-" if result.schedule is None else in_raw_cycles(raw, graph, result.schedule),
        "cpu_s": cpu_seconds() - began,
    }


def in_raw_cycles(raw: Graph, rounded: Graph, schedule: Schedule) -> str:
    """What a schedule of the rounded graph comes to with the graph's own cycles."""
    brought = retimed(raw, rounded, schedule, 1)
    if brought is None:
        return "contradictory"
    return f"{brought.ii}: {broken(Counter(violation.family for violation in check(raw, brought).violations))}"


def cells(one: dict[str, Any]) -> list[str]:
    """The row behind project and costs."""
    if "ii" not in one:
        return ["-", "-", one["status"], *["-"] * 7]
    ii = ["-", "-"] if one["ii"] is None else [str(one["ii"]), f"{one['ii'] * one['unit']:.0f}"]
    order = " ".join(one["order"]) or "-"
    row = [str(one["error"]), f"{one['unit']:.4g}", one["status"], *ii, one["at_bound"], one["by"], order]
    return [*row, one["raw"], f"{one['cpu_s']:.1f}"]


def differences(own: dict[str, Any], rounded: dict[str, Any]) -> list[str]:
    """What is decided otherwise than under the graph's own costs."""
    if "ii" not in rounded:
        return []
    found: list[str] = []
    if "?" not in (own["at_bound"], rounded["at_bound"]) and own["at_bound"] != rounded["at_bound"]:
        found.append(f"the bound is reached: {rounded['at_bound']}, under its own costs: {own['at_bound']}")
    if {own["status"], rounded["status"]} == {"optimal", "infeasible"}:
        found.append(f"{rounded['status']}, under its own costs: {own['status']}")
    if own["ii"] is not None and rounded["ii"] is not None:
        ratio = rounded["ii"] * rounded["unit"] / own["ii"]
        if abs(ratio - 1) > 0.01:
            found.append(f"least II {100 * (ratio - 1):+.1f} %")
        if own["order"] != rounded["order"]:
            orders = " ".join(rounded["order"]), " ".join(own["order"])
            found.append(f"order on {own['busiest']}: {orders[0]}, under its own costs: {orders[1]}")
        if rounded["raw"] != f"{own['ii']}: legal":
            found.append(f"groups and orders in raw cycles: II {rounded['raw']}, where {own['ii']} is legal")
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
