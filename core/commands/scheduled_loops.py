"""The loops of a kernel with their schedules, as a role program takes them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from core.commands.answers import UsageError
from core.commands.inputs import kernel_project, open_kept, open_schedule
from core.diagnostics import Diagnostic
from core.export.roles.places import ScheduledLoop
from core.ir.tiles import Category
from core.schedule.check import check


@dataclass(frozen=True, slots=True)
class ScheduledKernel:
    """The loops, and what is to be said of their projects."""

    loops: tuple[ScheduledLoop, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def scheduled_kernel(name: str, arguments: argparse.Namespace) -> ScheduledKernel:
    """The loop of the schedule that is asked for; of a kernel with several schedules, all loops that hold no other.

    Raises InputError, and UsageError for a graph file or a schedule that breaks a rule.
    """
    project = kernel_project(name, arguments)
    if project is None:
        found = [open_schedule(name, arguments)]
    else:
        found = [open_kept(project, entry) for entry in project.kernel_schedules]
    loops: list[ScheduledLoop] = []
    for opened, schedule in found:
        if opened.tiles is None:
            raise UsageError("a role program needs a project with TTGIR text; this one is a graph")
        if any(op.category is Category.LOOP for op in opened.tiles.ops.values()) and len(found) > 1:
            continue  # it runs in the order of the text, the loop inside it by its own schedule
        broken = check(opened.graph, schedule).violations
        if broken:
            raise UsageError(f"the schedule is not legal: {broken[0].message}")
        loops.append(ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion))
    diagnostics = tuple(dict.fromkeys(one for opened, _ in found for one in opened.diagnostics))
    return ScheduledKernel(tuple(loops), diagnostics)
