"""Pure edits: each takes a schedule and returns another one. None asks whether the result is legal; `check` does.

An edited schedule is the user's: its origin no longer claims what the solver proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup

USER = Origin(by="user", status="")


def move_op(schedule: Schedule, op: str, start: int, group: str | None = None) -> Schedule:
    """The op starts at `start` (cycles, >= 0), on `group` if that is given. Raises KeyError for an unknown op or
    group, ValueError for a start before 0."""
    place = schedule.ops[op]
    if start < 0:
        raise ValueError(f"op '{op}' would start at {start}, before cycle 0")
    if group is not None and group not in schedule.groups:
        raise KeyError(group)
    return _with_places(schedule, {op: Placement(start, group or place.group, place.delay)})


def nudge(schedule: Schedule, op: str, cycles: int) -> Schedule:
    """The op starts `cycles` later (earlier if negative), at cycle 0 at the earliest. Raises KeyError."""
    return move_op(schedule, op, max(0, schedule.ops[op].start + cycles))


def set_delay(schedule: Schedule, op: str, delay: int) -> Schedule:
    """The op waits `delay` cycles in its unit's queue. Raises KeyError, ValueError for a delay below 0."""
    if delay < 0:
        raise ValueError(f"op '{op}' would be delayed by {delay}")
    return _with_places(schedule, {op: replace(schedule.ops[op], delay=delay)})


def shift(schedule: Schedule, cycles: int) -> Schedule:
    """All ops start `cycles` later (earlier if negative). Without pinned starts this changes nothing about the
    schedule's legality. Raises ValueError if an op would start before 0."""
    first = min((place.start for place in schedule.ops.values()), default=0)
    if first + cycles < 0:
        raise ValueError(f"the first op would start at {first + cycles}, before cycle 0")
    return _with_places(
        schedule, {name: replace(place, start=place.start + cycles) for name, place in schedule.ops.items()}
    )


def set_ii(schedule: Schedule, ii: int) -> Schedule:
    """Another initiation interval, every op in its stage and slot; a slot beyond the interval becomes its last one.
    Raises ValueError below 1."""
    if ii < 1:
        raise ValueError(f"the initiation interval would be {ii}")
    places = {
        name: replace(place, start=ii * schedule.stage(name) + min(schedule.slot(name), ii - 1))
        for name, place in schedule.ops.items()
    }
    return replace(_with_places(schedule, places), ii=ii)


def set_grant(schedule: Schedule, group: str, grant: int) -> Schedule:
    """The group gets `grant` registers per thread. Raises KeyError, ValueError below 0."""
    if grant < 0:
        raise ValueError(f"group '{group}' would be granted {grant} registers")
    return _with_groups(schedule, {**schedule.groups, group: replace(schedule.groups[group], grant=grant)})


def set_ring(schedule: Schedule, value: str, depth: int | None) -> Schedule:
    """The ring of a value in shared memory has `depth` slots; None: the least that its live range needs. Raises
    KeyError for an unknown op, ValueError below 0."""
    if value not in schedule.ops:
        raise KeyError(value)
    if depth is not None and depth < 0:
        raise ValueError(f"the ring of '{value}' would have a depth of {depth}")
    others = {name: kept for name, kept in schedule.rings.items() if name != value}
    if depth is None:
        return replace(schedule, rings=others, origin=USER)
    rings = {**schedule.rings, value: depth}
    return replace(schedule, rings=rings, origin=USER)


def add_group(schedule: Schedule, group: str, kind: str, grant: int) -> Schedule:
    """One more, unused group. Raises ValueError if the name is taken or the grant is below 0."""
    if group in schedule.groups:
        raise ValueError(f"group '{group}' exists")
    if grant < 0:
        raise ValueError(f"group '{group}' would be granted {grant} registers")
    return _with_groups(schedule, {**schedule.groups, group: ScheduledGroup(kind, grant)})


def remove_group(schedule: Schedule, group: str) -> Schedule:
    """Without a group that has no ops. Raises KeyError, ValueError if ops are on it."""
    if group not in schedule.groups:
        raise KeyError(group)
    if any(place.group == group for place in schedule.ops.values()):
        raise ValueError(f"ops are on group '{group}'")
    return _with_groups(schedule, {name: kept for name, kept in schedule.groups.items() if name != group})


def remove_unused_groups(schedule: Schedule) -> Schedule:
    """Without the groups that have no ops."""
    used = {place.group for place in schedule.ops.values()}
    return _with_groups(schedule, {name: group for name, group in schedule.groups.items() if name in used})


def rename_group(schedule: Schedule, group: str, name: str) -> Schedule:
    """The group under another name, in its place. Raises KeyError, ValueError if the name is taken."""
    if group not in schedule.groups:
        raise KeyError(group)
    if name != group and name in schedule.groups:
        raise ValueError(f"group '{name}' exists")
    groups = {name if old == group else old: kept for old, kept in schedule.groups.items()}
    places = {op: replace(place, group=name) for op, place in schedule.ops.items() if place.group == group}
    return _with_places(_with_groups(schedule, groups), places)


def _with_places(schedule: Schedule, places: Mapping[str, Placement]) -> Schedule:
    return replace(schedule, ops={**schedule.ops, **places}, origin=USER)


def _with_groups(schedule: Schedule, groups: Mapping[str, ScheduledGroup]) -> Schedule:
    return replace(schedule, groups=groups, origin=USER)
