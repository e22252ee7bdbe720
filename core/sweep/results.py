"""The results file of a sweep: a line of JSON for each answer, so that a sweep can be taken up where it ended."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from core.diagnostics import InputError, error
from core.files import is_file, is_folder, write_atomically
from core.solve.events import Status
from core.sweep.outcome import Outcome
from core.sweep.points import Point
from core.sweep.setting import Value
from core.yaml_source import read_text

_HEADER = '{"schema": "twill.sweep/1"}\n'


class _Line(BaseModel):
    """An answer in the file. `inputs`: the hash of the graph and of how it was solved."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    inputs: str
    values: Mapping[str, Value]
    status: Status
    ii: int | None
    proved_lower_bound: int
    groups: int | None
    registers: int | None
    length: int | None
    seconds: float

    def outcome(self) -> Outcome:
        return Outcome(
            self.status, self.ii, self.proved_lower_bound, self.groups, self.registers, self.length, self.seconds
        )


class ResultsFile:
    """Answers by the hash of what was solved. A file that does not exist is begun with the first answer."""

    def __init__(self, path: Path) -> None:
        """Reads the file; a last line that was cut off is left out of it. Raises InputError if it is no such file."""
        self._path = path
        self._answers: dict[str, Outcome] = {}
        text = read_text(path) if is_file(path) or is_folder(path) else ""
        if not text:
            return
        if not text.startswith(_HEADER):
            hint = "a file that 'twill sweep --resume' has begun, or a new one"
            raise error("bad-schema", "this is no results file of a sweep", file=str(path), line=1, hint=hint)
        whole = text[: text.rindex("\n") + 1]
        for number, line in enumerate(whole.splitlines()[1:], 2):
            self._read(line, number)
        if whole != text:
            write_atomically(path, whole)

    def _read(self, text: str, number: int) -> None:
        try:
            line = _Line.model_validate_json(text)
        except ValidationError:
            raise self._error("bad-value", "this line is no answer of a sweep", number) from None
        self._answers[line.inputs] = line.outcome()

    def _error(self, code: str, message: str, line: int) -> InputError:
        return error(code, message, file=str(self._path), line=line)

    def answer(self, point: Point) -> Outcome | None:
        """What the file says of the same graph and options. A time-out is no answer."""
        found = self._answers.get(point.inputs)
        return None if found is None or found.status is Status.UNKNOWN else found

    def add(self, point: Point, outcome: Outcome) -> None:
        """Appends an answer and makes sure that it is on disk. Raises OSError."""
        line = json.dumps({"inputs": point.inputs, "values": point.values, **outcome.as_json()}, ensure_ascii=False)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8", newline="\n") as file:
            if file.tell() == 0:
                file.write(_HEADER)
            file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())
        self._answers[point.inputs] = outcome
