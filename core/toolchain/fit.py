"""Schedules as a compiler builds them: what it refuses, and how many registers to keep back where it is short of them.

A schedule plans the registers of its values and an overhead beside them; what the compiler needs beside them is only
known of the kernel that it has built. Where that is more than there is, the loop is solved again with more kept back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.toolchain.role_needs import RoleNeed

SHORTAGES = frozenset({"spills", "ptxas-C7511", "ptxas-C7512"})
"""What is said of a kernel that has too few registers; its other faults have nothing to do with them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A schedule as it was built: the registers per thread kept back when it was solved, the codes of what the compiler
    finds wrong (none: it builds cleanly), and its roles compiled alone if there is something wrong."""

    overhead: int
    ii: tuple[int, ...]  # of each loop
    faults: tuple[str, ...] = ()
    needs: tuple[RoleNeed, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether the kernel can be shipped."""
        return not self.faults

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "overhead": self.overhead,
            "ii": list(self.ii),
            "clean": self.clean,
            "faults": list(self.faults),
            "roles": [need.as_json() for need in self.needs],
        }


def overheads(trial: Trial) -> tuple[int, ...]:
    """How many registers per thread to keep back after a trial that was short of them, what to try first in front;
    always more than it had. None where no role holds values by plan: keeping back is of no use.

    A role that alone needs more than it is given has shown what it needs beside its values: the most of any such role.
    That may be too much, since another schedule may need less, or less than it takes, since a role that spills needs
    more than it is counted with. Then so many that the role with the least to spare has to hold less.
    """
    planned = [need for need in trial.needs if need.live and (need.overhead or not trial.overhead)]
    if not planned:
        return ()
    seen = [need.registers - (need.live or 0) for need in planned if need.registers > (need.given or 0)]
    least = min((need.given or 0) - (need.live or 0) for need in planned) + 1
    return (max(seen), least) if seen and max(seen) > least else (least,)
