"""Solves every schedule of every project and writes the table of what was proved.

    python -m tests.bench.projects [--write] [--only NAME ...] [--into FOLDER] [--limit-s S]

`--write` also writes the schedules and their records into `projects/`, `--into` the schedules alone into another
folder; with `--only` there is no table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from core.graph.model import Graph
from core.project.load import load_project
from core.project.model import Project
from core.project.opened import open_project
from core.project.record import save_schedule, save_solution
from core.resources import data_folder
from core.schedule.check import check
from core.schedule.metrics import length, stages, used_groups
from core.schedule.model import Schedule
from core.solve.events import Event, SolveOptions, SolveResult, Status, Step, Verdict
from core.solve.kernel import solve_kernel, solve_nest
from core.solve.solve import solve
from tests.bench.report import RESULTS, cpu_seconds, environment, table, write

HEAD = (
    "project",
    "schedule",
    "status",
    "II",
    "bound",
    "proved by",
    "length",
    "stages",
    "groups",
    "hand-offs",
    "ops",
    "CPU s to II",
    "CPU s in all",
)
NOTES = (
    "Seconds of the processor: until the least II is proved, and with all levels of the objective. Every schedule has "
    "passed the judge. Proved by: what excludes every lesser II. Not proved: levels whose bound the search did not "
    "reach within its limit."
)


@dataclass(frozen=True)
class Solved:
    """One schedule of a project, with the seconds of the processor to its least II and in all."""

    graph: Graph
    result: SolveResult
    to_ii_s: float
    all_s: float


def main() -> None:
    """Solves all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the schedules and records into projects/")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these folders")
    parser.add_argument("--into", type=Path, help="write the schedules into this folder")
    parser.add_argument("--limit-s", type=float, help="seconds for one loop, instead of the project's")
    options = parser.parse_args()
    rows: list[list[str]] = []
    for folder in sorted(path for path in data_folder("projects").iterdir() if path.is_dir()):
        if options.only and folder.name not in options.only:
            continue
        project = load_project(folder)
        if options.limit_s is not None:
            project = replace(project, solve=replace(project.solve, limit_s=options.limit_s))
        for name, solved in solve_project(project):
            if options.write:
                save_solution(solved.result, project.solve, project.schedules[name].file)
            if options.into is not None and solved.result.schedule is not None:
                save_schedule(solved.result.schedule, options.into / f"{name}.yaml")
            rows.append([folder.name, name, *cells(solved)])
            print(*rows[-1], sep="\t", flush=True)
    if not options.only:
        write(RESULTS / "projects.md", "# Every project, solved", environment(), table(HEAD, rows), NOTES)


def solve_project(project: Project) -> Iterator[tuple[str, Solved]]:
    """The project's schedules; those of a kernel's loops together, as `twill solve` does."""
    kernel = project.kernel_schedules
    if kernel:
        yield from solve_loops(project)
    for name in project.schedules:
        if name not in kernel:
            timed = Timed()
            graph = open_project(project.for_schedule(name)).graph
            yield name, timed.solved(graph, timed(graph, project.solve))


class Timed:
    """The solver, with the processor's time of each graph that it solved."""

    def __init__(self) -> None:
        self._seconds: dict[int, tuple[float, float]] = {}

    def __call__(self, graph: Graph, options: SolveOptions) -> SolveResult:
        began = cpu_seconds()
        to_ii = 0.0

        def watch(event: Event) -> None:
            nonlocal to_ii
            if isinstance(event, Step):
                to_ii = cpu_seconds() - began

        result = solve(graph, options, watch)
        self._seconds[id(graph)] = to_ii, cpu_seconds() - began
        return result

    def solved(self, graph: Graph, result: SolveResult) -> Solved:
        """The result with the seconds of its graph."""
        return Solved(graph, result, *self._seconds[id(graph)])


def solve_loops(project: Project) -> Iterator[tuple[str, Solved]]:
    """The loops of one kernel, innermost first, on common groups."""
    timed = Timed()

    def graphs_of(names: list[str], inner: Mapping[str, Schedule]) -> dict[str, Graph]:
        return {name: open_project(project.for_schedule(name), inner=inner).graph for name in names}

    blocks = [name for name in project.kernel_schedules if project.schedules[name].trip_count is not None]
    rest = [name for name in project.kernel_schedules if name not in blocks]
    if blocks:
        below = graphs_of(blocks, {})
        graphs, kernel = solve_nest(below, lambda inner: graphs_of(rest, inner), project.solve, timed)
    else:
        graphs = graphs_of(rest, {})
        kernel = solve_kernel(graphs, project.solve, timed)
    if kernel.faults:
        raise SystemExit(f"{project.name}: {kernel.faults[0].message}")
    for name, result in kernel.results.items():
        yield name, timed.solved(graphs[name], result)


def cells(solved: Solved) -> list[str]:
    """The row behind project and schedule."""
    graph, result, schedule = solved.graph, solved.result, solved.result.schedule
    row = [result.status.value, str(result.ii or "-"), str(result.proved_lower_bound)]
    if schedule is None:
        row += ["-"] * 5
    else:
        report = check(graph, schedule)
        if not report.legal:
            raise SystemExit(f"{graph.name}: the judge refuses the schedule: {report.violations[0].message}")
        crossing = next((level.value for level in result.levels if level.name.value == "hand_offs"), "-")
        row += [proof(result), str(length(graph, schedule)), str(stages(schedule)), ", ".join(used_groups(schedule))]
        row.append(str(crossing))
    return [*row, str(len(graph.ops)), f"{solved.to_ii_s:.2f}", f"{solved.all_s:.2f}"]


def proof(result: SolveResult) -> str:
    """What excludes the II below the one that was found, and the levels that are not proved."""
    if result.status is not Status.OPTIMAL:
        return "not proved"
    below = [e for e in result.trail if e.verdict is Verdict.INFEASIBLE and e.ii == result.proved_lower_bound - 1]
    by = below[-1].by if below else "arithmetic (a lower bound is attained)"
    if below and below[-1].confirmed_by:
        by += f", confirmed by {below[-1].confirmed_by}"
    open_levels = [f"{level.name.value} ≥ {level.bound}" for level in result.levels if not level.proved]
    return f"{by}; not proved: {', '.join(open_levels)}" if open_levels else by


if __name__ == "__main__":
    main()
