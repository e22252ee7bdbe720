# pyright: reportUnknownMemberType=false
"""One run of CP-SAT that can be stopped at any moment, and the budget that all runs of a solve share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.solve.events import Verdict
from core.solve.interrupt import interruptible

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

WORK_PER_SECOND = 0.1
"""Deterministic work that CP-SAT does in a second at the least (measured on these models: 0.1 to 0.35), so that the
work, which is the same in every run, ends a search before the clock does."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of CP-SAT came to.

    `value`: of the objective in the best solution; `bound`: what it is at least (both None without an objective or
    without a solution); `values`: of expressions in that solution.
    """

    verdict: Verdict
    value: int | None = None
    bound: int | None = None
    values: Callable[[cp_model.LinearExprT], int] | None = None


class OutOfTimeError(Exception):
    """The budget was spent before there was anything to ask."""


class Budget:
    """What is left of a solve: deterministic work, the clock as its backstop, and the user's patience."""

    def __init__(self, limit_s: float, stopped: Callable[[], bool]) -> None:
        self._began = time.monotonic()
        self._limit_s = limit_s
        self._stopped = stopped
        self.work = WORK_PER_SECOND * limit_s

    def seconds(self) -> float:
        """Since the solve began."""
        return time.monotonic() - self._began

    def seconds_left(self) -> float:
        """0 or less if the clock has run out or the user wants no more."""
        return 0.0 if self._stopped() else self._limit_s - self.seconds()

    @property
    def spent(self) -> bool:
        """Whether nothing more can be asked."""
        return self.work <= 0 or self.seconds_left() <= 0

    def check(self) -> None:
        """Raises OutOfTimeError if nothing more can be asked."""
        if self.spent:
            raise OutOfTimeError


HALVE_AFTER = 1000
"""Conflicts of a search after which CP-SAT is asked for an objective in the middle between its bound and the best,
again and again. Most lengths, say, are excluded by the starts that they leave room for, so halving needs few
questions, and these share a model and what was learnt."""


def run(cp: cp_model.CpModel, seed: int, work: float, budget: Budget, halve_after: int = HALVE_AFTER) -> Run:
    """Solves within `work` units of deterministic time and the budget, which it charges.

    `halve_after`: conflicts, as `HALVE_AFTER` says; of no effect without an objective.

    Raises KeyboardInterrupt as it comes, once the search is over.
    """
    from ortools.sat.python import cp_model

    seconds = budget.seconds_left()
    if budget.work <= 0 or seconds <= 0:
        return Run(Verdict.UNKNOWN)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    # The model has its own cuts; the linear relaxation, probing, presolve, and inprocessing between restarts cost more
    # than they save: without the last two all levels of all projects take a third of the time.
    solver.parameters.linearization_level = 0
    solver.parameters.cp_model_probing_level = 0
    solver.parameters.cp_model_presolve = False
    solver.parameters.use_sat_inprocessing = False
    solver.parameters.binary_search_num_conflicts = halve_after
    solver.parameters.max_deterministic_time = min(work, budget.work)
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.catch_sigint_signal = False
    status = interruptible(lambda: solver.solve(cp), solver.stop_search, lambda: budget.seconds_left() <= 0)
    budget.work -= solver.deterministic_time
    return _read(solver, status, cp.has_objective())


def _read(solver: cp_model.CpSolver, status: cp_model.CpSolverStatus, has_objective: bool) -> Run:
    from ortools.sat.python import cp_model

    if status == cp_model.MODEL_INVALID:
        raise RuntimeError("CP-SAT calls the model invalid")
    if status == cp_model.INFEASIBLE:
        return Run(Verdict.INFEASIBLE)
    bound = round(solver.best_objective_bound) if has_objective else None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Run(Verdict.UNKNOWN, bound=bound)
    value = round(solver.objective_value) if has_objective else None
    return Run(Verdict.FEASIBLE, value, bound, solver.value)
