# pyright: reportUnknownMemberType=false
"""One run of CP-SAT that can be stopped at any moment, and the configurations that take turns at a question."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.solve.events import Verdict

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Configuration:
    """Parameters of CP-SAT that differ between the runs that take turns."""

    presolve: bool = True
    probing: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of CP-SAT came to: its verdict, whether its objective (if it has one) is proved least or there is
    nothing, the objective's value, and the values of expressions in its solution."""

    verdict: Verdict
    optimal: bool
    value: int | None
    values: Callable[[cp_model.LinearExprT], int] | None


class Clock:
    """The wall-clock backstop of a solve and the user's wish to stop it."""

    def __init__(self, limit_s: float, stopped: Callable[[], bool]) -> None:
        self._began = time.monotonic()
        self._limit_s = limit_s
        self._stopped = stopped

    def seconds(self) -> float:
        """Since the solve began."""
        return time.monotonic() - self._began

    def left(self) -> float:
        """Seconds that are left, 0 or less if there are none or if the user wants no more."""
        return 0.0 if self._stopped() else self._limit_s - self.seconds()


def turns(seed: int, work: float) -> Iterator[tuple[Configuration, float]]:
    """Configurations in turn with growing limits of deterministic work, up to `work` in one run.

    Which configuration finds a schedule quickly is a matter of luck (0.3 to 8 s on one loop), so short turns come
    first; a fixed order keeps the result the same in every run.
    """
    budget = min(0.5, work)
    while True:
        yield Configuration(probing=0, seed=seed), budget
        yield Configuration(seed=seed + 1), budget
        yield Configuration(presolve=False, seed=seed), budget
        if budget >= work:
            return
        budget = min(4 * budget, work)


def run(cp: cp_model.CpModel, configuration: Configuration, work: float, clock: Clock) -> Run:
    """Solves within `work` units of deterministic time and the clock. KeyboardInterrupt stops the search and goes on.

    CP-SAT runs on a thread of its own, since only a caller that is not inside it can stop it; a stop that comes
    before the search has begun is lost, so it is repeated until the search is over.
    """
    from ortools.sat.python import cp_model

    if clock.left() <= 0:
        return Run(Verdict.UNKNOWN, False, None, None)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 0
    solver.parameters.cp_model_presolve = configuration.presolve
    solver.parameters.cp_model_probing_level = configuration.probing
    solver.parameters.random_seed = configuration.seed
    solver.parameters.max_deterministic_time = work
    solver.parameters.max_time_in_seconds = clock.left()
    solver.parameters.catch_sigint_signal = False
    outcome: list[int | BaseException] = []

    def search() -> None:
        try:
            outcome.append(solver.solve(cp))
        except BaseException as fault:
            outcome.append(fault)

    thread = threading.Thread(target=search, name="cp-sat", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_S)
            if clock.left() <= 0:
                solver.stop_search()
    except BaseException:
        while thread.is_alive():
            solver.stop_search()
            thread.join(POLL_S)
        raise
    (status,) = outcome
    if isinstance(status, BaseException):
        raise status
    return _read(solver, status, cp.has_objective())


def _read(solver: cp_model.CpSolver, status: int, has_objective: bool) -> Run:
    from ortools.sat.python import cp_model

    if status == cp_model.MODEL_INVALID:
        raise RuntimeError("CP-SAT calls the model invalid")
    if status == cp_model.INFEASIBLE:
        return Run(Verdict.INFEASIBLE, True, None, None)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Run(Verdict.UNKNOWN, False, None, None)
    value = round(solver.objective_value) if has_objective else None
    return Run(Verdict.FEASIBLE, status == cp_model.OPTIMAL, value, solver.value)
