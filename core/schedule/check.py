"""The single judge of legality: the ten rules of `twill.graph/1`, from their definitions, for every schedule.

Whatever proposes a schedule (a solver, a drag, a file) has it judged here before anyone sees it. Exact integer
arithmetic; the cost grows with the number of ops and dependences, not with the number of cycles.
"""

from __future__ import annotations

from core.graph.model import Graph
from core.schedule.check_groups import check_groups, check_roles, check_variable_latency
from core.schedule.check_memory import check_shared_memory, check_tensor_memory
from core.schedule.check_registers import check_registers
from core.schedule.check_timing import check_dependences, check_issue, check_pins, check_units
from core.schedule.fit import misfits
from core.schedule.index import GraphIndex
from core.schedule.liveness import index_live_ranges
from core.schedule.model import Schedule
from core.schedule.report import Peaks, Report


class Judge:
    """Judges any number of schedules of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._index = GraphIndex(graph)

    def check(self, schedule: Schedule) -> Report:
        """The report on a schedule. Raises ValueError if it does not fit the graph (see `core.schedule.fit`):
        such a schedule is neither legal nor illegal, and no reader or edit makes one."""
        index = self._index
        for misfit in misfits(index.graph, schedule):
            raise ValueError(misfit.message)
        live = index_live_ranges(index, schedule)
        unit_violations, unit_peaks = check_units(index, schedule)
        register_violations, register_peaks = check_registers(index, schedule, live)
        shared_violations, shared_bytes = check_shared_memory(index, live)
        tensor_violations, tensor_columns = check_tensor_memory(index, schedule, live)
        violations = (
            *check_dependences(index, schedule),
            *unit_violations,
            *check_issue(index, schedule),
            *register_violations,
            *shared_violations,
            *tensor_violations,
            *check_variable_latency(index, schedule),
            *check_groups(index, schedule),
            *check_roles(index, schedule, live),
            *check_pins(index, schedule),
        )
        return Report(violations, Peaks(register_peaks, shared_bytes, tensor_columns, unit_peaks))


def check(graph: Graph, schedule: Schedule) -> Report:
    """The report on one schedule. Raises ValueError if it does not fit the graph."""
    return Judge(graph).check(schedule)
