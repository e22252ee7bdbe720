"""Solves the same graphs with both models and writes them side by side: seconds, II, L, verdicts.

    python tests/bench/models.py [--limit-s 1800] [--only NAME ...] [--out FILE]

The paper's model runs once with each tactic of z3; the quickest that decides is reported. A run is given no more time
than the best before it took.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from report import KERNELS, RESULTS, broken, environment, kernel_graphs, project_graphs, table, write

from core.graph.model import Graph
from core.graph.read import load_graph
from core.schedule.metrics import length
from core.solve.engine import Budget
from core.solve.events import Level, PaperAnswer, SolveOptions, SolveResult, Verdict
from core.solve.paper.answer import ask_paper
from core.solve.paper.z3_run import TACTICS
from core.solve.solve import solve

HEAD = (
    "graph",
    "ops",
    "exact",
    "II",
    "L",
    "s",
    "paper",
    "its II, L",
    "cycles of the graph each",
    "s, tactic",
    "judge in its cycles",
    "its groups and orders in cycles of the graph",
    "factor",
)
NOTES = (
    "Exact: least II, then least L at it, both with their proofs, in cycles of the graph; its seconds are those of all "
    "of it. Paper: the first (II, L) of its search in normalised cycles (sum of costs at most 300), normalisation, "
    "integer programs and encoding included; streaming loads have no latency in its L. It proves neither; what it "
    "misses, the judge says: of its schedule on the normalised graph, and of the same groups and orders with the "
    "graph's own cycles (II, then what is broken). Factor: seconds of the paper's model over those of the exact one. "
    "A time-out of the paper's model is given with the limit, and the factor as a lower bound."
)


@dataclass(frozen=True)
class PaperRun:
    """The quickest run of the paper's model, or the first where none decides within the limit."""

    answer: PaperAnswer | None
    seconds: float
    tactic: str

    @property
    def decided(self) -> bool:
        return self.answer is not None and self.answer.verdict is not Verdict.UNKNOWN


def main() -> None:
    """Runs all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=1800.0, help="seconds for one model on one graph")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="graphs whose name begins so")
    parser.add_argument("--out", type=Path, default=RESULTS / "models.md")
    options = parser.parse_args()
    row("warm up", load_graph(KERNELS / "figure_1.yaml"), options.limit_s)  # libraries are loaded on first use
    rows: list[list[str]] = []
    for name, graph in (*kernel_graphs(), *project_graphs()):
        if not options.only or name.startswith(tuple(options.only)):
            rows.append(row(name, graph, options.limit_s))
            print(*rows[-1], sep="\t", flush=True)
    limit = f"Limit {options.limit_s:g} s for each run; tactics of z3: {', '.join(TACTICS)}."
    write(options.out, "# Both models on the same graphs", f"{environment()} {limit}", table(HEAD, rows), NOTES)


def row(name: str, graph: Graph, limit_s: float) -> list[str]:
    """Both models on one graph."""
    exact = solve(graph, SolveOptions(objective=(Level.II, Level.LENGTH), limit_s=limit_s))
    paper = run_paper(graph, limit_s)
    exact_l = "-" if exact.schedule is None else str(length(graph, exact.schedule))
    cells = [name, str(len(graph.ops)), exact.status.value, str(exact.ii or "-"), exact_l, f"{exact.seconds:.2f}"]
    answer = paper.answer
    if answer is None or not paper.decided:
        return [*cells, "time-out", "-", "-", f"> {limit_s:g}", "-", "-", factor(exact, limit_s, at_least=True)]
    last = f"{answer.attempts[-1].ii}, {answer.attempts[-1].length}" if answer.attempts else "-"
    cells += [answer.verdict.value, last, f"{answer.unit:.4g}", f"{paper.seconds:.2f}, {paper.tactic}"]
    if answer.schedule is None:
        cells += ["-", "-"]
    else:
        raw = "contradictory" if answer.raw_ii is None else f"{answer.raw_ii}: {broken(answer.raw_violations)}"
        cells += [broken(answer.violations), raw]
    return [*cells, factor(exact, paper.seconds, at_least=False)]


def factor(exact: SolveResult, seconds: float, *, at_least: bool) -> str:
    """How many times longer the paper's model takes."""
    return f"{'≥ ' if at_least else ''}{seconds / exact.seconds:.2g}"


def run_paper(graph: Graph, limit_s: float) -> PaperRun:
    """The paper's model with each tactic in turn."""
    best: PaperRun | None = None
    for tactic in TACTICS:
        decided = best is not None and best.decided
        budget = Budget(best.seconds if best is not None and decided else limit_s, lambda: False)
        asked = ask_paper(graph, SolveOptions(), budget, tactic=tactic)
        run = PaperRun(asked and asked[0], budget.seconds(), tactic)
        if best is None or run.decided:
            best = run
    assert best is not None, "there is at least one tactic"
    return best


if __name__ == "__main__":
    main()
