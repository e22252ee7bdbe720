"""A certificate: arithmetic that shows an initiation interval to be impossible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.schedule.report import Family


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why no schedule has a certain II: `required` > `available`, whatever the starts and the groups.

    `family` is the rule it rests on, `subject` the unit, group kind or memory, `ops` those that are counted.
    """

    family: Family
    subject: str
    required: int
    available: int
    ops: tuple[str, ...]
    sentence: str

    def as_json(self) -> dict[str, Any]:
        """The fields of the command line's `cores` entries."""
        return {
            "family": self.family.value,
            "subject": self.subject,
            "required": self.required,
            "available": self.available,
            "ops": list(self.ops),
            "sentence": self.sentence,
        }
