"""The record beside a schedule: how the schedule was found and proved, as a solve told it or a file has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.diagnostics import InputError
from core.files import write_atomically
from core.graph.model import Pin
from core.project.record import SCHEMA, record_file, save_schedule, save_solution
from core.schedule.model import Schedule
from core.solve.events import Level, LevelResult, Queueing, SolveOptions, SolveResult, Status, TrailEntry, Verdict
from core.yaml_source import parse_yaml, read_text


@dataclass(frozen=True, slots=True)
class Record:
    """The solve that made a schedule, and what it was asked: the options of a solve of this run of the program, or the
    text of the file that it was read from, whose `result` has no schedule. `pins`: those it had to keep."""

    result: SolveResult
    origin: SolveOptions | str
    pins: Mapping[str, Pin]

    def holds(self, schedule: Schedule, pins: Mapping[str, Pin]) -> bool:
        """Whether what was proved is true of the same graph with these pins: with more of them, if the schedule that
        was found keeps them, but with none less."""
        if any(pins.get(op) != pin for op, pin in self.pins.items()):
            return False
        return all(
            op not in schedule.ops
            or (pin.start in (None, schedule.ops[op].start) and pin.group in (None, schedule.ops[op].group))
            for op, pin in pins.items()
        )


def load_record(schedule: Path, pins: Mapping[str, Pin]) -> Record | None:
    """The record beside the schedule of a file, which was found with these pins; None if there is no readable one.

    A record is information only, nothing depends on it: a damaged one is as good as none.
    """
    file = record_file(schedule)
    if not file.exists():
        return None
    try:
        text = read_text(file)
        data = parse_yaml(text, str(file)).data
        return Record(_result(data), text, pins) if data["schema"] == SCHEMA else None
    except (InputError, KeyError, TypeError, ValueError):
        return None


def write_schedule(schedule: Schedule, record: Record | None, file: Path) -> None:
    """Writes the schedule and its record beside it, as it was read where it was; without one, a record that is there
    speaks of another schedule and goes. Raises OSError."""
    if record is None:
        save_schedule(schedule, file)
        record_file(file).unlink(missing_ok=True)
    elif isinstance(record.origin, SolveOptions):
        save_solution(record.result, record.origin, file)
    else:
        save_schedule(schedule, file)
        write_atomically(record_file(file), record.origin)


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
