"""What solving one point of a sweep found."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.metrics import length, used_groups
from core.solve.events import SolveOptions, SolveResult, Status


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer at a point; None where there is no schedule.

    `groups`: how many the schedule uses. `registers`: the most per thread of any of them, overhead included, comparable
    with a limit of registers. `length` and `proved_lower_bound` in cycles, `seconds` of the solve.
    """

    status: Status
    ii: int | None
    proved_lower_bound: int
    groups: int | None
    registers: int | None
    length: int | None
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """The fields of the command line's rows."""
        return {
            "status": self.status.value,
            "ii": self.ii,
            "proved_lower_bound": self.proved_lower_bound,
            "groups": self.groups,
            "registers": self.registers,
            "length": self.length,
            "seconds": round(self.seconds, 3),
        }


def solve_point(graph: Graph, options: SolveOptions, stopped: Callable[[], bool]) -> Outcome:
    """Solves one point; runs in a worker process. `stopped` is asked now and then whether to end early.

    Raises CancelledError if so before it has begun.
    """
    if stopped():
        raise CancelledError
    from core.solve.solve import solve  # OR-Tools takes a while to load: only where something is solved

    return outcome(graph, solve(graph, options, lambda event: None, stopped))


def outcome(graph: Graph, result: SolveResult) -> Outcome:
    """What a sweep says of a solve's result."""
    schedule = result.schedule
    return Outcome(
        status=result.status,
        ii=result.ii,
        proved_lower_bound=result.proved_lower_bound,
        groups=None if schedule is None else len(used_groups(schedule)),
        registers=None if schedule is None else max(check(graph, schedule).peaks.registers.values()),
        length=None if schedule is None else length(graph, schedule),
        seconds=result.seconds,
    )
