"""Files of marks (twill.marks/1), which an exported kernel built with -DTWILL_TRACE writes: when each op of a scheduled
loop began and ended."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, cast

from core.diagnostics import InputError, error

SCHEMA = "twill.marks/1"
CYCLES = "cycles"
"""The clock of a run on a GPU; the CPU mock counts how often its roles have changed."""

_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Mark:
    """One op of one iteration on a role: [begin, end) by the clock."""

    op: str
    iteration: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Marks:
    """What was seen of one loop: by role in the order of the run. An op of several operations is one mark."""

    case: str
    clock: str
    roles: Mapping[str, Sequence[Mark]]


def read_marks(path: Path, loop: int) -> Marks:
    """The marks of a loop, by its index. Raises InputError for a file that is no such document or cannot be read."""
    try:
        document: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise error("missing-input", f"cannot read the marks: {fault.strerror}", file=str(path)) from fault
    except ValueError as fault:
        raise _bad(path, str(fault)) from fault
    if not isinstance(document, dict):
        raise _bad(path, "no object")
    read = cast("dict[str, Any]", document)
    if read.get("schema") != SCHEMA:
        raise _bad(path, f"its schema is not {SCHEMA}")
    roles = read.get("roles")
    if not isinstance(roles, dict):
        raise _bad(path, "it has no roles")
    found = {
        role: tuple(_first_program(_marks(path, role, rows, loop)))
        for role, rows in cast("dict[str, object]", roles).items()
    }
    return Marks(str(read.get("case", "")), str(read.get("clock", "")), found)


def seen_intervals(path: Path) -> dict[str, float]:
    """By the index of each loop with marks: the median time from one iteration of an op to its next, by the marks'
    clock; loops of one iteration have none. Raises InputError as `read_marks` does."""
    document = json.loads(path.read_text(encoding="utf-8"))
    found: dict[str, float] = {}
    for loop in sorted({row[0] for rows in document["roles"].values() for row in rows}):
        steps: list[int] = []
        for seen in read_marks(path, loop).roles.values():
            begins: dict[str, list[int]] = {}
            for mark in seen:
                begins.setdefault(mark.op, []).append(mark.begin)
            steps += [after - before for of_op in begins.values() for before, after in pairwise(of_op)]
        if steps:
            found[str(loop)] = float(median(steps))
    return found


def _bad(path: Path, why: str) -> InputError:
    return error("bad-marks", f"this is no file of marks: {why}", file=str(path))


def _marks(path: Path, role: str, rows: object, loop: int) -> Iterator[Mark]:
    if not isinstance(rows, list):
        raise _bad(path, f"{role} has no list")
    for row in cast("list[object]", rows):
        if not isinstance(row, list) or len(cast("list[object]", row)) != _FIELDS:
            raise _bad(path, f"a mark of {role} is not [loop, op, iteration, begin, end]")
        of, op, iteration, begin, end = cast("list[Any]", row)
        whole = all(isinstance(number, int) for number in (of, iteration, begin, end))
        if not whole or not isinstance(op, str) or end < begin:
            raise _bad(path, f"a mark of {role} is not [loop, op, iteration, begin, end]: {row}")
        if of == loop:
            yield Mark(op, iteration, begin, end)


def _first_program(marks: Iterator[Mark]) -> Iterator[Mark]:
    """Operations of one op put together, up to where a block begins its next program."""
    seen: set[tuple[str, int]] = set()
    last: Mark | None = None
    for mark in marks:
        if last is not None and (mark.op, mark.iteration) == (last.op, last.iteration):
            last = Mark(last.op, last.iteration, last.begin, mark.end)
            continue
        if last is not None:
            yield last
        if (mark.op, mark.iteration) in seen:
            return
        seen.add((mark.op, mark.iteration))
        last = mark
    if last is not None:
        yield last
