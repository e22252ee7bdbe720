"""The rows of a sweep: each point's values with what came of it, as JSON, CSV and cells of a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.sweep.outcome import Outcome
from core.sweep.setting import Value, written

FAILED = "failed"
"""The status of a point whose worker broke: nothing is known of it."""

FIELDS = ("status", "ii", "proved_lower_bound", "groups", "registers", "length", "seconds")
"""What is said of each point beside its values, in this order."""


@dataclass(frozen=True, slots=True)
class Row:
    """A point's values and its outcome; None: its worker broke."""

    values: Mapping[str, Value]
    outcome: Outcome | None

    @property
    def fields(self) -> dict[str, Any]:
        """The outcome by field."""
        if self.outcome is None:
            return {**dict.fromkeys(FIELDS), "status": FAILED}
        return self.outcome.as_json()

    def as_json(self) -> dict[str, Any]:
        """The command line's document of a point; axes and fields may have the same name, so the values are apart."""
        return {"values": dict(self.values), **self.fields}


def csv_text(keys: Sequence[str], rows: Sequence[Row]) -> str:
    """A line of heads (`values.KEY` for each axis, then the fields) and a line for each row; empty where there is
    nothing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(f"values.{key}" for key in keys), *FIELDS])
    for row in rows:
        writer.writerow([*(written(value) for value in row.values.values()), *row.fields.values()])
    return text.getvalue()


def cells(row: Row) -> list[object]:
    """The row for a table."""
    values = [value if type(value) is int else written(value) for value in row.values.values()]
    return [*values, *("-" if field is None else field for field in row.fields.values())]
