"""What is asked again of the intervals that a solver alone excluded: z3's opinion, and whether a queue would help.

Neither changes the answer, so both come after it, in what is left of the limit. From the greatest interval down: there
the least II is decided, and where feasibility is monotone an interval confirmed confirms all below it. Where it is not,
a range is asked of a relaxation for which it is, or interval by interval if they are few. Queues are tried at the
greatest interval, which decides the answer, and at the least, to tell whether they help all the way.
"""

from __future__ import annotations

from collections.abc import Callable
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

MOST_S = 40.0
"""Seconds for all of it at most: the answer is there and waits for this."""

MOST_INTERVALS = 16
"""Intervals of one range that are asked one by one."""

QUEUE_S = 10.0
"""Seconds that one interval is tried with queues at most: a hint is not worth more waiting."""

FINDING = 0.75
"""Part of that for a schedule with queues; the rest is for a proof that there is none."""

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
    budget = Budget(min(options.limit_s - result.seconds, MOST_S), stopped)
    asked = sorted((entry for entry in result.trail if entry.by_one_solver), key=lambda entry: -entry.ii)
    opinions: dict[TrailEntry, TrailEntry] = {}
    confirmed = below = False
    for entry in asked:
        if not below:
            confirmed, below = _confirmed(graph, entry, budget)
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


def without_late_blocks(graph: Graph) -> Graph | None:
    """A relaxation for which feasibility is monotone: the graph without blocks that begin after their op's start. None
    if pins of starts or queues stand in the way."""
    ops = {
        name: replace(op, blocks=tuple(block for block in op.blocks if not block.offset))
        for name, op in graph.ops.items()
    }
    relaxed = replace(graph, ops=ops)
    return relaxed if monotone(relaxed) else None


def _confirmed(graph: Graph, entry: TrailEntry, budget: Budget) -> tuple[bool, bool]:
    """Whether z3 excludes all that the entry does, and whether it excludes everything below as well."""
    if monotone(graph):
        excluded = _excluded(graph, entry.ii, budget)
        return excluded, excluded
    intervals = range(entry.ii, (entry.ii if entry.lowest is None else entry.lowest) - 1, -1)
    if len(intervals) > 1:
        relaxed = without_late_blocks(graph)
        if relaxed is not None and _verdict(relaxed, entry.ii, budget) is Verdict.INFEASIBLE:
            return True, True
    if len(intervals) > MOST_INTERVALS:
        return False, False
    return all(_excluded(graph, ii, budget) for ii in intervals), False


def _excluded(graph: Graph, ii: int, budget: Budget) -> bool:
    verdict = _verdict(graph, ii, budget)
    if verdict is Verdict.FEASIBLE:
        raise RuntimeError(f"CP-SAT excludes an interval of {ii} cycles, for which z3 has a legal schedule")
    return verdict is Verdict.INFEASIBLE


def _verdict(graph: Graph, ii: int, budget: Budget) -> Verdict:
    """z3's verdict within its share of the budget."""
    if budget.spent:
        return Verdict.UNKNOWN
    return confirm(graph, ii, limit_s=SHARE * budget.seconds_left(), stopped=lambda: budget.spent).verdict


def _queueing(graph: Graph, entry: TrailEntry, seed: int, budget: Budget) -> Queueing:
    queued = with_queues(graph, entry.ii)
    if queued == graph:
        return Queueing.DOES_NOT_HELP
    if budget.spent:
        return Queueing.UNKNOWN
    limited = Budget(min(QUEUE_S, SHARE * budget.seconds_left()), lambda: budget.spent)
    decider = Decider(make_problem(queued), limited, seed)
    if decider.find(entry.ii, FINDING * limited.work) is not None:
        return Queueing.HELPS
    return _QUEUEING[decider.decide(entry.ii).entry.verdict]
