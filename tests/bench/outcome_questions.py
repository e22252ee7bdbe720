"""Questions to both models about one loop, and the answers as the table of outcomes writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.metrics import length
from core.solve.engine import Budget
from core.solve.events import Level, SolveOptions, SolveResult, Status, Verdict
from core.solve.paper.answer import ask_paper
from core.solve.solve import solve
from tests.bench.models import ORDER
from tests.bench.report import RESULTS, WALL_FACTOR, Kept, broken, cpu_seconds, machine, out_of


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
    """Both models, with so many seconds of the processor for each question."""

    limit_s: float
    _models: Kept = field(default_factory=lambda: Kept(RESULTS / "models.jsonl", resume=True))

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
        runs = [self._models.get(Kept.key(graph, f"paper {tactic}")) for tactic in ORDER]
        here = [run for run in runs if run and run["decided"] and run["machine"] == machine()]
        if not here:
            return self.paper_at(graph, None)
        best = min(here, key=lambda run: run["cpu_s"])
        return PaperSays(f"{best['answer']} of {best['unit']} cycles each; judge: {best['judge']}", best["cpu_s"])

    def paper_at(self, graph: Graph, ii: int | None) -> PaperSays:
        """Its verdict on one II in cycles of the loop; None: on the first that it finds."""
        began = cpu_seconds()
        budget = Budget(WALL_FACTOR * self.limit_s, out_of(self.limit_s))
        asked = ask_paper(graph, SolveOptions(ii=ii), budget)
        answer = None if asked is None else asked[0]
        spent = cpu_seconds() - began
        if answer is None or answer.verdict is Verdict.UNKNOWN:
            return PaperSays(f"time-out ({self.limit_s:g} s)", spent)
        text = answer.verdict.value
        if answer.attempts:
            text += f": {answer.attempts[-1].ii}, {answer.attempts[-1].length} of {answer.unit:.4g} cycles each"
        else:
            text += ": its modulo schedule has none"
        if answer.schedule is not None:
            text += f"; judge: {broken(answer.violations)}"
        return PaperSays(text, spent)


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
