"""What is asked again of the intervals that a solver alone excluded: z3's opinion, and whether a queue would help.

Neither changes the answer, so both come after it, in what is left of the limit. From the greatest interval down: there
the least II is decided, and where feasibility is monotone an interval confirmed confirms all below it. Queues are tried
at the greatest interval, where they help if they do anywhere, and at the least, to tell whether they help all the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from core.graph.model import Graph, Op
from core.solve.confirm import confirm
from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.events import Event, Progress, Queueing, SolveOptions, SolveResult, TrailEntry, Verdict
from core.solve.problem import make_problem, monotone

Z3 = "z3"

SHARE = 0.5
"""Part of the time left that one question may take, so that the others get a turn."""

QUEUE_S = 30.0
"""Seconds that one interval is tried with queues at most: a hint is not worth more waiting."""

_QUEUEING = {
    Verdict.FEASIBLE: Queueing.HELPS,
    Verdict.INFEASIBLE: Queueing.DOES_NOT_HELP,
    Verdict.UNKNOWN: Queueing.UNKNOWN,
}


def with_second_opinions(
    graph: Graph,
    result: SolveResult,
    options: SolveOptions,
    emit: Callable[[Event], None],
    stopped: Callable[[], bool],
) -> SolveResult:
    """The result, each interval that one solver excluded confirmed by z3 (`confirmed_by`) or left as it is, and with
    what a queue would change (`queueing`).

    Raises RuntimeError if z3 has a legal schedule where the solver saw none, an internal error.
    """
    budget = Budget(options.limit_s - result.seconds, stopped)
    asked = sorted((entry for entry in result.trail if entry.by_one_solver), key=lambda entry: -entry.ii)
    opinions: dict[TrailEntry, TrailEntry] = {}
    confirmed = False
    for entry in asked:
        confirmed = confirmed and monotone(graph)
        if not confirmed:
            confirmed = _confirmed(graph, _intervals(entry), budget)
            words = "excluded by z3 too" if confirmed else "z3 has no answer"
            emit(Progress(f"II {entry.ii}: {words}", result.seconds + budget.seconds()))
        queueing = None
        if entry in (asked[0], asked[-1]):
            queueing = _queueing(graph, entry, options.seed, budget)
            emit(Progress(f"II {entry.ii}: queueing {queueing.value}", result.seconds + budget.seconds()))
        opinions[entry] = replace(entry, confirmed_by=Z3 if confirmed else None, queueing=queueing)
    trail = tuple(opinions.get(entry, entry) for entry in result.trail)
    return replace(result, trail=trail, seconds=result.seconds + budget.seconds())


def with_queues(graph: Graph, cycles: int) -> Graph:
    """The graph with a queue of at least so many cycles for every asynchronous op."""

    def queued(op: Op) -> Op:
        return replace(op, queue=max(op.queue, cycles)) if op.asynchronous and op.blocks else op

    return replace(graph, ops={name: queued(op) for name, op in graph.ops.items()})


def _intervals(entry: TrailEntry) -> range:
    """All that the entry excludes, the greatest first."""
    return range(entry.ii, (entry.ii if entry.lowest is None else entry.lowest) - 1, -1)


def _confirmed(graph: Graph, intervals: Iterable[int], budget: Budget) -> bool:
    for ii in intervals:
        if budget.spent:
            return False
        opinion = confirm(graph, ii, limit_s=SHARE * budget.seconds_left(), stopped=lambda: budget.spent)
        if opinion.verdict is Verdict.FEASIBLE:
            raise RuntimeError(f"CP-SAT excludes an interval of {ii} cycles, for which z3 has a legal schedule")
        if opinion.verdict is Verdict.UNKNOWN:
            return False
    return True


def _queueing(graph: Graph, entry: TrailEntry, seed: int, budget: Budget) -> Queueing:
    queued = with_queues(graph, entry.ii)
    if queued == graph:
        return Queueing.DOES_NOT_HELP
    if budget.spent:
        return Queueing.UNKNOWN
    limited = Budget(min(QUEUE_S, SHARE * budget.seconds_left()), lambda: budget.spent)
    decider = Decider(make_problem(queued), limited, seed)
    if decider.find(entry.ii, SHARE * limited.work) is not None:
        return Queueing.HELPS
    return _QUEUEING[decider.decide(entry.ii).entry.verdict]
