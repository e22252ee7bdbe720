# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The paper's search: over II, and for each II over L within the same number of copies ceil(L / II).

Gap: a deeper pipeline at the same II (more copies) is never tried; the counterexample with a hand-off of one cycle
gets II 3 where II 1 is legal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.solve.events import Verdict
from core.solve.paper.modulo import Outcome, modulo_schedule

TACTICS = ("default", "smt", "qffd")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of z3: (II, L), its verdict, and the seconds that encoding and solving took."""

    ii: int
    length: int
    verdict: Verdict
    seconds: float


@dataclass(frozen=True, slots=True)
class PaperResult:
    """The first satisfiable (II, L); `placements` has start and warp group (0: variable latency) of each op."""

    verdict: Verdict
    ii: int | None
    length: int | None
    placements: dict[str, tuple[int, int]]
    attempts: tuple[Attempt, ...]
    seconds: float


def search(
    graph: Graph,
    *,
    max_ii: int,
    limit_s: float,
    tactic: str = TACTICS[0],
    attempted: Callable[[Attempt], None] | None = None,
) -> PaperResult:
    """The paper's two loops on the graph's cycles as they are (normalise them before). Deterministic but for time.

    INFEASIBLE means: no II up to `max_ii` within the copies that the search tries. It is no proof for the loop.
    """
    began = time.monotonic()
    attempts: list[Attempt] = []

    def left() -> float:
        return limit_s - (time.monotonic() - began)

    def result(verdict: Verdict, placements: dict[str, tuple[int, int]] | None = None) -> PaperResult:
        last = attempts[-1] if placements else None
        return PaperResult(
            verdict,
            last.ii if last else None,
            last.length if last else None,
            placements or {},
            tuple(attempts),
            time.monotonic() - began,
        )

    least = bounds(graph).min_ii
    if least is None:
        return result(Verdict.INFEASIBLE)
    for ii in range(max(1, least), max_ii + 1):
        schedule = modulo_schedule(graph, ii, left())
        if schedule.outcome is Outcome.INFEASIBLE:
            continue
        copies = -(-schedule.length // ii)
        for length in range(schedule.length, copies * ii + 1):
            if schedule.outcome is Outcome.UNKNOWN or left() <= 0:
                return result(Verdict.UNKNOWN)
            attempt, placements = _attempt(graph, ii, length, left(), tactic)
            attempts.append(attempt)
            if attempted:
                attempted(attempt)
            if attempt.verdict is not Verdict.INFEASIBLE:
                return result(attempt.verdict, placements)
    return result(Verdict.INFEASIBLE)


def _attempt(
    graph: Graph, ii: int, length: int, limit_s: float, tactic: str
) -> tuple[Attempt, dict[str, tuple[int, int]] | None]:
    import z3

    from core.solve.paper.smt import JointSystem

    began = time.monotonic()
    system = JointSystem(graph, ii, length)
    solver = z3.Tactic(tactic).solver() if tactic != "default" else z3.Solver()
    solver.set("timeout", max(1, int((limit_s - (time.monotonic() - began)) * 1000)))
    solver.add(system.constraints)
    answer = solver.check()
    placements = system.read(solver.model()) if answer == z3.sat else None
    verdict = {"sat": Verdict.FEASIBLE, "unsat": Verdict.INFEASIBLE}.get(str(answer), Verdict.UNKNOWN)
    return Attempt(ii, length, verdict, time.monotonic() - began), placements
