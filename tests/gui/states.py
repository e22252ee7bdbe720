"""Small project states for the tests, in memory."""

from __future__ import annotations

from pathlib import Path

from core.graph.model import Block, Dependence, Graph, GroupKind, InOrderIssue, Limits, Op, RegisterFile, Rules
from core.graph.write import dump_graph
from core.project.model import Input, InputKind, Project
from core.project.opened import OpenProject
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.write import dump_schedule
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
    opened = OpenProject(project, GRAPH)
    return ProjectState(project, {"main": Variant(opened, schedule), "spare": Variant(opened, schedule)}, "main")


def write_project(folder: Path, schedule: Schedule | None = SCHEDULE) -> Path:
    """A project folder with the graph and, unless None, the schedule `main`; returns its project file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.yaml").write_text(dump_graph(GRAPH))
    lines = ["schema: twill.project/1", "# a comment that a save keeps", "name: two ops", "input: {graph: graph.yaml}"]
    if schedule:
        (folder / "schedules").mkdir(exist_ok=True)
        (folder / "schedules" / "main.yaml").write_text(dump_schedule(schedule))
        lines += ["schedules: {main: schedules/main.yaml}", "active: main"]
    project = folder / "project.yaml"
    project.write_text("\n".join(lines) + "\n")
    return project
