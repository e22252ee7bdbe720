"""The schedule value: initiation interval, groups with their register grants, rings, and a place for every op."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an op is: start cycle of iteration 0, group name, and its delay in the unit's queue (cycles)."""

    start: int
    group: str
    delay: int = 0


@dataclass(frozen=True, slots=True)
class ScheduledGroup:
    """A warp group of the schedule: its kind in the graph and the registers per thread granted to it."""

    kind: str
    grant: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Who made the schedule and what it claims (`by`: solver, user, repair; `status` as in `solve`)."""

    by: str
    status: str
    model: str = "exact"
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Schedule:
    """`twill.schedule/1`. `rings` names depths of values in shared memory; left out: the least depth."""

    ii: int
    groups: Mapping[str, ScheduledGroup]
    ops: Mapping[str, Placement]
    rings: Mapping[str, int] = field(default_factory=dict[str, int])
    origin: Origin | None = None

    def stage(self, op: str) -> int:
        """Iterations by which the op lags behind the earliest-started one: start // ii."""
        return self.ops[op].start // self.ii

    def slot(self, op: str) -> int:
        """The op's cycle within one initiation interval."""
        return self.ops[op].start % self.ii
