"""A trial of a role program before anyone gets it: what would stop it or read something else on a GPU."""

from __future__ import annotations

from core.diagnostics import error
from core.export.roles.faults import Fault
from core.export.roles.model import Pipeline, RoleProgram
from core.export.roles.simulate import simulate
from core.export.roles.walk import walk

_ORDERS = 2
"""Orders in which roles advance and copies land, for each trip count."""


def first_fault(program: RoleProgram) -> Fault | None:
    """The first fault in a few runs: of one iteration, and of enough to pass through every part of each pipeline and
    fill every slot again. None also for a program with a loop whose end its body decides, which cannot be tried."""
    pipelines = [one for role in program.roles for one in walk(role.statements) if isinstance(one, Pipeline)]
    least = max((one.least + one.unroll for one in pipelines), default=0)
    deepest = max((ring.depth for ring in program.rings.values()), default=0)
    for trips in dict.fromkeys((1, least + deepest + 1)):
        for order in range(_ORDERS):
            try:
                faults = simulate(program, trips, order).faults
            except ValueError:
                return None
            if faults:
                return faults[0]
    return None


def refuse_faults(program: RoleProgram) -> None:
    """Raises InputError for a program with a fault, so that no such kernel is written."""
    fault = first_fault(program)
    if fault is not None:
        what = f"its role program fails a trial run ({fault.kind.value} on {fault.role}: {fault.message})"
        raise error("cannot-export", f"{what}; the export and not the schedule is at fault", file=program.module.file)
