"""What the judge says of a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Family(Enum):
    """The ten rules; the names are those of `check` and `explain`."""

    DEPENDENCE = "dependence"
    UNIT = "unit"
    ISSUE = "issue"
    REGISTERS = "registers"
    SHARED_MEMORY = "shared_memory"
    TENSOR_MEMORY = "tensor_memory"
    VARIABLE_LATENCY = "variable_latency"
    GROUPS = "groups"
    ROLE = "role"
    PIN = "pin"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken fact.

    `ops` are those that break it, the waiting one last for a dependence. `at`: a cycle for `dependence` and `pin`,
    a slot for the rules that count by slot, else None. `required` and `available` are in the rule's own amount
    (cycles, units, registers, bytes, columns, groups, warps), None where nothing is counted. `subject` names the
    group, unit, group kind or memory concerned.
    """

    family: Family
    ops: tuple[str, ...]
    at: int | None
    required: int | None
    available: int | None
    message: str
    subject: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The fields of the command line's `violations` entries."""
        return {
            "family": self.family.value,
            "subject": self.subject,
            "ops": list(self.ops),
            "at": self.at,
            "required": self.required,
            "available": self.available,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Peaks:
    """The most that is in use at any slot: registers per thread by used group (overhead included, comparable with
    the grant), shared memory in bytes (rings, hand-off buffers and the fixed part), tensor-memory columns, and
    units by name."""

    registers: Mapping[str, int]
    shared_memory: int
    tensor_memory: int
    units: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """The command line's `peaks`."""
        return {
            "registers": dict(self.registers),
            "shared_memory": self.shared_memory,
            "tensor_memory": self.tensor_memory,
            "units": dict(self.units),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict on a schedule: `violations` in the order of the rules, empty for a legal one."""

    violations: tuple[Violation, ...]
    peaks: Peaks

    @property
    def legal(self) -> bool:
        """All rules hold."""
        return not self.violations

    def as_json(self) -> dict[str, Any]:
        """The JSON fields of `twill check`."""
        return {
            "legal": self.legal,
            "violations": [violation.as_json() for violation in self.violations],
            "peaks": self.peaks.as_json(),
        }
