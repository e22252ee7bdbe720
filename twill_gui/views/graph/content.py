"""What the graph view is given to show, with what follows from it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.model import Dependence, Graph
from core.schedule.bounds import Recurrence
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule
from twill_gui.views.gantt.content import Wait, wait_of
from twill_gui.views.gantt.layout import group_lanes


@dataclass(frozen=True, slots=True)
class GraphContent:
    """A graph, its critical recurrence, and the schedule that says which group an op is on (None: there is none)."""

    graph: Graph
    schedule: Schedule | None
    recurrence: Recurrence | None
    index: GraphIndex
    group_numbers: dict[str, int]
    critical: frozenset[Dependence]

    def group_number(self, op: str) -> int | None:
        """The number of the op's group in the order of the chart's lanes."""
        return self.group_numbers[self.schedule.ops[op].group] if self.schedule else None

    def caption(self, op: str) -> str:
        """The second line of an op's box: its group, before there is a schedule its kind."""
        return self.schedule.ops[op].group if self.schedule else self.graph.ops[op].kind

    def is_critical(self, op: str) -> bool:
        """Whether the op is on the critical recurrence."""
        return self.recurrence is not None and op in self.recurrence.ops

    def wait(self, dependence: Dependence) -> Wait | None:
        """What a dependence needs and has in the schedule."""
        return wait_of(self.index, self.schedule, dependence) if self.schedule else None


def make_content(graph: Graph, schedule: Schedule | None, recurrence: Recurrence | None) -> GraphContent:
    """The content for a graph and a schedule that fits it."""
    lanes = group_lanes(graph, schedule) if schedule else ()
    critical = frozenset(recurrence.dependences if recurrence else ())
    numbers = {name: number for number, name in enumerate(lanes)}
    return GraphContent(graph, schedule, recurrence, GraphIndex(graph), numbers, critical)
