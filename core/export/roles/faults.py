"""What a simulated run of a role program shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from core.ir.model import Operation


class FaultKind(Enum):
    """DEADLOCK: roles wait for one another. VALUE: an operand is not what the text says. RACE: something is read or
    written while a copy or a matrix op is at it. OVERWRITE: a slot is filled again before all have read it. BARRIER:
    arrivals or turns that nobody waits for, or tiles left over."""

    DEADLOCK = "deadlock"
    VALUE = "value"
    RACE = "race"
    OVERWRITE = "overwrite"
    BARRIER = "barrier"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and on which role it was seen."""

    kind: FaultKind
    role: str
    message: str


@dataclass(frozen=True, slots=True)
class Issued:
    """One issue of an operation in a scheduled loop; `op` is the op of the graph that it stands for."""

    role: str
    op: str | None
    operation: Operation
    iteration: int


@dataclass(frozen=True, slots=True)
class Run:
    """The first fault, if there was one, and all issues in the order of the run."""

    faults: tuple[Fault, ...]
    issued: tuple[Issued, ...]


class FaultFoundError(Exception):
    """Ends a run at its first fault."""

    def __init__(self, kind: FaultKind, role: str, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(kind, role, message)
