"""The CUDA text of a schedule, and which of its lines belong to which ops of the graph. No Qt: made on any thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.diagnostics import InputError
from core.project.opened import OpenProject
from core.schedule.check import check
from core.schedule.model import Schedule
from twill_gui.models.source_lines import source_lines


@dataclass(frozen=True, slots=True)
class CudaLines:
    """`why_not` is empty or says why there is no text. `own`: the text's lines, from 1 on, that an op became; `ops`: by
    line the ops it belongs to."""

    text: str = ""
    why_not: str = ""
    own: Mapping[str, tuple[int, ...]] | None = None
    ops: Mapping[int, tuple[str, ...]] | None = None


def cuda_lines(opened: OpenProject, schedule: Schedule) -> CudaLines:
    """The text that `twill export --format cuda` writes for the schedule's loop."""
    from core.export.cuda.kernel import kernel_file  # the window starts without the exporter
    from core.export.roles.build import scheduled_program
    from core.export.roles.places import ScheduledLoop

    source = source_lines(opened)
    if source is None or opened.tiles is None:
        return CudaLines(why_not="This project is a dependence graph: CUDA needs the TTGIR text that the loop is from")
    broken = check(opened.graph, schedule).violations
    if broken:
        return CudaLines(why_not=f"The schedule breaks a rule, so there is no kernel for it: {broken[0].message}")
    try:
        program = scheduled_program([ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)])
        file = kernel_file(program)
    except InputError as problem:
        return CudaLines(why_not=f"No CUDA for this loop: {problem.diagnostics[0].message}")
    own: dict[str, list[int]] = {}
    ops: dict[int, tuple[str, ...]] = {}
    for line, origin in sorted(file.origins.items()):
        owners = source.ops.get(origin, ())
        if owners:
            ops[line] = owners
        for op in owners:
            own.setdefault(op, []).append(line)
    return CudaLines(file.source, "", {op: tuple(lines) for op, lines in own.items()}, ops)
