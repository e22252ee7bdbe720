# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""One run of z3 on a system of Booleans that can be stopped at any moment."""

from __future__ import annotations

from core.solve.engine import Budget
from core.solve.events import Verdict
from core.solve.interrupt import interruptible

DEFAULT = "default"
TACTICS = (DEFAULT, "smt", "qffd", "sat")
"""Ways in which z3 solves: its own choice, the SMT core, the one for finite domains, and SAT."""
FASTEST = "sat"
"""Of these, on the attention loops."""


def run_z3(text: str, tactic: str, budget: Budget) -> tuple[Verdict, dict[str, bool]]:
    """The verdict on a system in SMT-LIB, and in a satisfiable one the values of its Booleans by name (those that any
    value suits are left out). UNKNOWN: the budget is spent, or the tactic gives up."""
    import z3

    if budget.seconds_left() <= 0:
        return Verdict.UNKNOWN, {}
    context = z3.Context()
    solver = z3.Solver(ctx=context) if tactic == DEFAULT else z3.Tactic(tactic, ctx=context).solver()

    def ask() -> z3.CheckSatResult:
        solver.from_string(text)
        return solver.check()

    answer = interruptible(ask, context.interrupt, lambda: budget.seconds_left() <= 0)
    if answer == z3.unsat:
        return Verdict.INFEASIBLE, {}
    if answer == z3.unknown:
        return Verdict.UNKNOWN, {}
    model = solver.model()
    return Verdict.FEASIBLE, {value.name(): z3.is_true(model[value]) for value in model.decls()}
