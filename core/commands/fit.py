"""`twill solve --fit nvcc`: schedules whose kernel nvcc builds without spills and serialised matrix ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core.commands.answers import UsageError, table
from core.diagnostics import Severity, error
from core.export.cuda.folder import export_schedules
from core.export.roles.places import ScheduledLoop
from core.graph.model import Graph
from core.ir.tiles import Category
from core.project.opened import OpenProject
from core.schedule.variations import with_register_overhead
from core.solve.events import SolveOptions, SolveResult, Status
from core.solve.kernel import KernelResult, Solver
from core.toolchain.build import KERNEL, compile_kernel, compile_roles, description_of
from core.toolchain.fit import SHORTAGES, Trial, overheads
from core.toolchain.nvcc import DEFAULT_ARCHITECTURE, Nvcc
from core.toolchain.role_needs import role_needs


@dataclass(frozen=True, slots=True)
class Found:
    """What solving an input gave: its loops, their graphs, and the answer for all of them; a single loop is a kernel of
    one."""

    opened: Mapping[str, OpenProject]
    graphs: Mapping[str, Graph]
    result: KernelResult


@dataclass(frozen=True, slots=True)
class Fit:
    """What was built on the way to the answer, the last one cleanly if it is a schedule."""

    nvcc: Nvcc
    trials: tuple[Trial, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"nvcc": self.nvcc.version, "trials": [trial.as_json() for trial in self.trials]}

    def text(self) -> str:
        """The same for people."""
        head = ("kept back", "II", "nvcc", "roles alone, of what they are given")
        rows = [
            (one.overhead, ", ".join(map(str, one.ii)), ", ".join(one.faults) or "builds it cleanly", _needs(one))
            for one in self.trials
        ]
        return table(head, rows)


SolveWith = Callable[[Solver, SolveOptions], Found]
"""Solves an input with a solver of single graphs, within limits."""


def solve_to_fit(
    name: str, solve: SolveWith, solver: Solver, options: SolveOptions, nvcc: Nvcc, clock: Callable[[], float]
) -> tuple[Found, Fit]:
    """Solves, builds, and solves again with more registers kept back while the kernel is short of them, within the
    limit for all of it.

    The answer is the first schedule that builds cleanly, OPTIMAL if its II is least with nothing more kept back too;
    no schedule, INFEASIBLE, if none is left; none, UNKNOWN, if the limit is reached before. Raises UsageError for a
    graph without text, InputError for a kernel that nvcc refuses for other reasons.
    """
    end, trials = clock() + options.limit_s, list[Trial]()
    options = replace(options, best=1, second_opinions=False)  # both would take what is left of the limit
    first = found = solve(solver, options)
    overhead = max(graph.machine.registers.overhead for graph in found.graphs.values())
    while loops := _loops(found):
        trials.append(_built(name, loops, overhead, nvcc))
        if trials[-1].clean:
            return _seen_from(first, found), Fit(nvcc, tuple(trials))
        found = _withdrawn(found)
        for overhead in overheads(trials[-1]):
            left = end - clock()
            if left <= 0:
                return _withdrawn(found), Fit(nvcc, tuple(trials))
            found = solve(_keeping_back(overhead, solver), replace(options, limit_s=left))
            if found.result.status is not Status.INFEASIBLE:
                break
    return found, Fit(nvcc, tuple(trials))


def _loops(found: Found) -> list[ScheduledLoop]:
    """The loops as they are exported; none if they have no schedules to be launched together with."""
    loops: list[ScheduledLoop] = []
    for name, opened in found.opened.items():
        schedule = found.result.results[name].schedule if name in found.result.results else None
        if opened.tiles is None:
            raise UsageError("--fit needs a project with TTGIR text; this one is a graph")
        if schedule is None or found.result.faults:
            return []
        if len(found.opened) == 1 or all(op.category is not Category.LOOP for op in opened.tiles.ops.values()):
            loops.append(ScheduledLoop(opened.tiles, found.graphs[name], schedule, opened.fusion))
    return loops


def _built(name: str, loops: list[ScheduledLoop], overhead: int, nvcc: Nvcc) -> Trial:
    """What nvcc makes of the loops' kernel."""
    with TemporaryDirectory(prefix="twill-fit-") as scratch:
        folder = Path(scratch)
        export_schedules(loops[0].tiles.module, loops, folder)
        build = compile_kernel(nvcc, folder / KERNEL, DEFAULT_ARCHITECTURE)
        errors = [one for one in build.diagnostics if one.severity is Severity.ERROR]
        for one in errors:
            if one.code not in SHORTAGES:
                message = f"nvcc refuses the kernel, and not for want of registers: {one.message}"
                raise error("not-built", message, file=name, hint=one.hint)
        intervals = tuple(loop.schedule.ii for loop in loops)
        if not errors:
            return Trial(overhead, intervals)
        description = description_of(folder)
        roles = compile_roles(nvcc, folder / KERNEL, description, DEFAULT_ARCHITECTURE)
    faults = tuple(dict.fromkeys(one.code for one in errors))
    return Trial(overhead, intervals, faults, tuple(role_needs(roles, description)))


def _keeping_back(overhead: int, solver: Solver) -> Solver:
    return lambda graph, options: solver(with_register_overhead(graph, overhead), options)


def _seen_from(first: Found, found: Found) -> Found:
    """The answer for the graphs themselves: what is proved with more kept back does not bound II without."""

    def own(name: str, result: SolveResult) -> SolveResult:
        bound = first.result.results[name].proved_lower_bound
        status = Status.OPTIMAL if result.ii == bound else Status.FEASIBLE
        schedule = result.schedule
        if schedule is not None and schedule.origin is not None:
            schedule = replace(schedule, origin=replace(schedule.origin, status=status.value))
        return replace(result, status=status, proved_lower_bound=bound, schedule=schedule)

    return found if found is first else _changed(found, own)


def _withdrawn(found: Found) -> Found:
    """Without schedules that do not build."""

    def none(name: str, result: SolveResult) -> SolveResult:
        del name
        return replace(result, status=Status.UNKNOWN, ii=None, levels=(), schedule=None, schedules=())

    return _changed(found, none)


def _changed(found: Found, change: Callable[[str, SolveResult], SolveResult]) -> Found:
    results = {name: change(name, result) for name, result in found.result.results.items()}
    return replace(found, result=replace(found.result, results=results))


def _needs(trial: Trial) -> str:
    return ", ".join(f"{need.role} {need.registers} of {need.given}" for need in trial.needs)
