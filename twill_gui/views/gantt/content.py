"""What the chart is given to show, with everything that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.model import Dependence, Graph
from core.schedule.check_timing import required_gap
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule
from core.schedule.report import Report
from twill_gui.views.gantt.layout import GanttMode, Layout, build_layout


@dataclass(frozen=True, slots=True)
class Wait:
    """A dependence in a schedule: the cycles it needs between the starts, of which `hand_off` are for crossing
    groups, and those it has."""

    dependence: Dependence
    required: int
    available: int

    @property
    def hand_off(self) -> int:
        """Cycles from the result to its arrival on the reader's group."""
        return self.required - self.dependence.latency

    @property
    def missing(self) -> int:
        """By how many cycles the target starts too early; 0 if the dependence holds."""
        return max(self.required - self.available, 0)

    @property
    def slack(self) -> int:
        """Cycles to spare, negative if the dependence is broken."""
        return self.available - self.required


def wait_of(index: GraphIndex, schedule: Schedule, dependence: Dependence) -> Wait:
    """What a dependence needs and has in a schedule."""
    source, target = schedule.ops[dependence.source], schedule.ops[dependence.target]
    required = required_gap(index, dependence, source.group, target.group)
    available = target.start + schedule.ii * dependence.distance - source.start - source.delay
    return Wait(dependence, required, available)


@dataclass(frozen=True, slots=True)
class Content:
    """A judged schedule of a graph, and its layout."""

    graph: Graph
    index: GraphIndex
    schedule: Schedule
    report: Report
    layout: Layout
    violating: frozenset[str]

    def wait(self, dependence: Dependence) -> Wait:
        """What a dependence needs and has."""
        return wait_of(self.index, self.schedule, dependence)

    def dependences_of(self, ops: frozenset[str]) -> tuple[Dependence, ...]:
        """The dependences that come from or go to one of `ops`."""
        return tuple(d for d in self.graph.dependences if d.source in ops or d.target in ops)


def make_content(graph: Graph, schedule: Schedule, report: Report, mode: GanttMode, steady_iterations: int) -> Content:
    """The content of a schedule that fits its graph, and of the judge's report on it."""
    layout = build_layout(graph, schedule, mode, steady_iterations)
    violating = frozenset(op for violation in report.violations for op in violation.ops)
    return Content(graph, GraphIndex(graph), schedule, report, layout, violating)
