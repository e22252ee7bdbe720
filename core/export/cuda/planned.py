"""What the schedules say of registers, for comparing it with what the assembler uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.export.roles.places import ScheduledLoop
from core.schedule.index import GraphIndex
from core.schedule.liveness import profiles


def planned_registers(loops: Sequence[ScheduledLoop]) -> Mapping[str, Mapping[str, int]]:
    """By group: `live`, registers per thread of its values where most are held at once, and `overhead`, those kept back
    beside them."""
    found: dict[str, dict[str, int]] = {}
    for loop in loops:
        index, held = GraphIndex(loop.graph), profiles(loop.graph, loop.schedule).registers
        for group, steps in held.items():
            overhead = index.overhead(loop.schedule.groups[group].kind)
            live = max((step.level for step in steps), default=overhead) - overhead
            known = found.get(group, {}).get("live", 0)
            found[group] = {"live": max(live, known), "overhead": overhead}
    return found
