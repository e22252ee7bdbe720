"""Several loops of one kernel: each solved by itself, then brought onto common groups and rings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.check_kernel import check_kernel
from core.schedule.check_registers import register_file_faults
from core.schedule.common import aligned, with_common_groups, with_common_rings
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule, ScheduledGroup
from core.schedule.report import Violation
from core.schedule.variations import with_register_limit
from core.solve.events import SolveOptions, SolveResult, Status

Solver = Callable[[Graph, SolveOptions], SolveResult]


@dataclass(frozen=True, slots=True)
class KernelResult:
    """The loops' answers, with schedules on the common groups where all have one.

    `faults`: what the loops break together; () if the schedules can be launched as one kernel. `register_limit`: per
    thread, under which the loops were solved again because what they took freely does not fit together; None if
    it does. The optimum of each loop then holds under that limit.
    """

    results: Mapping[str, SolveResult]
    faults: tuple[Violation, ...] = ()
    register_limit: int | None = None

    @property
    def status(self) -> Status:
        """The worst of the loops' answers; INFEASIBLE where they cannot be launched together."""
        order = (Status.OPTIMAL, Status.FEASIBLE, Status.UNKNOWN, Status.INFEASIBLE)
        worst = max((result.status for result in self.results.values()), key=order.index)
        if worst is Status.OPTIMAL and self.register_limit is not None:
            return Status.FEASIBLE
        return Status.INFEASIBLE if self.faults else worst


def solve_kernel(graphs: Mapping[str, Graph], options: SolveOptions, solver: Solver) -> KernelResult:
    """Solves every loop, each within the options' limits, for graphs of the same machine and group kinds.

    Loops are solved freely first. If their grants do not fit the register file together, they are solved once more
    with the greatest limit per thread at which they do.
    """
    free = _together(graphs, {loop: solver(graph, options) for loop, graph in graphs.items()})
    limit = _limit(graphs, free.results) if free.faults else None
    if limit is None:
        return free
    tight = {loop: with_register_limit(graph, limit) for loop, graph in graphs.items()}
    again = _together(graphs, {loop: solver(graph, options) for loop, graph in tight.items()})
    return replace(again, register_limit=limit)


def solve_nest(
    inner: Mapping[str, Graph],
    compose: Callable[[Mapping[str, Schedule]], Mapping[str, Graph]],
    options: SolveOptions,
    solver: Solver,
) -> tuple[Mapping[str, Graph], KernelResult]:
    """Inner loops first, then those around them: `compose` makes their graphs of the inner loops' schedules.

    With the graphs of all loops that were solved; an outer loop is not where an inner one has no schedule.
    """
    below = solve_kernel(inner, options, solver)
    schedules = {loop: result.schedule for loop, result in below.results.items() if result.schedule is not None}
    if below.faults or len(schedules) < len(inner):
        return inner, below
    graphs = {**inner, **compose(schedules)}
    results = dict(below.results)
    for loop in (name for name in graphs if name not in inner):
        results[loop] = solver(graphs[loop], options)
        outer = results[loop].schedule
        if outer is not None:
            schedules[loop] = outer
    if len(schedules) < len(graphs):
        return graphs, KernelResult(results, register_limit=below.register_limit)
    granted = with_common_groups(schedules)
    results = {loop: replace(result, schedule=granted[loop]) for loop, result in results.items()}
    return graphs, KernelResult(results, check_kernel(graphs, granted).violations, below.register_limit)


def _together(graphs: Mapping[str, Graph], results: Mapping[str, SolveResult]) -> KernelResult:
    found = {loop: result.schedule for loop, result in results.items() if result.schedule is not None}
    if len(found) < len(results):
        return KernelResult(results)
    reference = next(iter(found.values()))
    for loop, schedule in found.items():
        fixed = {pin.group for pin in graphs[loop].pins.values() if pin.group is not None}
        found[loop] = aligned(schedule, reference, fixed)
    granted = with_common_groups(found)
    ringed = with_common_rings(graphs, granted)
    schedules = {loop: _legal(graphs[loop], ringed[loop], granted[loop]) for loop in results}
    common = {loop: replace(result, schedule=schedules[loop]) for loop, result in results.items()}
    return KernelResult(common, check_kernel(graphs, schedules).violations)


def _legal(graph: Graph, wanted: Schedule, otherwise: Schedule) -> Schedule:
    """Deeper rings than a loop needs are worth having only where there is room for them."""
    return wanted if check(graph, wanted).legal else otherwise


def _limit(graphs: Mapping[str, Graph], results: Mapping[str, SolveResult]) -> int | None:
    """The greatest limit per thread at which the groups fit; None if a limit is of no help."""
    index = GraphIndex(next(iter(graphs.values())))
    groups: Mapping[str, ScheduledGroup] = {}
    for result in results.values():
        groups = {} if result.schedule is None else result.schedule.groups
    granularity = index.graph.machine.registers.granularity
    greatest = max((group.grant for group in groups.values()), default=0)
    for limit in range(greatest - granularity, 0, -granularity):
        limited = {name: replace(group, grant=min(group.grant, limit)) for name, group in groups.items()}
        if not any(register_file_faults(index, limited)):
            return limit
    return None
