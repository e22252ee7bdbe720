"""Steps that take milliseconds, timed: reading, bounds, the judge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from core.diagnostics import InputError
from core.graph.fold import fold
from core.graph.model import Graph
from core.graph.read import load_graph
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.bounds import bounds
from core.schedule.check import Judge
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from core.solve.decompose import repeat
from tests.bench.report import KERNELS, project_graphs
from tests.core.solve.large_loops import unrolled

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "ttgir"
"""Files that are looked for beside the checkout; without them, those of the tests are read."""
MIDDLE = range(28, 45)
"""Ops of a loop of the size that the design has in mind."""
REPEATS = 20
"""Runs of what takes a millisecond, of which the median counts."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sample:
    """One instance. `undecided`: it ended at a limit."""

    name: str
    cpu_s: float
    wall_s: float
    undecided: bool = False


def timed(name: str, work: Callable[[], T]) -> tuple[Sample, T]:
    """The work, once."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return Sample(name, time.process_time() - cpu, time.perf_counter() - wall), found


def median(name: str, work: Callable[[], object]) -> Sample:
    """The work, many times."""
    runs = sorted((timed(name, work)[0] for _ in range(REPEATS)), key=lambda run: run.cpu_s)
    return runs[REPEATS // 2]


def read_samples() -> list[Sample]:
    """Every TTGIR file with the graph of its main loop; a file without one that can be scheduled says why."""
    folder = CORPUS if CORPUS.is_dir() else ROOT / "tests" / "data" / "ttgir"
    files = sorted(folder.glob("*.ttgir"))
    read(files[0])  # libraries and machine files are loaded on first use
    return [timed(file.stem, lambda file=file: read(file))[0] for file in files]


def read(file: Path) -> Graph | None:
    """The graph, if there is a loop to schedule."""
    try:
        return open_project(load_project(file)).graph
    except InputError:
        return None


def middle_graphs() -> Iterator[tuple[str, Graph]]:
    """Loops of some forty ops: of the projects, and cases with known answers, unrolled."""
    yield from ((name, graph) for name, graph in project_graphs() if len(graph.ops) in MIDDLE)
    for name, times in (("fa_fwd_hopper_1x64", 4), ("fa_fwd_blackwell_2x128", 2), ("dual_gemm", 6)):
        yield f"{name}, {times} times", unrolled(name, times)


def bound_samples() -> list[Sample]:
    """All bounds of a graph."""
    return [median(name, lambda graph=graph: bounds(graph)) for name, graph in middle_graphs()]


def check_samples(*, large: bool) -> list[Sample]:
    """The judge on legal schedules of one graph after the other, as when an op is dragged."""
    samples: list[Sample] = []
    for name, graph, schedule in large_schedules() if large else schedules():
        judge = Judge(graph)
        if not judge.check(schedule).legal:
            raise SystemExit(f"{name}: the judge refuses the schedule")
        samples.append(median(name, lambda judge=judge, schedule=schedule: judge.check(schedule)))
    return samples


def schedules() -> Iterator[tuple[str, Graph, Schedule]]:
    """Those of the projects, and of the cases with known answers."""
    for name, graph in project_graphs():
        folder, entry = name.split(", ")
        file = load_project(data_folder("projects") / folder).schedules[entry].file
        yield name, graph, load_schedule(file, graph)
    for name, graph, schedule in case_schedules():
        yield name, graph, schedule


def case_schedules() -> Iterator[tuple[str, Graph, Schedule]]:
    """Those of the cases with known answers."""
    for file in sorted((KERNELS / "schedules").glob("*.yaml")):
        if "__refused" not in file.stem:
            graph = load_graph(KERNELS / file.name)
            yield file.stem, graph, load_schedule(file, graph)


def large_schedules() -> Iterator[tuple[str, Graph, Schedule]]:
    """Known schedules of loops, repeated until there are about two hundred ops."""
    for name, times in (("fa_fwd_hopper_2x64", 11), ("fa_fwd_blackwell_2x128", 9)):
        graph = unrolled(name, times)
        folding = fold(graph)
        if folding is None:
            raise SystemExit(f"{name}, {times} times: does not fold")
        once = next(schedule for stem, _, schedule in case_schedules() if stem == name)
        one_copy = replace(once, ops={f"{op}#0": place for op, place in once.ops.items()})
        yield f"{name}, {times} times: {len(graph.ops)} ops", graph, repeat(folding, one_copy)
