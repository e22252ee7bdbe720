# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
"""One run of an integer program by SCIP, through OR-tools, that can be stopped at any moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.solve.engine import Budget
from core.solve.events import Verdict
from core.solve.interrupt import interruptible

if TYPE_CHECKING:
    from ortools.linear_solver import pywraplp


def scip() -> pywraplp.Solver:
    """An empty program."""
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("SCIP")
    if solver is None:
        raise RuntimeError("this build of OR-tools has no SCIP")
    return solver


def run_program(solver: pywraplp.Solver, budget: Budget) -> Verdict:
    """FEASIBLE: solved to the optimum, or to any solution if there is no objective. UNKNOWN: the budget is spent."""
    if budget.seconds_left() <= 0:
        return Verdict.UNKNOWN
    status = interruptible(
        lambda: int(solver.Solve()), lambda: solver.InterruptSolve(), lambda: budget.seconds_left() <= 0
    )
    return {solver.OPTIMAL: Verdict.FEASIBLE, solver.INFEASIBLE: Verdict.INFEASIBLE}.get(status, Verdict.UNKNOWN)
