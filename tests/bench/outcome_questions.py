"""Questions to both models about one loop, and the answers as the table of outcomes writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.metrics import length
from core.solve.events import Level, SolveOptions, SolveResult, Status
from core.solve.solve import solve
from tests.bench.model_runs import ALIKE, Case, Measure, cost, paper_runs
from tests.bench.report import RESULTS, WALL_FACTOR, Kept, cpu_seconds, machine, out_of


@dataclass(frozen=True, slots=True)
class PaperSays:
    """What the paper's model answers, in words, and the seconds that it took."""

    text: str
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Line:
    """One question: the loop, the exact model's answer, what was to hold of it and whether it does, and the paper's
    answer (None: it was not asked, as `why` says). `why`: the reason of a difference, or a remark."""

    loop: str
    exact: str
    exact_s: float
    claims: Mapping[str, bool]
    paper: PaperSays | None = None
    why: str = ""


@dataclass(frozen=True)
class Asker:
    """Both models, with so many seconds of the processor for each question. `kept`: the paper's runs of these
    questions; `models`: those of the table of both models."""

    limit_s: float
    kept: Kept
    models: Kept = field(default_factory=lambda: Kept(RESULTS / "models.jsonl", resume=True))

    def exact(self, graph: Graph, *levels: Level, ii: int | None = None) -> tuple[SolveResult, float]:
        """Least II, or `ii` alone, and then these levels; a schedule in the result is legal."""
        began = cpu_seconds()
        options = SolveOptions(objective=(Level.II, *levels), ii=ii, limit_s=WALL_FACTOR * self.limit_s)
        result = solve(graph, options, None, out_of(self.limit_s))
        spent = cpu_seconds() - began
        if result.schedule is not None and not check(graph, result.schedule).legal:
            raise SystemExit(f"{graph.name}: the judge refuses the schedule")
        return result, spent

    def paper(self, graph: Graph) -> PaperSays:
        """The first (II, L) of its search."""
        kept = paper_runs(Case(graph.name, graph, self.limit_s, self.models, Measure.NOTHING))
        here = [run for run in kept if run["machine"] == machine()]
        spent = sum(run["limit_s"] for run in here)
        if any(run["decided"] for run in here) or spent >= ALIKE * self.limit_s:
            return paper_says(here)
        return self.paper_at(graph, None)

    def paper_at(self, graph: Graph, ii: int | None) -> PaperSays:
        """Its verdict on one II in cycles of the loop; None: on the first that it finds."""
        return paper_says(paper_runs(Case(graph.name, graph, self.limit_s, self.kept, Measure.MISSING, ii)))


def paper_says(runs: Sequence[dict[str, Any]]) -> PaperSays:
    """With the tactic that decided soonest, or that none did."""
    decided = [run for run in runs if run["decided"]]
    if not decided:
        limits = ", ".join(f"{run['tactic']} {run['limit_s']:.0f} s" for run in runs)
        return PaperSays(f"time-out ({limits})", sum(run["cpu_s"] for run in runs))
    best = min(decided, key=cost)
    if ":" not in best["answer"]:
        return PaperSays(f"{best['answer']}: its modulo schedule has none", cost(best))
    text = f"{best['answer']} of {best['unit']} cycles each"
    return PaperSays(text if best["judge"] == "-" else f"{text}; judge: {best['judge']}", cost(best))


def answer_text(graph: Graph, result: SolveResult) -> str:
    """Status, II and, where it was minimised, L; what is not proved."""
    if result.schedule is None:
        return f"{result.status.value} (II ≥ {result.proved_lower_bound})"
    text = f"{result.status.value}: {result.ii}"
    if any(level.name is Level.LENGTH for level in result.levels):
        text += f", {length(graph, result.schedule)}"
    gaps = [f"{level.name.value} ≥ {level.bound}" for level in result.levels if not level.proved]
    return f"{text} ({', '.join(gaps)})" if gaps else text


def proved(result: SolveResult) -> bool:
    """Least II and every level that was asked for."""
    return result.status is Status.OPTIMAL and all(level.proved for level in result.levels)


def value(result: SolveResult, name: Level) -> int:
    """Of a level."""
    return next(level.value for level in result.levels if level.name is name)
