"""Several loops of one kernel: it is launched once, so they share its warp groups, and tiles that both load a ring.

The loops run one after another. A group is the same warps in every loop, with one grant, so the grants of all groups
that any loop uses fit the register file together. Values of one id and size in several loops have one ring.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.graph.model import Graph
from core.schedule.check_registers import register_file_faults
from core.schedule.index import GraphIndex
from core.schedule.liveness import live_ranges
from core.schedule.model import Schedule, ScheduledGroup
from core.schedule.report import Family, Violation


def aligned(schedule: Schedule, reference: Schedule, fixed: Collection[str] = ()) -> Schedule:
    """The schedule with its groups named so that ops of one id are on groups of one name, as far as kinds allow: what
    one loop leaves in registers for the next stays where it is. Groups in `fixed` keep their names."""
    votes: Counter[tuple[str, str]] = Counter()
    for op, place in schedule.ops.items():
        other = reference.ops.get(op)
        if other is not None and place.group not in fixed and other.group not in fixed:
            votes[place.group, other.group] += 1
    names = {group: group for group in schedule.groups if group in fixed}
    for (group, name), _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
        same_kind = schedule.groups[group].kind == reference.groups[name].kind
        if same_kind and group not in names and name not in names.values():
            names[group] = name
    for group, scheduled in schedule.groups.items():
        if group not in names:
            own = [name for name, other in schedule.groups.items() if other.kind == scheduled.kind]
            known = [name for name, other in reference.groups.items() if other.kind == scheduled.kind]
            names[group] = next(name for name in (*known, *own) if name not in names.values())
    return replace(
        schedule,
        groups=dict(sorted((names[group], scheduled) for group, scheduled in schedule.groups.items())),
        ops={op: replace(place, group=names[place.group]) for op, place in schedule.ops.items()},
    )


def with_common_groups(schedules: Mapping[str, Schedule]) -> dict[str, Schedule]:
    """All loops with all groups, each with the greatest grant that a loop needs it to have."""
    groups: dict[str, ScheduledGroup] = {}
    for schedule in schedules.values():
        for name, group in schedule.groups.items():
            known = groups.setdefault(name, group)
            groups[name] = replace(known, grant=max(known.grant, group.grant))
    common = dict(sorted(groups.items()))
    return {loop: replace(schedule, groups=common) for loop, schedule in schedules.items()}


@dataclass(frozen=True, slots=True)
class CommonRing:
    """The ring of a value that several loops have, in slots of `slot_bytes`: `depths` by loop. As one ring it has the
    deepest of them."""

    value: str
    slot_bytes: int
    depths: Mapping[str, int]

    @property
    def depth(self) -> int:
        """Of the one ring."""
        return max(self.depths.values())

    def as_json(self) -> dict[str, Any]:
        """An entry of the command line's `rings`."""
        return {
            "value": self.value,
            "slot_bytes": self.slot_bytes,
            "depth": self.depth,
            "depths": dict(self.depths),
        }


def common_rings(graphs: Mapping[str, Graph], schedules: Mapping[str, Schedule]) -> tuple[CommonRing, ...]:
    """The rings that loops share: those of values of one id and size."""
    depths: defaultdict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for loop, schedule in schedules.items():
        for value, ring in live_ranges(graphs[loop], schedule).rings.items():
            depths[value, ring.amount][loop] = ring.depth
    return tuple(CommonRing(*ring, loops) for ring, loops in depths.items() if len(loops) > 1)


def with_common_rings(graphs: Mapping[str, Graph], schedules: Mapping[str, Schedule]) -> dict[str, Schedule]:
    """All loops with the deepest ring that a loop needs for a value that several of them have."""
    rings: dict[str, dict[str, int]] = {loop: {} for loop in schedules}
    for ring in common_rings(graphs, schedules):
        for loop in ring.depths:
            rings[loop][ring.value] = ring.depth
    return {loop: replace(schedule, rings={**schedule.rings, **rings[loop]}) for loop, schedule in schedules.items()}


def kernel_faults(graphs: Mapping[str, Graph], schedules: Mapping[str, Schedule]) -> tuple[Violation, ...]:
    """What the loops break only together: too many groups of a kind, one name for groups of two kinds, several grants
    of one group, more registers than the file has. The judge says what each breaks by itself."""
    groups: dict[str, ScheduledGroup] = {}
    faults: list[Violation] = []
    for loop, schedule in schedules.items():
        for name, group in schedule.groups.items():
            known = groups.setdefault(name, group)
            if known != group:
                message = (
                    f"group {name} is of kind {known.kind} with {known.grant} registers a thread in one loop, "
                    f"{group.kind} with {group.grant} in loop {loop}"
                )
                faults.append(Violation(Family.GROUPS, (), None, known.grant, group.grant, message, name))
    for kind, count in _counts(graphs).items():
        names = [name for name, group in groups.items() if group.kind == kind]
        if len(names) > count:
            message = f"the loops use {len(names)} groups of kind {kind} ({', '.join(names)}), there are {count}"
            faults.append(Violation(Family.GROUPS, (), None, len(names), count, message, kind))
    return (*faults, *register_file_faults(GraphIndex(next(iter(graphs.values()))), groups))


def _counts(graphs: Mapping[str, Graph]) -> dict[str, int]:
    """How many groups of each kind the kernel has: a loop may be given fewer of them than another."""
    counts: Counter[str] = Counter()
    for graph in graphs.values():
        counts |= {group.kind: group.count for group in graph.groups}
    return counts
