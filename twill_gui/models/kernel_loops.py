"""The loops that make up a kernel, with their schedules as the window has them. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.ir.tiles import Category
from core.schedule.check import check
from twill_gui.document.state import ProjectState

if TYPE_CHECKING:
    from core.export.roles.places import ScheduledLoop


def scheduled_loops(state: ProjectState) -> tuple[ScheduledLoop, ...]:
    """The shown loop; of a kernel with several schedules, all loops that hold no other.

    Raises ValueError with a sentence that says why there is no kernel of them.
    """
    return tuple(_loops(state))


def _loops(state: ProjectState) -> Iterator[ScheduledLoop]:
    from core.export.roles.places import ScheduledLoop  # a while to load, and for exports alone

    names = state.project.kernel_schedules or (state.active,)
    for name in names:
        variant = state.variants[name]
        opened, schedule = variant.opened, variant.schedule
        if opened.tiles is None:
            raise ValueError("this project is a dependence graph: a kernel needs the TTGIR text that the loop is from")
        if len(names) > 1 and any(op.category is Category.LOOP for op in opened.tiles.ops.values()):
            continue
        if schedule is None:
            raise ValueError(f"the loop of '{name}' has no schedule yet")
        broken = check(variant.graph, schedule).violations
        if broken:
            of = f" of '{name}'" if len(names) > 1 else ""
            raise ValueError(f"the schedule{of} is not legal: {broken[0].message}")
        yield ScheduledLoop(opened.tiles, variant.graph, schedule, opened.fusion)
