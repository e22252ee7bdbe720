"""The paper's model asked about a graph: normalised, searched, judged, and brought back to the graph's own cycles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.model import Schedule
from core.schedule.report import Family
from core.solve.engine import Budget
from core.solve.events import PaperAnswer, PaperAttempt, SolveOptions, Verdict
from core.solve.paper.normalize import DEFAULT_SUM, normalize
from core.solve.paper.result import paper_schedule
from core.solve.paper.retime import retimed
from core.solve.paper.search import least_ii, search
from core.solve.paper.streaming import without_streaming_latency
from core.solve.paper.z3_run import FASTEST

SEARCH_FACTOR = 4
"""Up to this multiple of the least II both models search if nothing else is asked."""


def ask_paper(
    graph: Graph,
    options: SolveOptions,
    budget: Budget,
    *,
    total: int = DEFAULT_SUM,
    tactic: str = FASTEST,
    attempted: Callable[[PaperAttempt], None] = lambda attempt: None,
) -> tuple[PaperAnswer, Schedule | None] | None:
    """The answer, and its schedule in cycles of the graph, whatever the judge says of it; None if the budget is spent
    before there is a normalised graph.

    `options`: an `ii` or `max_ii` in cycles of the graph is asked for in the nearest number of normalised ones.
    """
    normalization = normalize(graph, total, budget)
    if normalization is None:
        return None
    small = normalization.apply(graph)
    searched = without_streaming_latency(small)
    first, last = 1, SEARCH_FACTOR * (least_ii(searched) or 1)
    if options.max_ii is not None:
        last = max(1, round(options.max_ii * normalization.scale))
    if options.ii is not None:
        first = last = max(1, round(options.ii * normalization.scale))
    result = search(searched, range(first, last + 1), budget, tactic, attempted)
    answer = PaperAnswer(result.verdict, small, 1 / normalization.scale, normalization.error, result.attempts)
    if result.verdict is not Verdict.FEASIBLE:
        return answer, None
    schedule = paper_schedule(small, result, options.seed)
    answer = replace(answer, schedule=schedule, violations=_violations(small, schedule))
    # No shorter than what the search came to: what it never tried is not its own.
    raw = retimed(graph, small, schedule, max(options.ii or 1, int(schedule.ii / normalization.scale)))
    if raw is None:
        return answer, None
    return replace(answer, raw_ii=raw.ii, raw_violations=_violations(graph, raw)), raw


def _violations(graph: Graph, schedule: Schedule) -> Mapping[Family, int]:
    return Counter(violation.family for violation in check(graph, schedule).violations)
