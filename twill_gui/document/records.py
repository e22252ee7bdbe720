"""Reads the record beside a schedule, so that an opened project shows how its schedule was proved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.diagnostics import InputError
from core.project.record import SCHEMA, record_file
from core.solve.events import Level, LevelResult, Queueing, SolveResult, Status, TrailEntry, Verdict
from core.yaml_source import parse_yaml, read_text


def load_record(schedule: Path) -> SolveResult | None:
    """The solve that made the schedule of a file, without the schedule itself; None if there is no readable record.

    A record is information only, nothing depends on it: a damaged one is as good as none.
    """
    file = record_file(schedule)
    if not file.exists():
        return None
    try:
        data = parse_yaml(read_text(file), str(file)).data
        return _result(data) if data["schema"] == SCHEMA else None
    except (InputError, KeyError, TypeError, ValueError):
        return None


def _result(data: dict[str, Any]) -> SolveResult:
    return SolveResult(
        status=Status(data["status"]),
        ii=data["ii"],
        proved_lower_bound=int(data["proved_lower_bound"]),
        trail=tuple(_trail(entry) for entry in data["ii_trail"]),
        levels=tuple(_level(level) for level in data["levels"]),
        seconds=float(data["seconds"]),
        schedule=None,
    )


def _trail(entry: dict[str, Any]) -> TrailEntry:
    return TrailEntry(
        int(entry["ii"]),
        Verdict(entry["verdict"]),
        float(entry["seconds"]),
        str(entry["by"]),
        entry["confirmed_by"],
        entry["horizon"],
        entry.get("lowest"),
        None if entry.get("queueing") is None else Queueing(entry["queueing"]),
    )


def _level(level: dict[str, Any]) -> LevelResult:
    return LevelResult(
        Level(level["name"]), int(level["value"]), int(level["bound"]), bool(level["proved"]), level.get("bytes")
    )
