# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Asking z3 whether a graph has a legal schedule at one initiation interval."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.model import Schedule
from core.solve.confirm.reading import periods, read_schedule
from core.solve.confirm.system import System
from core.solve.engine import OutOfTimeError
from core.solve.events import Verdict
from core.solve.interrupt import interruptible

FIRST_COUNTED = 3
"""Copies of a value that are counted at first; a schedule that needs more has them counted."""

MEMORY_MEGABYTES = 4096


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The second opinion. UNKNOWN: no answer within the limits of time and memory. `schedule` has passed the judge."""

    verdict: Verdict
    seconds: float
    schedule: Schedule | None = None


def confirm(
    graph: Graph,
    ii: int,
    *,
    stages: int | None = None,
    limit_s: float,
    stopped: Callable[[], bool] = lambda: False,
) -> Confirmation:
    """Whether the graph has a legal schedule at this II: of any number of stages, or with all starts in
    [0, stages * II). `stopped` is asked now and then.

    A proof by z3 alone: no bound of `core.schedule.bounds` and nothing of the CP-SAT model goes into it. Values and
    result can be pickled, so that it can run in a process of its own. Raises RuntimeError if the judge refuses what
    z3 found, which is an error of this package.
    """
    began = time.monotonic()
    counted = dict.fromkeys(graph.ops, FIRST_COUNTED)

    def check_time() -> None:
        if stopped() or time.monotonic() >= began + limit_s:
            raise OutOfTimeError

    while True:
        try:
            system = System(graph, ii, stages, counted, check_time)
        except OutOfTimeError:
            return Confirmation(Verdict.UNKNOWN, time.monotonic() - began)
        verdict, values = _ask(system.text, began + limit_s, stopped)
        if verdict is not Verdict.FEASIBLE:
            return Confirmation(verdict, time.monotonic() - began)
        schedule = read_schedule(graph, system, values)
        report = check(graph, schedule)
        if report.legal:
            return Confirmation(verdict, time.monotonic() - began, schedule)
        uncounted = {value: n for value, n in periods(graph, schedule).items() if n > counted[value]}
        if not uncounted:
            raise RuntimeError(f"z3 proposes what is not legal: {report.violations[0].message}")
        counted |= uncounted


def _ask(text: str, deadline: float, stopped: Callable[[], bool]) -> tuple[Verdict, dict[str, int]]:
    """The verdict on a system by a time of the monotonic clock, and the values of its integers and Booleans by name
    if it is satisfiable."""
    import z3

    context = z3.Context()
    solver = z3.SimpleSolver(ctx=context)
    # Of the arithmetic solvers, the one for difference logic by Bellman and Ford proves fastest.
    solver.set("smt.arith.solver", 1)
    solver.set("max_memory", MEMORY_MEGABYTES)

    def is_over() -> bool:
        return stopped() or time.monotonic() >= deadline

    def ask() -> z3.CheckSatResult:
        solver.from_string(text)
        return z3.unknown if is_over() else solver.check()

    try:
        answer = interruptible(ask, context.interrupt, is_over)
    except z3.Z3Exception as error:
        if "memory" not in str(error) and not is_over():
            raise
        return Verdict.UNKNOWN, {}
    if answer == z3.unsat:
        return Verdict.INFEASIBLE, {}
    if answer == z3.unknown:
        return Verdict.UNKNOWN, {}
    model = solver.model()
    values: dict[str, int] = {}
    for constant in model.decls():
        value = model[constant]
        values[constant.name()] = value.as_long() if isinstance(value, z3.IntNumRef) else int(z3.is_true(value))
    return Verdict.FEASIBLE, values
