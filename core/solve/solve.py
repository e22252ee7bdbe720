"""The solvers' front. The exact one: least II with proof, then the lexicographic levels, then second opinions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.graph.model import Graph
from core.schedule.model import Schedule
from core.solve.best import further_optima
from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.events import Done, Event, Level, LevelResult, ModelName, Solved, SolveOptions, SolveResult, Status
from core.solve.levels import Levels
from core.solve.problem import make_problem
from core.solve.search import Search
from core.solve.second_opinion import with_second_opinions


def solve(
    graph: Graph,
    options: SolveOptions,
    emit: Callable[[Event], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> SolveResult:
    """Solves the graph with the options' model, within their limits. `emit` gets every event, `stopped` is asked now
    and then.

    The same graph, options and versions give the same schedule unless the clock ends the search. Raises
    KeyboardInterrupt as it comes, and RuntimeError if the judge refuses a schedule (an internal error).
    """
    emit, stopped = emit or _ignore, stopped or _never
    if options.model is ModelName.PAPER:
        from core.solve.paper.solve import solve_paper

        return solve_paper(graph, options, emit, stopped)
    budget = Budget(options.limit_s, stopped)
    decider = Decider(make_problem(graph), budget, options.seed)
    search = Search(decider, options, emit)
    search.run()
    schedule = search.schedule
    levels: tuple[LevelResult, ...] = ()
    schedules: tuple[Schedule, ...] = ()
    complete = False
    if schedule is not None:
        reached = LevelResult(Level.II, schedule.ii, search.lower, search.lower >= schedule.ii)
        polish = Levels(decider, schedule, emit)
        levels = (reached, *polish.run([level for level in options.objective if level is not Level.II]))
        schedule = polish.schedule
        if options.best > 1:
            schedules, complete = further_optima(decider, polish.optima, schedule, options.best, emit)
    status = search.status
    if schedule is not None:
        schedule = _with_status(schedule, status)
    result = SolveResult(
        status,
        None if schedule is None else schedule.ii,
        search.lower,
        tuple(search.trail),
        levels,
        budget.seconds(),
        schedule,
        tuple(_with_status(one, status) for one in schedules),
        schedules_complete=complete,
    )
    emit(Done(result))
    return result


def answer(
    graph: Graph,
    options: SolveOptions,
    emit: Callable[[Event], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> SolveResult:
    """As `solve`, and if wanted in what is left of the limit z3's second opinion on what a solver alone excluded and
    whether a queue would help there; the answer is told before (Solved)."""
    if not options.second_opinions:
        return solve(graph, options, emit, stopped)
    emit, stopped = emit or _ignore, stopped or _never

    def emit_until_done(event: Event) -> None:
        if not isinstance(event, Done):
            emit(event)

    first = solve(graph, options, emit_until_done, stopped)
    emit(Solved(first))
    result = with_second_opinions(graph, first, options, emit, stopped)
    emit(Done(result))
    return result


def _with_status(schedule: Schedule, status: Status) -> Schedule:
    origin = schedule.origin
    return schedule if origin is None else replace(schedule, origin=replace(origin, status=status.value))


def _ignore(event: Event) -> None:
    """Nobody listens."""


def _never() -> bool:
    return False
