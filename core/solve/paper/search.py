"""The paper's search: over II, and for each II over L within the same number of copies ceil(L / II).

Gap: a deeper pipeline at the same II (more copies) is never tried; the counterexample with a hand-off of one cycle
gets II 3 where II 1 is legal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.solve.engine import Budget
from core.solve.events import PaperAttempt, Verdict
from core.solve.paper.modulo import least_recurrence_ii, modulo_schedule
from core.solve.paper.smt import JointSystem
from core.solve.paper.z3_run import run_z3


@dataclass(frozen=True, slots=True)
class PaperResult:
    """FEASIBLE: the last attempt is satisfiable, and `placements` has start and warp group of each op.

    INFEASIBLE: no II that was asked for within the copies that the search tries. It is no proof for the loop.
    """

    verdict: Verdict
    attempts: tuple[PaperAttempt, ...]
    placements: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])


def least_ii(graph: Graph) -> int | None:
    """The II from which the search begins, as no less has a modulo schedule; None: none has."""
    by_units, by_recurrences = bounds(graph).res_mii, least_recurrence_ii(graph)
    return None if by_units is None or by_recurrences is None else max(by_units, by_recurrences)


def search(
    graph: Graph,
    intervals: range,
    budget: Budget,
    tactic: str,
    attempted: Callable[[PaperAttempt], None] = lambda attempt: None,
) -> PaperResult:
    """The paper's two loops over the given II, on the graph's cycles as they are (normalise them before)."""
    attempts: list[PaperAttempt] = []
    least = least_ii(graph)
    for ii in intervals if least is not None else ():
        if ii < (least or 1):
            continue
        schedule = modulo_schedule(graph, ii, budget)
        if schedule.verdict is Verdict.UNKNOWN:
            return PaperResult(Verdict.UNKNOWN, tuple(attempts))
        if schedule.verdict is Verdict.INFEASIBLE:
            continue
        copies = -(-schedule.length // ii)
        for length in range(schedule.length, copies * ii + 1):
            began = budget.seconds()
            system = JointSystem(graph, ii, length)
            verdict, values = run_z3(system.text, tactic, budget)
            attempts.append(PaperAttempt(ii, length, verdict, budget.seconds() - began))
            attempted(attempts[-1])
            if verdict is Verdict.FEASIBLE:
                return PaperResult(verdict, tuple(attempts), system.placements(values))
            if verdict is Verdict.UNKNOWN:
                return PaperResult(verdict, tuple(attempts))
    return PaperResult(Verdict.INFEASIBLE, tuple(attempts))
