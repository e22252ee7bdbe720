"""The shown schedule for other tools: what it would look like, what the format cannot hold, and the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from core.diagnostics import InputError, Severity
from core.export.exported import TextFormat, exported_text
from core.files import write_atomically
from core.ir.tiles import Category
from core.schedule.check import check
from twill_gui.command_lines import export_command
from twill_gui.dialogs.export import ExportDialog
from twill_gui.document.document import Document
from twill_gui.document.state import ProjectState
from twill_gui.image_export import PictureFormat, picture_bytes
from twill_gui.schedule_picture import SchedulePicture
from twill_gui.views.gantt import GanttMode
from twill_gui.views.message_bar import Message

if TYPE_CHECKING:
    from core.export.roles.places import ScheduledLoop

_TOPIC = "export"


class SheetFormat(Enum):
    """The role program as text for people."""

    MARKDOWN = "sheet"


class ExportFormat(Enum):
    """What can be exported: the text or picture format, what it is called, what it is for, and the file's suffix."""

    TTGIR = (TextFormat.TTGIR, "Annotated TTGIR", "the input's text with the schedule in its attributes", ".ttgir")
    SHEET = (SheetFormat.MARKDOWN, "Sheet for hand lowering", "the program of each warp group, with every wait", ".md")
    TRACE = (TextFormat.TRACE, "Trace", "for Perfetto and chrome://tracing", ".trace.json")
    JSON = (TextFormat.JSON, "JSON", "graph, schedule, verdict and live ranges, for scripts", ".json")
    SVG = (PictureFormat.SVG, "SVG picture", "chart, registers and memory as shapes", ".svg")
    PDF = (PictureFormat.PDF, "PDF picture", "the same for a paper or report", ".pdf")
    PNG = (PictureFormat.PNG, "PNG picture", "the same as pixels, two for each of the screen's", ".png")

    @property
    def writer(self) -> TextFormat | SheetFormat | PictureFormat:
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
class Exported:
    """A file's content, a text or a picture, and what the format could not hold."""

    content: str | bytes
    warnings: tuple[str, ...] = ()


def exported(state: ProjectState, wanted: ExportFormat, *, unrolled: bool = False) -> Exported:
    """The shown schedule in a format. Raises ValueError if there is none, no text to annotate, or no program of it,
    InputError if its kernel cannot be a program of roles."""
    opened, schedule = state.variant.opened, state.variant.schedule
    if schedule is None:
        raise ValueError("there is no schedule to export")
    if isinstance(wanted.writer, TextFormat):
        text, warnings = exported_text(wanted.writer, opened.graph, schedule, opened.tiles, opened.fusion)
        return Exported(text, tuple(warning.format() for warning in warnings))
    if isinstance(wanted.writer, SheetFormat):
        return Exported(_sheet(state))
    mode = GanttMode.UNROLLED if unrolled else GanttMode.FOLDED
    view = SchedulePicture(opened.graph, schedule, mode)
    try:
        return Exported(picture_bytes(view, wanted.writer))
    finally:
        view.close()
        view.deleteLater()


def _sheet(state: ProjectState) -> str:
    """The role program of the shown loop; of a kernel with several schedules, of all loops that hold no other."""
    from core.export.roles.build import scheduled_program  # a while to load, and for this alone
    from core.export.sheet import sheet_markdown

    loops = tuple(_scheduled_loops(state))
    return sheet_markdown(scheduled_program(loops), loops)


def _scheduled_loops(state: ProjectState) -> Iterator[ScheduledLoop]:
    from core.export.roles.places import ScheduledLoop

    names = state.project.kernel_schedules or (state.active,)
    for name in names:
        variant = state.variants[name]
        opened, schedule = variant.opened, variant.schedule
        if opened.tiles is None:
            raise ValueError("a sheet needs a project with TTGIR text; this one is a graph")
        if len(names) > 1 and any(op.category is Category.LOOP for op in opened.tiles.ops.values()):
            continue
        if schedule is None:
            raise ValueError(f"the loop of '{name}' has no schedule yet")
        broken = check(variant.graph, schedule).violations
        if broken:
            raise ValueError(f"the schedule is not legal: {broken[0].message}")
        yield ScheduledLoop(opened.tiles, variant.graph, schedule, opened.fusion)


class Exporting(QObject):
    """Opens the dialog, writes what it asks for, and says where it is."""

    message = Signal(object)  # Message

    def __init__(self, document: Document, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._window = window

    def open_dialog(self) -> None:
        """Shows what can be exported, if there is a schedule."""
        state = self._document.state
        if state is None or state.variant.schedule is None:
            return
        dialog = ExportDialog(_choices(), self._suggested(state), self._window)
        dialog.preview_requested.connect(lambda: self._preview(dialog, state))
        dialog.write_requested.connect(lambda: self._write(dialog, state))
        dialog.command_requested.connect(lambda: self._copy_command(dialog, state))
        dialog.copy_requested.connect(lambda: self._copy(dialog, state))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        dialog.choose(0)

    def _preview(self, dialog: ExportDialog, state: ProjectState) -> None:
        found = self._exported(dialog, state, for_preview=True)
        if found is not None:
            dialog.show_preview(found.content, found.warnings)

    def _exported(self, dialog: ExportDialog, state: ProjectState, *, for_preview: bool = False) -> Exported | None:
        wanted = tuple(ExportFormat)[dialog.chosen]
        if for_preview and isinstance(wanted.writer, PictureFormat):
            wanted = ExportFormat.PNG  # the same picture
        try:
            return exported(state, wanted, unrolled=dialog.unrolled)
        except ValueError as fault:
            dialog.show_fault(f"{str(fault)[:1].upper()}{str(fault)[1:]}.")
        except InputError as fault:
            dialog.show_fault(fault.diagnostics[0].format())
        return None

    def _write(self, dialog: ExportDialog, state: ProjectState) -> None:
        found = self._exported(dialog, state)
        if found is None:
            return
        file = dialog.file
        try:
            write_atomically(file, found.content)
        except OSError as fault:
            dialog.show_fault(f"Cannot write {file}: {fault.strerror or fault}")
            return
        dialog.accept()
        severity = Severity.WARNING if found.warnings else Severity.NOTE
        self.message.emit(Message(_TOPIC, severity, "\n".join([f"Written: {file}", *found.warnings])))

    def _copy(self, dialog: ExportDialog, state: ProjectState) -> None:
        found = self._exported(dialog, state, for_preview=True)
        if found is None:
            return
        clipboard = QGuiApplication.clipboard()
        if isinstance(found.content, str):
            clipboard.setText(found.content)
        else:
            clipboard.setImage(dialog.picture)
        dialog.say("Copied.")

    def _copy_command(self, dialog: ExportDialog, state: ProjectState) -> None:
        wanted = tuple(ExportFormat)[dialog.chosen]
        unrolled = dialog.unrolled and isinstance(wanted.writer, PictureFormat)
        command = export_command(state, wanted.writer.value, dialog.file, unrolled=unrolled)
        QGuiApplication.clipboard().setText(command)
        dialog.say("Copied: the command that writes this file." + _only_saved(self._document))

    def _suggested(self, state: ProjectState) -> Path:
        base = state.project.file or state.project.input.path
        return base.with_name(f"{state.project.input.path.stem}.{state.active}")


def _choices() -> list[tuple[str, str, str, bool]]:
    return [(one.title, one.purpose, one.suffix, isinstance(one.writer, PictureFormat)) for one in ExportFormat]


def _only_saved(document: Document) -> str:
    return " It reads the files on disk: save your changes first." if document.modified else ""
