"""The CUDA text of a schedule, and which of its lines belong to which ops of the graph. No Qt: made on any thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.diagnostics import InputError
from twill_gui.document.state import ProjectState
from twill_gui.models.kernel_loops import scheduled_loops
from twill_gui.models.source_lines import source_lines


@dataclass(frozen=True, slots=True)
class CudaLines:
    """`why_not` is empty or says why there is no text. `own`: the text's lines, from 1 on, that an op became; `ops`: by
    line the ops it belongs to."""

    text: str = ""
    why_not: str = ""
    own: Mapping[str, tuple[int, ...]] | None = None
    ops: Mapping[int, tuple[str, ...]] | None = None


def cuda_lines(state: ProjectState) -> CudaLines:
    """The text that `twill export --format cuda` writes for the kernel; its lines are linked with the shown loop."""
    from core.export.cuda.kernel import kernel_file  # the window starts without the exporter
    from core.export.roles.build import scheduled_program

    try:
        file = kernel_file(scheduled_program(scheduled_loops(state)))
    except ValueError as problem:
        return CudaLines(why_not=f"No CUDA: {problem}")
    except InputError as problem:
        return CudaLines(why_not=f"No CUDA for this loop: {problem.diagnostics[0].message}")
    source = source_lines(state.variant.opened)
    owned = source.ops if source is not None else {}
    own: dict[str, list[int]] = {}
    ops: dict[int, tuple[str, ...]] = {}
    for line, origin in sorted(file.origins.items()):
        owners = owned.get(origin, ())
        if owners:
            ops[line] = owners
        for op in owners:
            own.setdefault(op, []).append(line)
    return CudaLines(file.source, "", {op: tuple(lines) for op, lines in own.items()}, ops)
