"""`twill export --format triton`: the final TTGIR, for Triton's override."""

from __future__ import annotations

from pathlib import Path

from core.commands.answers import Answer, MissingToolError, UsageError, writing
from core.export.triton_override import asked_of_triton, override_warnings, switch_on
from core.files import write_atomically
from core.project.opened import OpenProject
from core.schedule.model import Schedule
from core.toolchain.triton import final_ttgir, missing_triton


def export_triton(opened: OpenProject, schedule: Schedule, folder: Path) -> Answer:
    """Writes `KERNEL.ttgir` into the folder. Raises MissingToolError without Triton 3.9."""
    if opened.tiles is None:
        raise UsageError("--format triton needs a project with TTGIR text; this one is a graph")
    try:
        asked = asked_of_triton(opened.tiles, schedule, opened.fusion)
    except ValueError as fault:
        raise UsageError(str(fault)) from fault
    missing = missing_triton()
    if missing is not None:
        raise MissingToolError(missing)
    final = final_ttgir(asked.text, asked.capability, opened.tiles.module.file)
    path = folder / asked.file_name
    with writing(path):
        write_atomically(path, final)
    warnings = override_warnings(asked, final, opened.tiles, opened.graph, schedule)
    note = switch_on(path)
    document = {
        "files": [path.as_posix()],
        "warnings": [warning.as_json() for warning in warnings],
        "holes": [],
        "note": note,
    }
    return Answer(document, f"written: {path.as_posix()}\n{note}", diagnostics=(*opened.diagnostics, *warnings))
