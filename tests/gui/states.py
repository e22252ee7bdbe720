"""Small project states for the tests, in memory."""

from __future__ import annotations

from pathlib import Path

from core.graph.model import Block, Dependence, Graph, GroupKind, InOrderIssue, Limits, Op, RegisterFile, Rules
from core.project.model import Input, InputKind, Project
from core.schedule.model import Placement, Schedule, ScheduledGroup
from twill_gui.document.state import ProjectState, Variant

GRAPH = Graph(
    name="two ops and a carried value",
    machine=Limits({"x": 1, "y": 1}, RegisterFile(65536, 255)),
    groups=(GroupKind("compute", 4, 2),),
    ops={
        "a": Op("a", "load", blocks=(Block("x", 0, 2),), issue_cycles=1, latency=3),
        "b": Op("b", "use", blocks=(Block("y", 0, 2),), issue_cycles=1, latency=2),
    },
    dependences=(Dependence("a", "b", 3), Dependence("b", "a", 2, distance=1)),
    rules=Rules(InOrderIssue.OFF),
)
SCHEDULE = Schedule(
    ii=6,
    groups={"compute.0": ScheduledGroup("compute", 24), "compute.1": ScheduledGroup("compute", 24)},
    ops={"a": Placement(0, "compute.0"), "b": Placement(3, "compute.0")},
)


def state(schedule: Schedule | None = SCHEDULE, file: Path | None = None) -> ProjectState:
    """A project with the schedules `main` and `spare`, both the same, the first shown."""
    project = Project(name=GRAPH.name, input=Input(InputKind.GRAPH, Path("graph.yaml")), file=file)
    return ProjectState(project, {"main": Variant(GRAPH, schedule), "spare": Variant(GRAPH, schedule)}, "main")
