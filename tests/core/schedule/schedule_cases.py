"""The cases with known answers, and one simulator of the rules that shares no code with the judge."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.graph.model import Graph
from core.graph.read import load_graph, parse_graph
from core.schedule.model import Schedule
from core.schedule.read import load_schedule, parse_schedule

CASES = Path(__file__).parents[2] / "data" / "cases"


@functools.cache
def expected(folder: str) -> dict[str, Any]:
    """`cases` of the folder's expected.yaml."""
    return yaml.safe_load((CASES / folder / "expected.yaml").read_text())["cases"]


@functools.cache
def graph(folder: str, name: str) -> Graph:
    return load_graph(CASES / folder / f"{name}.yaml")


def tiny_schedules() -> dict[str, Schedule]:
    """The schedules of the feasible tiny cases."""
    found: dict[str, Schedule] = {}
    for name, case in expected("tiny").items():
        if "schedule" in case:
            text = json.dumps({"schema": "twill.schedule/1", **case["schedule"]})
            found[name] = parse_schedule(text, name, graph("tiny", name))
    return found


def kernel_schedules() -> dict[str, Schedule]:
    """The legal schedules of the kernels."""
    found: dict[str, Schedule] = {}
    for path in sorted((CASES / "kernels" / "schedules").glob("*.yaml")):
        if not path.stem.endswith("__refused"):
            found[path.stem] = load_schedule(path, graph("kernels", path.stem))
    return found


@dataclass(frozen=True)
class Case:
    """A graph and a schedule of it."""

    graph: Graph
    schedule: Schedule


def made(graph_text: str, schedule_text: str) -> Case:
    """A hand-made case; the schema lines are added."""
    made_graph = parse_graph("schema: twill.graph/1\n" + graph_text, "graph.yaml")
    text = "schema: twill.schedule/1\n" + schedule_text
    return Case(made_graph, parse_schedule(text, "schedule.yaml", made_graph))
