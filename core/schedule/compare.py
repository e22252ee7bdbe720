"""What differs between two schedules of one graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from core.schedule.model import Placement, Schedule, ScheduledGroup

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class Difference:
    """From schedule `before` to schedule `after`: each pair holds the old and the new value, None where one has none.

    `ii` is None if equal. `moved`: ops with another start, group or delay (or in one schedule only). `groups`:
    added, removed, or of another kind or grant. `rings`: another depth in the file.
    """

    ii: tuple[int, int] | None
    moved: Mapping[str, tuple[Placement | None, Placement | None]]
    groups: Mapping[str, tuple[ScheduledGroup | None, ScheduledGroup | None]]
    rings: Mapping[str, tuple[int | None, int | None]]

    @property
    def empty(self) -> bool:
        """The schedules say the same."""
        return self.ii is None and not self.moved and not self.groups and not self.rings


def compare(before: Schedule, after: Schedule) -> Difference:
    """The structural difference; origins do not count."""
    return Difference(
        ii=None if before.ii == after.ii else (before.ii, after.ii),
        moved=_changes(before.ops, after.ops),
        groups=_changes(before.groups, after.groups),
        rings=_changes(before.rings, after.rings),
    )


def _changes(
    before: Mapping[str, ValueT], after: Mapping[str, ValueT]
) -> dict[str, tuple[ValueT | None, ValueT | None]]:
    names = dict.fromkeys([*before, *after])
    pairs = {name: (before.get(name), after.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
