"""The record beside a schedule: how it was found, when, with which versions, and what was proved on the way.

It is kept apart so that the schedule file is the same in every run.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from core.files import is_stream, write_atomically
from core.graph.write import graph_document
from core.schedule.model import Schedule
from core.schedule.report import Family
from core.schedule.write import dump_schedule, schedule_document
from core.solve.events import LevelResult, PaperAnswer, SolveOptions, SolveResult, TrailEntry, Verdict
from core.yaml_edit import format_yaml

SCHEMA = "twill.record/1"


def save_schedule(schedule: Schedule, file: Path) -> None:
    """Writes the schedule atomically. Raises OSError."""
    write_atomically(file, dump_schedule(schedule))


def save_solution(
    result: SolveResult, options: SolveOptions, file: Path, conditions: Mapping[str, Any] | None = None
) -> None:
    """Writes the schedule that was found, and its record beside it, if that is a file. Raises OSError.

    `conditions`: what was solved differs in this from the project's own graph (other groups, rules left out).
    """
    if result.schedule is None:
        raise ValueError("there is no schedule to save")
    save_schedule(result.schedule, file)
    if is_stream(file):
        return
    document = record_document(result, options, file.name)
    if conditions:
        document["conditions"] = dict(conditions)
    write_atomically(record_file(file), format_yaml(document))


def save_optima(
    result: SolveResult, options: SolveOptions, file: Path, conditions: Mapping[str, Any] | None = None
) -> list[Path]:
    """As `save_solution`, and the further optima beside the first: for `main.yaml` in `main.2.yaml`, `main.3.yaml` and
    so on, each with its record. Returns the schedule files; a device gets the first alone."""
    save_solution(result, options, file, conditions)
    files = [file]
    for number, schedule in enumerate(result.schedules[1:] if not is_stream(file) else (), 2):
        files.append(file.with_name(f"{file.stem}.{number}{file.suffix}"))
        save_solution(replace(result, schedule=schedule), options, files[-1], conditions)
    return files


def record_file(schedule: Path) -> Path:
    """Where the record of a schedule file is: `main.yaml` has `main.record.yaml`."""
    return schedule.with_name(f"{schedule.stem}.record.yaml")


def record_document(result: SolveResult, options: SolveOptions, schedule: str) -> dict[str, Any]:
    """The record as plain data; `schedule` is the name of the schedule file. Seconds are wall-clock."""
    paper = {} if result.paper is None else {"paper": paper_document(result.paper)}
    return {
        "schema": SCHEMA,
        "schedule": schedule,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "status": result.status.value,
        "ii": result.ii,
        "proved_lower_bound": result.proved_lower_bound,
        "seconds": round(result.seconds, 3),
        "levels": [level_document(level) for level in result.levels],
        "ii_trail": [trail_document(entry) for entry in result.trail],
        "limits": {
            "model": options.model.value,
            "objective": [level.value for level in options.objective],
            "ii": options.ii,
            "max_ii": options.max_ii,
            "best": options.best,
            "limit_s": options.limit_s,
            "seed": options.seed,
        },
        "versions": {name: _version(name) for name in ("twill-explorer", "ortools", "z3-solver")}
        | {"python": platform.python_version()},
        "computer": {"system": platform.system(), "processor": processor(), "cores": os.cpu_count()},
        **paper,
    }


def trail_document(entry: TrailEntry) -> dict[str, Any]:
    """One decided II as the command line's `ii_trail` and the record say it.

    `lowest` (only where one argument excludes all from there to `ii`) and `queueing` (only where it was asked) may be
    missing. `proof`: what an exclusion rests on, else None.
    """
    document = {
        "ii": entry.ii,
        "verdict": entry.verdict.value,
        "seconds": round(entry.seconds, 3),
        "by": entry.by,
        "confirmed_by": entry.confirmed_by,
        "horizon": entry.horizon,
        "proof": _proof(entry),
    }
    if entry.lowest is not None:
        document["lowest"] = entry.lowest
    return document if entry.queueing is None else {**document, "queueing": entry.queueing.value}


def _proof(entry: TrailEntry) -> str | None:
    if entry.verdict is not Verdict.INFEASIBLE:
        return None
    if entry.by_one_solver:
        return "one solver"
    return "arithmetic" if entry.confirmed_by is None else "two solvers"


def level_document(level: LevelResult) -> dict[str, Any]:
    """One objective as the command line's `levels` and the record say it; `bytes` only for hand-offs."""
    document = {"name": level.name.value, "value": level.value, "bound": level.bound, "proved": level.proved}
    return document if level.detail is None else {**document, "bytes": level.detail}


def paper_document(answer: PaperAnswer) -> dict[str, Any]:
    """The paper's own answer as the command line and the record say it: cycles are its normalised ones, `unit` is what
    one of them is worth in the loop's. `in_cycles_of_the_loop`: its groups and orders there."""
    raw = None
    if answer.raw_ii is not None:
        raw = {"ii": answer.raw_ii, "violations": _by_family(answer.raw_violations)}
    return {
        "verdict": answer.verdict.value,
        "unit": round(answer.unit, 3),
        "normalisation_error": answer.error,
        "attempts": [
            {"ii": a.ii, "length": a.length, "verdict": a.verdict.value, "seconds": round(a.seconds, 3)}
            for a in answer.attempts
        ],
        "violations": _by_family(answer.violations),
        "in_cycles_of_the_loop": raw,
        "schedule": None if answer.schedule is None else schedule_document(answer.schedule),
        "graph": graph_document(answer.graph),
    }


def _by_family(violations: Mapping[Family, int]) -> dict[str, int]:
    return {family.value: count for family, count in violations.items()}


def processor() -> str:
    """The processor's model name, as well as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
