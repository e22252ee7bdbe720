"""What the tables of measurements have in common: where and with what they were made, and how they are written."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from core.files import write_atomically
from core.graph.model import Graph
from core.graph.read import load_graph
from core.graph.write import dump_graph
from core.project.load import load_project
from core.project.opened import open_project
from core.project.record import processor
from core.resources import data_folder
from core.schedule.report import Family

RESULTS = Path(__file__).parent / "results"
UNFINISHED = Path(__file__).parents[2] / "build" / "bench"
"""Where runs are kept so that `--resume` finds them; Git looks past it."""
WALL_FACTOR = 20
"""The clock ends what the processor's time does not: this many times later."""
KERNELS = Path(__file__).parents[1] / "data" / "cases" / "kernels"


def environment() -> str:
    """Date, processor, versions."""
    return f"{today()}, {machine()}."


def today() -> str:
    """The date."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def machine() -> str:
    """Processor and versions: measurements are comparable where these are the same."""
    return (
        f"{processor()} ({os.cpu_count()} cores), Python {platform.python_version()}, OR-Tools {version('ortools')}, "
        f"z3 {version('z3-solver')}"
    )


def cpu_seconds() -> float:
    """What this process and its ended children have used of the processor: other work on the machine, which the clock
    shows, hardly changes it."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def out_of(limit_s: float) -> Callable[[], bool]:
    """Whether so many seconds of the processor have gone since now: to be asked again and again."""
    began = cpu_seconds()
    return lambda: cpu_seconds() - began > limit_s


class Kept:
    """Measurements on disk, one JSON object a line, so that `--resume` goes on where an interrupted run was. What is
    there is not looked at without it. A measurement of a graph that has changed since is not found."""

    def __init__(self, file: Path, resume: bool) -> None:
        self._file = file
        lines = file.read_text(encoding="utf-8").splitlines() if resume and file.exists() else []
        self._found: dict[str, dict[str, Any]] = {record["key"]: record for record in map(json.loads, lines)}

    @staticmethod
    def key(graph: Graph, *what: str) -> str:
        """Of a measurement of this graph."""
        return " ".join([*what, hashlib.sha256(dump_graph(graph).encode()).hexdigest()[:12]])

    def get(self, key: str) -> dict[str, Any] | None:
        """What was measured, if it was."""
        return self._found.get(key)

    def put(self, key: str, record: dict[str, Any]) -> dict[str, Any]:
        """Keeps a measurement, in place of an older one."""
        self._found[key] = {"key": key, **record}
        lines = [json.dumps(record) for record in self._found.values()]
        write_atomically(self._file, "".join(f"{line}\n" for line in lines))
        return self._found[key]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    return "\n".join([lines[0], f"|{' --- |' * len(head)}", *lines[1:]])


def write(file: Path, *paragraphs: str) -> None:
    """Writes the paragraphs."""
    write_atomically(file, "\n\n".join(paragraphs) + "\n")


def broken(violations: Mapping[Family, int]) -> str:
    """What the judge finds, by family."""
    return ", ".join(f"{family.value} {count}" for family, count in violations.items()) or "legal"


def kernel_graphs() -> Iterator[tuple[str, Graph]]:
    """The loops with known answers."""
    for file in sorted(KERNELS.glob("*.yaml")):
        if file.name != "expected.yaml":
            yield file.stem, load_graph(file)


def project_graphs() -> Iterator[tuple[str, Graph]]:
    """Every schedule of every project; of nested loops the outer one with the inner one as a block."""
    for folder in sorted(path for path in data_folder("projects").iterdir() if path.is_dir()):
        project = load_project(folder)
        for name in project.schedules:
            yield f"{folder.name}, {name}", open_project(project.for_schedule(name)).graph
