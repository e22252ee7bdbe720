"""The formats that the shown schedule can be exported in, and its content in each of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from core.export.cuda.options import DEFAULTS, Options
from core.export.exported import TextFormat, exported_text
from core.export.marks_file import Marks
from core.export.measured import measured_trace
from twill_gui.document.state import ProjectState
from twill_gui.image_export import PictureFormat, picture_bytes
from twill_gui.models.kernel_loops import scheduled_loops
from twill_gui.schedule_picture import SchedulePicture
from twill_gui.views.gantt import GanttMode


class KernelFormat(Enum):
    """What is made of the kernel's role program: a sheet for people, the same as data, a folder with a CUDA kernel."""

    SHEET = "sheet"
    SHEET_JSON = "sheet as data"
    CUDA = "cuda"


class OverrideFormat(Enum):
    """What Triton's own passes make of the annotated text, a process of its own: a folder with the file to override."""

    TRITON = "triton"


class ExportFormat(Enum):
    """What can be exported: the text or picture format, what it is called, what it is for, and the file's suffix."""

    TTGIR = (TextFormat.TTGIR, "Annotated TTGIR", "the input's text with the schedule in its attributes", ".ttgir")
    TRITON = (OverrideFormat.TRITON, "Triton override", "a folder with Triton's final TTGIR, scheduled so", ".triton")
    CUDA = (KernelFormat.CUDA, "CUDA kernel", "a folder with the warp-specialized kernel, for nvcc", ".cuda")
    SHEET = (KernelFormat.SHEET, "Sheet for hand lowering", "the program of each warp group, with every wait", ".md")
    SHEET_JSON = (KernelFormat.SHEET_JSON, "Sheet as JSON", "the same for scripts", ".sheet.json")
    TRACE = (TextFormat.TRACE, "Trace", "for Perfetto and chrome://tracing", ".trace.json")
    JSON = (TextFormat.JSON, "JSON", "graph, schedule, verdict and live ranges, for scripts", ".json")
    SVG = (PictureFormat.SVG, "SVG picture", "chart, registers and memory as shapes", ".svg")
    PDF = (PictureFormat.PDF, "PDF picture", "the same for a paper or report", ".pdf")
    PNG = (PictureFormat.PNG, "PNG picture", "the same as pixels, two for each of the screen's", ".png")

    @property
    def writer(self) -> TextFormat | OverrideFormat | KernelFormat | PictureFormat:
        """Who writes it."""
        return self.value[0]

    @property
    def title(self) -> str:
        """Its name for people."""
        return self.value[1]

    @property
    def purpose(self) -> str:
        """What it is for."""
        return self.value[2]

    @property
    def suffix(self) -> str:
        """How the names of its files end."""
        return self.value[3]


@dataclass(frozen=True, slots=True)
class Gap:
    """An operation of the IR that an exported kernel leaves to the reader: its line there, why, and the line of the
    kernel's text, from 1 on, with the function to write."""

    op: str
    ir_line: int
    reason: str
    text_line: int


@dataclass(frozen=True, slots=True)
class Exported:
    """A file's content, a text or a picture; what the format could not hold; of a kernel its holes; of a file that
    goes into a folder its name there."""

    content: str | bytes
    warnings: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    file_name: str = ""


def exported(
    state: ProjectState,
    wanted: ExportFormat,
    *,
    unrolled: bool = False,
    options: Options = DEFAULTS,
    marks: Marks | None = None,
) -> Exported:
    """The shown schedule in a format, Triton's apart (`triton_passes`); of a folder with a CUDA kernel its main file.

    `marks`: of a measured run, for a trace. Raises ValueError if there is none, no text to annotate, or no program of
    it, InputError if its kernel cannot be a program of roles or has no text, and if the run is of another schedule.
    """
    opened, schedule = state.variant.opened, state.variant.schedule
    if schedule is None:
        raise ValueError("there is no schedule to export")
    if wanted is ExportFormat.TRACE and marks is not None:
        trace, _ = measured_trace(opened.graph, schedule, opened.fusion, marks)
        return Exported(json.dumps(trace, ensure_ascii=False) + "\n")
    if isinstance(wanted.writer, TextFormat):
        text, warnings = exported_text(wanted.writer, opened.graph, schedule, opened.tiles, opened.fusion)
        return Exported(text, tuple(warning.format() for warning in warnings))
    if wanted.writer is KernelFormat.CUDA:
        return _kernel(state, options)
    if isinstance(wanted.writer, KernelFormat):
        return Exported(_sheet(state, as_data=wanted.writer is KernelFormat.SHEET_JSON))
    assert isinstance(wanted.writer, PictureFormat)
    mode = GanttMode.UNROLLED if unrolled else GanttMode.FOLDED
    view = SchedulePicture(opened.graph, schedule, mode)
    try:
        return Exported(picture_bytes(view, wanted.writer))
    finally:
        view.close()
        view.deleteLater()


def write_kernel(state: ProjectState, folder: Path, options: Options, case: Path | None) -> str:
    """Writes the folder of the CUDA kernel, with the batch file of a case if there is one; returns what to say of it.

    Raises as `exported` does, and OSError. Needs no Qt, so that it can run on any thread.
    """
    from core.export.cuda.case import write_case
    from core.export.cuda.folder import export_schedules

    loops = scheduled_loops(state)
    module = loops[0].tiles.module
    written = export_schedules(module, loops, folder, options)
    if case is not None:
        write_case(case, module, written.function, folder)
    count = len(written.names) + (case is not None)
    return f"Written: {count} files to {folder}"


def _kernel(state: ProjectState, options: Options) -> Exported:
    from core.export.cuda.kernel import kernel_file  # a while to load, and for this alone
    from core.export.roles.build import scheduled_program

    file = kernel_file(scheduled_program(scheduled_loops(state)), options)
    lines = file.source.splitlines()
    gaps = tuple(Gap(hole.op, hole.line, hole.reason, _line_of(hole.function, lines)) for hole in file.holes)
    return Exported(file.source, (f"Shared memory of a block: {file.shared_bytes} bytes",), gaps)


def _line_of(function: str, lines: list[str]) -> int:
    return next((number for number, line in enumerate(lines, 1) if f" {function}(" in line), 1)


def _sheet(state: ProjectState, *, as_data: bool) -> str:
    from core.export.roles.build import scheduled_program
    from core.export.sheet import sheet_json, sheet_markdown

    loops = scheduled_loops(state)
    program = scheduled_program(loops)
    return sheet_json(program, loops) if as_data else sheet_markdown(program, loops)
