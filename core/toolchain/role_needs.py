"""Registers that roles take when compiled alone, beside what their schedules plan: values held at once and overhead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RoleNeed:
    """A role: registers per thread as compiled alone; `live` and `overhead` as the export says that they are planned,
    and how many it is `given` (its grant, and what is left over), None where it does not say."""

    role: str
    registers: int
    live: int | None = None
    overhead: int | None = None
    given: int | None = None

    @property
    def seen_overhead(self) -> int | None:
        """What it takes beside its values."""
        return None if self.live is None else self.registers - self.live

    @property
    def row(self) -> tuple[object, ...]:
        """For a table."""
        planned = (self.live, self.overhead, self.seen_overhead)
        return (self.role, self.registers, *("" if one is None else one for one in planned))

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "seen_overhead": self.seen_overhead}


@dataclass(frozen=True, slots=True)
class OverheadProposal:
    """The machine's `registers.overhead`, and what the compiled roles suggest; never applied by itself."""

    old: int
    new: int

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"what": "registers.overhead", "old": self.old, "new": self.new}


def role_needs(registers: Mapping[str, int], description: Mapping[str, Any]) -> Iterator[RoleNeed]:
    """One for each role that was compiled alone."""
    planned: Mapping[str, Mapping[str, int]] = description.get("planned_registers", {})
    given = {role["name"]: role.get("registers") for role in description.get("roles", ())}
    for role, count in registers.items():
        plan = planned.get(role, {})
        yield RoleNeed(role, count, plan.get("live"), plan.get("overhead"), given.get(role))


def overhead_proposal(needs: Sequence[RoleNeed]) -> OverheadProposal | None:
    """The greatest overhead seen among roles that have one by plan, if it is another; a role that only issues copies
    has none."""
    seen = [need for need in needs if need.overhead and need.live]
    found = [need.seen_overhead for need in seen if need.seen_overhead is not None]
    planned = max((need.overhead or 0 for need in seen), default=0)
    if not found or max(found) == planned:
        return None
    return OverheadProposal(planned, max(found))
