"""Runs of a model on a graph, kept on disk and measured once; the paper's with each tactic of z3 in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from core.graph.model import Graph
from core.solve.engine import Budget
from core.solve.events import PaperAnswer, SolveOptions, Verdict
from core.solve.paper.answer import ask_paper
from core.solve.paper.z3_run import DEFAULT, FASTEST
from tests.bench.report import WALL_FACTOR, Kept, broken, cpu_seconds, machine, out_of, today

ORDER = (FASTEST, DEFAULT, "qffd")
"""The tactics in turn: the rest have no more time than the first took."""
ALIKE = 0.99
"""Of a limit: as much is the same."""


class Measure(Enum):
    """Which runs of a graph are measured now; the others are those that are kept."""

    NOTHING = "nothing"
    MISSING = "missing"
    """And what was run on another machine, or ended without a verdict under a lower limit."""
    EXACT = "exact"
    PAPER = "paper"


@dataclass(frozen=True)
class Case:
    """A graph, the seconds for all its tactics together, and where its runs are kept. `ii`: in cycles of the graph, if
    the paper's model is asked of it alone."""

    name: str
    graph: Graph
    limit_s: float
    kept: Kept
    measure: Measure
    ii: int | None = None

    def known(self, what: str) -> dict[str, Any] | None:
        """The run that is kept."""
        return self.kept.get(Kept.key(self.graph, what))


def measured(case: Case, what: str, limit_s: float, run: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """The run that is kept, or else one now, with its seconds; None if it is not to be measured now."""
    known = case.known(what)
    match case.measure:
        case Measure.MISSING:
            if known is None or known["machine"] != machine():
                enough = False
            else:
                enough = known["decided"] or known["limit_s"] >= ALIKE * limit_s
        case Measure.NOTHING:
            enough = True
        case _:
            enough = not what.startswith(case.measure.value)
    if enough:
        return known
    wall, cpu = time.perf_counter(), cpu_seconds()
    found = run()
    record = {"name": case.name, "limit_s": limit_s, **found, "machine": machine(), "date": today()}
    record |= {"cpu_s": cpu_seconds() - cpu, "wall_s": time.perf_counter() - wall}
    return case.kept.put(Kept.key(case.graph, what), record)


def paper_runs(case: Case) -> list[dict[str, Any]]:
    """The paper's model with each tactic, as far as measured. They share the limit: each gets an equal part of what
    those before it left, and no more than the best took."""
    at = "" if case.ii is None else f" at {case.ii}"
    runs: list[dict[str, Any]] = []
    best, left = case.limit_s, case.limit_s
    if case.measure is not Measure.PAPER:
        kept = [case.known(f"paper {tactic}{at}") for tactic in ORDER]
        decided = [run for run in kept if run and run["decided"] and run["machine"] == machine()]
        best = min([best, *map(cost, decided)])
    for number, tactic in enumerate(ORDER):
        limit = min(best, left / (len(ORDER) - number))
        run = measured(case, f"paper {tactic}{at}", limit, lambda t=tactic, s=limit: run_paper(case, t, s))
        if run is None:
            continue
        runs.append(run)
        left = max(0.0, left - cost(run))
        if run["decided"]:
            best = min(best, cost(run))
    return runs


def run_paper(case: Case, tactic: str, limit_s: float) -> dict[str, Any]:
    """The paper's model with one tactic."""
    asked = ask_paper(
        case.graph, SolveOptions(ii=case.ii), Budget(WALL_FACTOR * limit_s, out_of(limit_s)), tactic=tactic
    )
    return {"tactic": tactic, **paper_answer(None if asked is None else asked[0])}


def paper_answer(answer: PaperAnswer | None) -> dict[str, Any]:
    """What the table says of an answer."""
    if answer is None:
        return {"decided": False, "answer": "time-out", "unit": "-", "judge": "-", "raw": "-"}
    decided = answer.verdict is not Verdict.UNKNOWN
    last = f": {answer.attempts[-1].ii}, {answer.attempts[-1].length}" if answer.attempts else ""
    verdict = answer.verdict.value if decided else "time-out"
    cells: dict[str, Any] = {
        "decided": decided,
        "answer": verdict + last,
        "unit": f"{answer.unit:.4g}",
        "judge": "-",
        "raw": "-",
    }
    cells["z3_wall_s"] = sum(attempt.seconds for attempt in answer.attempts)
    if answer.schedule is not None:
        cells["judge"] = broken(answer.violations)
        cells["raw"] = "contradictory" if answer.raw_ii is None else f"{answer.raw_ii}: {broken(answer.raw_violations)}"
    return cells


def cost(run: dict[str, Any]) -> float:
    """Seconds of the processor."""
    return run["cpu_s"]
