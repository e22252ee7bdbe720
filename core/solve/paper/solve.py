"""`solve` by the paper's model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.solve.engine import Budget
from core.solve.events import (
    Done,
    Event,
    Incumbent,
    Level,
    LevelResult,
    PaperAttempt,
    Progress,
    SolveOptions,
    SolveResult,
    Status,
    TrailEntry,
    Verdict,
)
from core.solve.paper.answer import SEARCH_FACTOR, ask_paper


def solve_paper(
    graph: Graph, options: SolveOptions, emit: Callable[[Event], None], stopped: Callable[[], bool]
) -> SolveResult:
    """Solves with the paper's model, within the options' limits: `ii`, `max_ii`, `limit_s` and `seed` count.

    What the model says of its own system, in its own cycles, is in `paper` of the result; all else speaks of the graph.
    The schedule has the groups and orders of the paper's and the least II that they reach in cycles of the graph; there
    is none if the judge refuses it. The search proves nothing of the graph: its lower bound is that of arithmetic, and
    the status is `optimal` or `infeasible` where arithmetic alone says so, else `feasible` or, even where the paper's
    system has no solution, `unknown`. Raises KeyboardInterrupt as it comes.
    """
    budget = Budget(options.limit_s, stopped)

    def attempted(attempt: PaperAttempt) -> None:
        message = f"the paper's system at II {attempt.ii}, L {attempt.length}: {attempt.verdict.value}"
        emit(Progress(message, budget.seconds()))

    arithmetic = bounds(graph)
    greatest = options.ii or options.max_ii or SEARCH_FACTOR * (arithmetic.min_ii or 1)
    lower = greatest + 1 if arithmetic.lower_bound is None else arithmetic.lower_bound
    refuted = min(lower - 1, greatest)
    trail = [
        TrailEntry(refuted, Verdict.INFEASIBLE, budget.seconds(), certificate.family.value)
        for certificate in arithmetic.certificates[:1]
        if refuted
    ]
    asked = ask_paper(graph, options, budget, attempted=attempted)
    answer, schedule = (None, None) if asked is None else asked
    if schedule is not None and (answer is None or answer.raw_violations or schedule.ii > greatest):
        schedule = None
    if schedule is None:
        status = Status.INFEASIBLE if lower > greatest else Status.UNKNOWN
        result = SolveResult(status, None, lower, tuple(trail), (), budget.seconds(), None, paper=answer)
    else:
        ii = schedule.ii
        status = Status.OPTIMAL if lower >= ii else Status.FEASIBLE
        if schedule.origin is not None:
            schedule = replace(schedule, origin=replace(schedule.origin, status=status.value))
        levels = (LevelResult(Level.II, ii, lower, lower >= ii),)
        result = SolveResult(status, ii, lower, tuple(trail), levels, budget.seconds(), schedule, paper=answer)
        emit(Incumbent(schedule, result.seconds))
    emit(Done(result))
    return result
