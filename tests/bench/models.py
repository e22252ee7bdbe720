"""Solves the same graphs with both models and writes them side by side: seconds, II, L, verdicts.

    python -m tests.bench.models [--limit-s 1800] [--only NAME ...] [--again exact] [--out FILE]

The tactics of z3 share the limit of a graph. Runs are kept beside the table (`models.jsonl`) and measured once, so that
hours can be taken in pieces. Not kept are those of graphs that have changed since, those of another machine, and time-
outs under a lower limit than now. With `--again` the runs of that model are measured anew for what is in the table, and
nothing else. The table may be written at any time: what has not been measured is left open in it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.graph.model import Graph
from core.graph.read import load_graph
from core.schedule.metrics import length
from core.solve.engine import Budget
from core.solve.events import Event, Level, SolveOptions, SolveResult, Status, Step
from core.solve.paper.answer import ask_paper
from core.solve.paper.normalize import DEFAULT_SUM, normalize
from core.solve.paper.streaming import without_streaming_latency
from core.solve.solve import solve
from tests.bench.model_runs import Case, Measure, cost, measured, paper_runs
from tests.bench.report import (
    KERNELS,
    RESULTS,
    WALL_FACTOR,
    Kept,
    cpu_seconds,
    out_of,
    project_graphs,
    table,
    write,
)

PICKED = (
    "fa_fwd_hopper_2x64",
    "fa_fwd_blackwell_2x128",
    "fa_bwd_hopper",
    "fa_fwd_blackwell_2x128__roles",
    "figure_1",
    "deeper_at_ii_1",
    "gemm",
    "dual_gemm",
    "layer_norm",
    "fa_fwd_hopper_1x64",
    "fa_fwd_hopper_2x64__1_group",
    "fa_fwd_blackwell_2x128__no_hand_off",
    "fa_fwd_blackwell_2x128__2_groups",
    "fa_bwd_hopper__200_registers",
)
"""Loops with known answers."""
HEAD = (
    "graph",
    "ops",
    "exact, raw cycles: II, L",
    "CPU s (wall)",
    "of these to II",
    "exact, on the graph that the paper's model searches: II, L",
    "CPU s (wall)",
    "paper, there: II, L",
    "cycles each",
    "CPU s (wall), tactic",
    "of these z3",
    "judge in its cycles",
    "its groups and orders in raw cycles",
    "factor, raw cycles, II and L",
    "factor, II alone",
    "factor, same graph",
)
NOTES = (
    "Exact: least II, then least L at it; `optimal` means that both are proved. Its seconds are those of all of it; to "
    "II: until the least II is proved, with a schedule that attains it. "
    "The graph that the paper's model searches: costs by its integer program "
    f"(sum at most {DEFAULT_SUM}), streaming loads without latency; see below for the rules that "
    "differ. Paper: the first (II, L) of its search; normalisation, integer programs and encoding are in its seconds. "
    "What it misses, the judge says: of its schedule on the normalised graph, and of the same groups and "
    "orders with the cycles of the graph itself (II, then what is broken, with the number of places). Of these z3: by "
    "the clock's share. Factor: CPU seconds of the paper's model with its quickest tactic over those of the exact one. "
    "Time-out: no tactic decided; the pair is where the first tactic stood, and the factor a lower bound, from the "
    "least time that a tactic was given."
)
LIKE_FOR_LIKE = (
    "Which of the factors is like for like? The paper's search begins at the bound of units and recurrences and takes "
    "II by II. At each it first finds the least L that units and dependences allow (integer programs prove it), then "
    "asks z3 for that L and each greater one within as many copies, and ends at the first that is satisfiable. So it "
    "refutes every lesser L at its last II: by its own rules its L is proved least there. Its II is proved least only "
    "where it is the first that it tries: of the others it tried one number of copies, and no deeper pipeline.",
    "- *Same graph*: both have the same costs and latencies, and both end with II and L, each least by its own rules. "
    "This is like for like, and the factor that counts. The rules still differ: the exact model proves II for "
    "pipelines of any depth and counts hand-off buffers, readers' copies, rings, carried values and roles as the judge "
    "does; the paper's concurrency rule lets no op that waits begin beside a matrix op of its group, which the exact "
    "one allows once that is issued. So either L may be the shorter one.\n"
    "- *Raw cycles, II and L*: the same loop, as a user asks it. The exact model works on cycles as they are, the "
    "paper's on normalised ones, as it cannot on others; both seconds are those of II and L.\n"
    "- *II alone* sets a part of one answer against the whole of the other, since the paper's search has no II before "
    "it has L. It says how long one waits for the proof of II with a legal schedule, and is no like-for-like factor.",
    "The column *of these z3* says how much of the paper's seconds its joint system takes. The rest is mostly the "
    "modulo schedule of least L by SCIP ([speed.md](speed.md) has it by itself), in our formulation: a better one "
    "would lower the factors, by no more than that part.",
)
"""What the factors mean."""
FIRST = ("attention_forward", "attention_backward", "fa_", "linear")
"""Names of what is measured first, in this order."""
AT_LEAST = "≥ "
"""Before a factor that is a lower bound."""
CLAIMED = 20
"""Times that the exact model is to be faster."""
OPEN = "not measured"
TWO_MACHINES = "on two machines"
"""Seconds that are not to be compared."""
OBJECTIVE = (Level.II, Level.LENGTH)


@dataclass(frozen=True)
class Row:
    """Its cells, and the runs that they are of."""

    cells: list[str]
    runs: list[dict[str, Any]]


def main() -> None:
    """Runs all that is not kept and writes the table after each graph."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=1800.0, help="CPU seconds for one model on one graph")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="measure graphs whose name begins so")
    parser.add_argument("--again", choices=["exact", "paper"], help="measure this model anew on what is in the table")
    parser.add_argument("--out", type=Path, default=RESULTS / "models.md")
    options = parser.parse_args()
    kept = Kept(options.out.with_suffix(".jsonl"), resume=True)
    warm_up = load_graph(KERNELS / "figure_1.yaml")  # libraries are loaded on first use
    solve(warm_up, SolveOptions(objective=OBJECTIVE))
    ask_paper(warm_up, SolveOptions(), Budget(60.0, lambda: False))
    measure = Measure(options.again or Measure.MISSING)
    graphs = list(cases())
    shown: dict[str, Row] = {}
    for name, graph in graphs:  # what is kept already comes into the table first
        kept_row = row(Case(name, graph, options.limit_s, kept, Measure.NOTHING))
        if kept_row is not None:
            shown[name] = kept_row
    for name, graph in graphs:
        if (options.only and not name.startswith(tuple(options.only))) or (options.again and name not in shown):
            continue
        measured_row = row(Case(name, graph, options.limit_s, kept, measure))
        if measured_row is not None:
            shown[name] = measured_row
            print(*measured_row.cells, sep="\t", flush=True)
        write_table(options.out, [shown[name] for name, _ in graphs if name in shown])
    write_table(options.out, [shown[name] for name, _ in graphs if name in shown])


def cases() -> Iterator[tuple[str, Graph]]:
    """The projects and the loops with known answers, attention first. Not those with pins, which the paper has not."""
    known = [(name, load_graph(KERNELS / f"{name}.yaml")) for name in PICKED]
    graphs = [(name, graph) for name, graph in (*project_graphs(), *known) if not graph.pins]

    def rank(named: tuple[str, Graph]) -> tuple[int, bool]:
        name = named[0]
        first = next((n for n, start in enumerate(FIRST) if name.startswith(start)), len(FIRST))
        return first, "two_key_tiles" in name  # the largest of them takes longest

    yield from sorted(graphs, key=rank)


def write_table(out: Path, rows: list[Row]) -> None:
    """The rows with where and how they were measured, and what they say of the claim."""
    where = sorted({f"{run['date']}, {run['machine']}." for row in rows for run in row.runs})
    head = f"## The exact model is at least {CLAIMED} times faster on attention?"
    claims = "\n".join(claim([row.cells for row in rows], column) for column in (-3, -2, -1))
    cells = table(HEAD, [row.cells for row in rows])
    write(out, "# Both models on the same graphs", "\n".join(where), cells, NOTES, head, claims, *LIKE_FOR_LIKE)


def claim(rows: list[list[str]], column: int) -> str:
    """Where one of the factors is what is claimed, and where not. A lower bound below it says nothing."""
    there = [row for row in rows if row[column] not in (OPEN, TWO_MACHINES)]
    attention = [row for row in there if row[0].startswith(("attention", "fa_"))]
    holds = [row[0] for row in attention if float(row[column].removeprefix(AT_LEAST)) >= CLAIMED]
    rest = [row for row in attention if row[0] not in holds]
    timed_out = [f"{row[0]} ({row[column]})" for row in rest if row[column].startswith(AT_LEAST)]
    fails = [f"{row[0]} ({row[column]})" for row in rest if not row[column].startswith(AT_LEAST)]
    found = f"{len(holds)} of {len(attention)}: {'; '.join(holds) or 'none'}. Not for: {'; '.join(fails) or 'none'}."
    return f"- {HEAD[column]}: holds for {found} Open, timed out: {'; '.join(timed_out) or 'none'}."


def row(case: Case) -> Row | None:
    """Both models on one graph; None if the exact one has not been measured."""
    raw = measured(case, "exact", case.limit_s, lambda: run_exact(case.graph, case.limit_s))
    searched = measured(case, "exact as searched", case.limit_s, lambda: run_searched(case.graph, case.limit_s))
    runs = paper_runs(case)
    if raw is None:
        return None
    cells = [case.name, str(len(case.graph.ops)), raw["answer"], seconds(raw), f"{raw['ii_cpu_s']:.2f}"]
    cells += [OPEN] * 2 if searched is None else [searched["answer"], seconds(searched)]
    cells += paper_cells(runs) if runs else [OPEN] * 6
    cells += [factor(runs, raw, "cpu_s"), factor(runs, raw, "ii_cpu_s"), factor(runs, searched, "cpu_s")]
    return Row(cells, [run for run in (raw, searched, *runs) if run is not None])


def paper_cells(runs: list[dict[str, Any]]) -> list[str]:
    """What the table says of the paper's model, with the tactic that decided soonest."""
    decided = [run for run in runs if run["decided"]]
    if decided:
        best = min(decided, key=cost)
        took = f"{seconds(best)}, {best['tactic']}"
        return [best["answer"], best["unit"], took, share_of_z3(best), best["judge"], best["raw"]]
    limits = ", ".join(f"{run['tactic']} {run['limit_s']:.0f} s" for run in runs)
    return [f"{runs[0]['answer']}", runs[0]["unit"], f"no verdict within {limits}", "-", "-", "-"]


def share_of_z3(run: dict[str, Any]) -> str:
    """Of the seconds of a run, as its clock has it."""
    return f"{run['z3_wall_s'] / run['wall_s']:.0%}" if "z3_wall_s" in run else OPEN


def factor(runs: list[dict[str, Any]], exact: dict[str, Any] | None, part: str) -> str:
    """The seconds of the quickest tactic over those of the exact model; where none decided, the least time that one of
    them had, which is a lower bound."""
    if exact is None or not runs:
        return OPEN
    if len({run["machine"] for run in (exact, *runs)}) > 1:
        return TWO_MACHINES
    decided = [run for run in runs if run["decided"]]
    best = min(map(cost, decided or runs))
    return f"{'' if decided else AT_LEAST}{best / max(exact[part], 0.001):.3g}"


def seconds(run: dict[str, Any]) -> str:
    """Of the processor, and in brackets of the clock."""
    return f"{run['cpu_s']:.2f} ({run['wall_s']:.2f})"


def run_exact(graph: Graph, limit_s: float) -> dict[str, Any]:
    """The exact model for II and L."""
    began, to_ii = cpu_seconds(), 0.0

    def watch(event: Event) -> None:
        nonlocal to_ii
        if isinstance(event, Step):
            to_ii = cpu_seconds() - began

    options = SolveOptions(objective=OBJECTIVE, limit_s=WALL_FACTOR * limit_s)
    result = solve(graph, options, watch, out_of(limit_s))
    decided = result.status is Status.INFEASIBLE or all(level.proved for level in result.levels)
    decided = decided and result.status is not Status.UNKNOWN
    return {"decided": decided, "answer": exact_answer(graph, result), "ii_cpu_s": to_ii}


def run_searched(graph: Graph, limit_s: float) -> dict[str, Any]:
    """The same on the graph that the paper's model searches; its normalisation is in the seconds."""
    spent = out_of(limit_s)
    normalization = normalize(graph, DEFAULT_SUM, Budget(WALL_FACTOR * limit_s, spent))
    if normalization is None:
        return {"decided": False, "answer": "time-out", "ii_cpu_s": limit_s}
    return run_exact(without_streaming_latency(normalization.apply(graph)), limit_s)


def exact_answer(graph: Graph, result: SolveResult) -> str:
    """Status, II and L, with the gaps where they are not proved."""
    if result.schedule is None:
        return f"{result.status.value} (II ≥ {result.proved_lower_bound})"
    gaps = [f"{level.name.value} ≥ {level.bound}" for level in result.levels if not level.proved]
    found = f"{result.status.value}: {result.ii}, {length(graph, result.schedule)}"
    return f"{found} ({', '.join(gaps)})" if gaps else found


if __name__ == "__main__":
    main()
