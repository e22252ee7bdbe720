"""Solves the same graphs with both models and writes them side by side: seconds, II, L, verdicts.

    python -m tests.bench.models [--limit-s 1800] [--only NAME ...] [--again exact] [--out FILE]

The tactics of z3 share the limit of a graph: each gets an equal part of what those before it left, and no more than the
best before it took. Runs are kept beside the table (`models.jsonl`) and measured once, so that hours can be taken in
pieces; those of graphs that have changed since are measured again, and with `--again` those of that model, of what is
in the table.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.graph.model import Graph
from core.graph.read import load_graph
from core.schedule.metrics import length
from core.solve.engine import Budget
from core.solve.events import Event, Level, PaperAnswer, SolveOptions, SolveResult, Step, Verdict
from core.solve.paper.answer import ask_paper
from core.solve.paper.normalize import DEFAULT_SUM, normalize
from core.solve.paper.z3_run import DEFAULT, FASTEST
from core.solve.solve import solve
from tests.bench.report import (
    KERNELS,
    RESULTS,
    Kept,
    broken,
    cpu_seconds,
    environment,
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
    "exact, normalised: II, L",
    "CPU s (wall)",
    "paper, normalised: II, L",
    "cycles each",
    "CPU s (wall), tactic",
    "judge in its cycles",
    "its groups and orders in raw cycles",
    "factor",
    "factor, II alone",
    "factor, same costs",
)
NOTES = (
    "Exact: least II, then least L at it; `optimal` means that both are proved. Its seconds are those of all of it; to "
    "II: until the least II is proved, with a schedule that attains it. "
    f"Normalised: costs by the paper's integer program (sum at most {DEFAULT_SUM}); the exact model on them, with the "
    "loads' latencies, gives the like-for-like column. Paper: the first (II, L) of its search, normalisation, integer "
    "programs and encoding included; streaming loads have no latency in its L. It proves neither; what it misses, the "
    "judge says: of its schedule on the normalised graph, and of the same groups and orders with the cycles of the "
    "graph itself (II, then what is broken, with the number of places). Factor: CPU seconds of the paper's model with "
    "its quickest tactic over those of the exact one: in raw cycles for II and L, in raw cycles for II alone, and with "
    "the same normalised costs for II and L. Time-out: no "
    "tactic decided; the pair is where the first tactic stood, and the factor a lower bound, from the least time that "
    "a tactic was given."
)
ORDER = (FASTEST, DEFAULT, "qffd")
"""The tactics in turn: the rest have no more time than the first took."""
FIRST = ("attention_forward", "attention_backward", "fa_", "linear")
"""Names of what is measured first, in this order."""
CLAIMED = 20
"""Times that the exact model is to be faster."""
WALL_FACTOR = 20
"""The clock ends what the processor's time does not: this many times later."""
OBJECTIVE = (Level.II, Level.LENGTH)


@dataclass(frozen=True)
class Case:
    """A graph, the seconds for all its tactics together, and where its runs are kept."""

    name: str
    graph: Graph
    limit_s: float
    kept: Kept
    again: str | None


def main() -> None:
    """Runs all that is not kept and writes the table after each graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=1800.0, help="CPU seconds for one model on one graph")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="measure graphs whose name begins so")
    parser.add_argument("--again", choices=["exact", "paper"], help="measure this model anew on what is in the table")
    parser.add_argument("--out", type=Path, default=RESULTS / "models.md")
    options = parser.parse_args()
    kept = Kept(options.out.with_suffix(".jsonl"), resume=True)
    warm_up = load_graph(KERNELS / "figure_1.yaml")  # libraries are loaded on first use
    solve(warm_up, SolveOptions(objective=OBJECTIVE))
    ask_paper(warm_up, SolveOptions(), Budget(60.0, lambda: False))
    rows: dict[str, list[str]] = {}
    graphs = list(cases())
    for measuring in (False, True):  # what is kept already comes into the table first
        for name, graph in graphs:
            wanted = measuring and (not options.only or name.startswith(tuple(options.only)))
            done = kept.get(Kept.key(graph, "done")) is not None
            wanted = wanted and (done or options.again is None)
            case = Case(name, graph, options.limit_s, kept, options.again if wanted else None)
            if wanted or done:
                rows[name] = row(case)
                write_table(options.out, options.limit_s, [rows[name] for name, _ in graphs if name in rows])
            if wanted:
                print(*rows[name], sep="\t", flush=True)


def cases() -> Iterator[tuple[str, Graph]]:
    """The projects and the loops with known answers, attention first."""
    known = [(name, load_graph(KERNELS / f"{name}.yaml")) for name in PICKED]
    graphs = [*project_graphs(), *known]

    def rank(named: tuple[str, Graph]) -> tuple[int, bool]:
        name = named[0]
        first = next((n for n, start in enumerate(FIRST) if name.startswith(start)), len(FIRST))
        return first, "two_key_tiles" in name  # the largest of them takes longest

    yield from sorted(graphs, key=rank)


def write_table(out: Path, limit_s: float, rows: list[list[str]]) -> None:
    """The rows with where and how they were measured, and what they say of the claim."""
    limit = (
        f"Limit {limit_s:g} s of the processor for each model on a graph, shared by the tactics of z3 "
        f"({', '.join(ORDER)}): each has an equal part of what those before it left."
    )
    claims = "\n".join(claim(rows, column) for column in (-3, -2, -1))
    head = f"## The exact model is at least {CLAIMED} times faster on attention?"
    write(out, "# Both models on the same graphs", f"{environment()} {limit}", table(HEAD, rows), NOTES, head, claims)


def claim(rows: list[list[str]], column: int) -> str:
    """Where one of the factors is what is claimed, and where not."""
    attention = [row for row in rows if row[0].startswith(("attention", "fa_"))]
    holds = [row[0] for row in attention if float(row[column].removeprefix("≥ ")) >= CLAIMED]
    fails = [f"{row[0]} ({row[column]})" for row in attention if row[0] not in holds]
    found = f"{len(holds)} of {len(attention)}: {'; '.join(holds) or 'none'}"
    return f"- {HEAD[column]}: holds for {found}. Not for: {'; '.join(fails) or 'none'}."


def row(case: Case) -> list[str]:
    """Both models on one graph."""
    raw = measured(case, "exact", lambda: run_exact(case.graph, case.limit_s))
    normalised = measured(case, "exact normalised", lambda: run_normalised(case.graph, case.limit_s))
    paper = quickest(case)
    case.kept.put(Kept.key(case.graph, "done"), {})
    cells = [case.name, str(len(case.graph.ops)), raw["answer"], seconds(raw), f"{raw['ii_cpu_s']:.2f}"]
    cells += [normalised["answer"], seconds(normalised), paper["answer"], paper["unit"]]
    cells += [f"{seconds(paper)}, {paper['tactic']}", paper["judge"], paper["raw"]]
    least = "" if paper["decided"] else "≥ "
    factors = (paper["cpu_s"] / max(s, 0.001) for s in (raw["cpu_s"], raw["ii_cpu_s"], normalised["cpu_s"]))
    return [*cells, *(f"{least}{factor:.3g}" for factor in factors)]


def seconds(run: dict[str, Any]) -> str:
    """Of the processor, and in brackets of the clock."""
    return f"{run['cpu_s']:.2f} ({run['wall_s']:.2f})"


def measured(case: Case, what: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The run that is kept, or else one now, with its seconds."""
    key = Kept.key(case.graph, what)
    known = None if case.again and what.startswith(case.again) else case.kept.get(key)
    if known is not None:
        return known
    wall, cpu = time.perf_counter(), cpu_seconds()
    record = run()
    record = {"name": case.name, **record, "cpu_s": cpu_seconds() - cpu, "wall_s": time.perf_counter() - wall}
    return case.kept.put(key, record)


def run_exact(graph: Graph, limit_s: float) -> dict[str, Any]:
    """The exact model for II and L."""
    began, to_ii = cpu_seconds(), 0.0

    def watch(event: Event) -> None:
        nonlocal to_ii
        if isinstance(event, Step):
            to_ii = cpu_seconds() - began

    options = SolveOptions(objective=OBJECTIVE, limit_s=WALL_FACTOR * limit_s)
    result = solve(graph, options, watch, out_of(limit_s))
    return {"answer": exact_answer(graph, result), "ii_cpu_s": to_ii}


def run_normalised(graph: Graph, limit_s: float) -> dict[str, Any]:
    """The same on the paper's normalised costs."""
    spent = out_of(limit_s)
    normalization = normalize(graph, DEFAULT_SUM, Budget(WALL_FACTOR * limit_s, spent))
    return {"answer": "time-out"} if normalization is None else run_exact(normalization.apply(graph), limit_s)


def exact_answer(graph: Graph, result: SolveResult) -> str:
    """Status, II and L, with the gaps where they are not proved."""
    if result.schedule is None:
        return f"{result.status.value} (II ≥ {result.proved_lower_bound})"
    gaps = [f"{level.name.value} ≥ {level.bound}" for level in result.levels if not level.proved]
    found = f"{result.status.value}: {result.ii}, {length(graph, result.schedule)}"
    return f"{found} ({', '.join(gaps)})" if gaps else found


def quickest(case: Case) -> dict[str, Any]:
    """The paper's model with the tactic that decides soonest; where none does, with the first, and the least time that
    one was given."""
    runs: list[dict[str, Any]] = []
    left = case.limit_s
    for number, tactic in enumerate(ORDER):
        best = min((run["cpu_s"] for run in runs if run["decided"]), default=left)
        limit = min(best, left / (len(ORDER) - number))
        runs.append(measured(case, f"paper {tactic}", lambda t=tactic, s=limit: run_paper(case.graph, t, s)))
        left = max(0.0, left - runs[-1]["cpu_s"])
    decided = [run for run in runs if run["decided"]]
    if decided:
        return min(decided, key=lambda run: run["cpu_s"])
    return {**runs[0], "cpu_s": min(run["cpu_s"] for run in runs)}


def run_paper(graph: Graph, tactic: str, limit_s: float) -> dict[str, Any]:
    """The paper's model with one tactic."""
    asked = ask_paper(graph, SolveOptions(), Budget(WALL_FACTOR * limit_s, out_of(limit_s)), tactic=tactic)
    answer = None if asked is None else asked[0]
    return {"tactic": tactic, "limit_s": limit_s, **paper_cells(answer)}


def paper_cells(answer: PaperAnswer | None) -> dict[str, Any]:
    """What the table says of an answer."""
    if answer is None:
        return {"decided": False, "answer": "time-out", "unit": "-", "judge": "-", "raw": "-"}
    decided = answer.verdict is not Verdict.UNKNOWN
    last = f": {answer.attempts[-1].ii}, {answer.attempts[-1].length}" if answer.attempts else ""
    verdict = answer.verdict.value if decided else "time-out"
    cells = {"decided": decided, "answer": verdict + last, "unit": f"{answer.unit:.4g}", "judge": "-", "raw": "-"}
    if answer.schedule is not None:
        cells["judge"] = broken(answer.violations)
        cells["raw"] = "contradictory" if answer.raw_ii is None else f"{answer.raw_ii}: {broken(answer.raw_violations)}"
    return cells


if __name__ == "__main__":
    main()
