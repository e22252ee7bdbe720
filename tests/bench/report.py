"""What the tables of measurements have in common: where and with what they were made, and how they are written."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from core.files import write_atomically
from core.graph.model import Graph
from core.graph.read import load_graph
from core.project.load import load_project
from core.project.opened import open_project
from core.project.record import processor
from core.resources import data_folder
from core.schedule.report import Family

RESULTS = Path(__file__).parent / "results"
KERNELS = Path(__file__).parents[1] / "data" / "cases" / "kernels"


def environment() -> str:
    """Date, processor, versions."""
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {processor()} ({os.cpu_count()} cores), Python {platform.python_version()}, "
        f"OR-Tools {version('ortools')}, z3 {version('z3-solver')}."
    )


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
    """Every schedule of every project that is one loop by itself."""
    for folder in sorted(path for path in data_folder("projects").iterdir() if path.is_dir()):
        project = load_project(folder)
        if not project.kernel_schedules:
            for name in project.schedules:
                yield f"{folder.name}, {name}", open_project(project.for_schedule(name)).graph
