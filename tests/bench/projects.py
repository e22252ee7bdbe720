"""Solves every schedule of every project and writes the table of what was proved.

    python tests/bench/projects.py [--write]

`--write` also writes the schedules and their records into `projects/`.
"""

from __future__ import annotations

import argparse
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from core.files import write_atomically
from core.project.load import load_project
from core.project.model import Project
from core.project.opened import open_project
from core.project.record import processor, save_solution
from core.resources import data_folder
from core.schedule.check import check
from core.schedule.metrics import length, stages, used_groups
from core.solve.events import SolveResult, Status, Verdict
from core.solve.solve import solve

RESULTS = Path(__file__).parent / "results" / "projects.md"
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
    "ops",
    "s to II",
    "s in all",
)


def main() -> None:
    """Solves all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the schedules and records into projects/")
    write = parser.parse_args().write
    rows = [
        solve_one(project.for_schedule(name), name, write)
        for folder in sorted(data_folder("projects").iterdir())
        if folder.is_dir()
        for project in [load_project(folder)]
        for name in project.schedules
    ]
    lines = [
        "# Every project, solved",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {processor()} ({os.cpu_count()} cores), Python {platform.python_version()}, "
        f"OR-Tools {version('ortools')}, z3 {version('z3-solver')}. Seconds are wall-clock: until the least "
        "II is proved, and with all levels of the objective. Every schedule has passed the judge.",
        "",
        f"| {' | '.join(HEAD)} |",
        f"|{' --- |' * len(HEAD)}",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]
    write_atomically(RESULTS, "\n".join(lines))


def solve_one(project: Project, name: str, write: bool) -> list[str]:
    """Solves one schedule of a project and returns its row."""
    graph = open_project(project).graph
    result = solve(graph, project.solve, lambda event: None, lambda: False)
    folder = project.file.parent.name if project.file else project.name
    row = [folder, name, result.status.value]
    schedule = result.schedule
    if schedule is None:
        row += ["-", str(result.proved_lower_bound), "-", "-", "-", "-"]
    else:
        report = check(graph, schedule)
        if not report.legal:
            raise SystemExit(f"{folder}, {name}: the judge refuses the schedule: {report.violations[0].message}")
        row += [str(schedule.ii), str(result.proved_lower_bound), proof(result), str(length(graph, schedule))]
        row += [str(stages(schedule)), ", ".join(used_groups(schedule))]
        if write:
            save_solution(result, project.solve, project.schedules[name].file)
    to_ii = sum(entry.seconds for entry in result.trail)
    row += [str(len(graph.ops)), f"{to_ii:.2f}", f"{result.seconds:.2f}"]
    print(*row, sep="\t", flush=True)
    return row


def proof(result: SolveResult) -> str:
    """What excludes the II below the one that was found."""
    if result.status is not Status.OPTIMAL:
        return "not proved"
    below = [e for e in result.trail if e.verdict is Verdict.INFEASIBLE and e.ii == result.proved_lower_bound - 1]
    if not below:
        return "arithmetic (a lower bound is attained)"
    entry = below[-1]
    return entry.by + (f", confirmed by {entry.confirmed_by}" if entry.confirmed_by else "")


if __name__ == "__main__":
    main()
