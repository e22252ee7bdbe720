"""The shown schedule for other tools: what it would look like, what the format cannot hold, and the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from core.diagnostics import InputError, Severity
from core.export.cuda.options import Options, Order
from core.export.exported import TextFormat
from core.files import write_atomically
from twill_gui.command_lines import export_command, kernel_command
from twill_gui.dialogs.export import Choice, ExportDialog, Kind
from twill_gui.document.document import Document
from twill_gui.document.state import ProjectState
from twill_gui.export_formats import (
    Exported,
    ExportFormat,
    KernelFormat,
    OverrideFormat,
    exported,
    write_kernel,
)
from twill_gui.image_export import PictureFormat
from twill_gui.measuring import Measuring, Run
from twill_gui.triton_passes import TritonPasses, passes_input
from twill_gui.views.message_bar import Message

_TOPIC = "export"
_CUDA, _TRITON = ExportFormat.CUDA.writer, ExportFormat.TRITON.writer


class Exporting(QObject):
    """Opens the dialog, writes what it asks for, and says where it is."""

    message = Signal(object)  # Message

    _kernel_written = Signal(object)  # from the pool thread: what to say of it, or the error

    def __init__(self, document: Document, measuring: Measuring, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._measuring = measuring
        self._window = window
        self._dialog: ExportDialog | None = None
        self._pool = QThreadPool(self)
        self._passes = TritonPasses(self)
        self._passes.done.connect(self._on_passes_done)
        self._final: Exported | Exception | None = None  # what the passes have made for the dialog
        self._kernel_written.connect(self._on_kernel_written, Qt.ConnectionType.QueuedConnection)

    def open_dialog(self) -> None:
        """Shows what can be exported, if there is a schedule."""
        state = self._document.state
        if state is None or state.variant.schedule is None:
            return
        run = self._measuring.run
        dialog = ExportDialog(_choices(), self._suggested(state), run.file.name if run else "", self._window)
        dialog.preview_requested.connect(lambda: self._preview(dialog, state))
        dialog.write_requested.connect(lambda: self._write(dialog, state))
        dialog.command_requested.connect(lambda: self._copy_command(dialog, state))
        dialog.copy_requested.connect(lambda: self._copy(dialog, state))
        dialog.finished.connect(self._forget)
        self._dialog = dialog
        dialog.open()
        dialog.choose(0)

    def shut_down(self) -> None:
        """Returns when nothing is written any more."""
        self._passes.shut_down()
        self._pool.waitForDone()

    def _forget(self) -> None:
        self._passes.stop()
        self._final = None
        if self._dialog is not None:
            self._dialog.deleteLater()
        self._dialog = None

    def _preview(self, dialog: ExportDialog, state: ProjectState) -> None:
        self._passes.stop()
        if tuple(ExportFormat)[dialog.chosen].writer is _TRITON and self._final is None:
            self._run_passes(dialog, state)
            return
        found = self._exported(dialog, state, for_preview=True)
        if found is not None:
            dialog.show_preview(found.content, found.warnings)
            dialog.kernel_options.show_gaps(found.gaps)

    def _run_passes(self, dialog: ExportDialog, state: ProjectState) -> None:
        """The preview follows."""
        from core.toolchain.triton import missing_triton  # for this format alone

        try:
            passes_input(state)
        except (ValueError, InputError) as fault:
            dialog.show_fault(_told(fault))
            return
        missing = missing_triton()
        dialog.show_fault(missing or "Triton's passes are running\N{HORIZONTAL ELLIPSIS}", only_here=True)
        if missing is None:
            self._passes.run(state)

    def _on_passes_done(self, found: Exported | Exception) -> None:
        self._final = found
        if self._dialog is not None:
            self._dialog.preview_requested.emit()

    def _exported(self, dialog: ExportDialog, state: ProjectState, *, for_preview: bool = False) -> Exported | None:
        wanted = tuple(ExportFormat)[dialog.chosen]
        if for_preview and isinstance(wanted.writer, PictureFormat):
            wanted = ExportFormat.PNG  # the same picture
        try:
            if wanted.writer is _TRITON:
                return self._finished_text()
            run = self._measuring.run if dialog.run_box.isChecked() else None
            marks = run.marks if run else None
            return exported(state, wanted, unrolled=dialog.unrolled, options=_options(dialog), marks=marks)
        except (ValueError, InputError, OSError) as fault:
            dialog.show_fault(_told(fault))
        return None

    def _finished_text(self) -> Exported:
        """What the passes have made. Raises what they ended with."""
        if not isinstance(self._final, Exported):
            raise self._final or ValueError("Triton's passes have not finished")
        return self._final

    def _write(self, dialog: ExportDialog, state: ProjectState) -> None:
        if tuple(ExportFormat)[dialog.chosen].writer is _CUDA:
            folder, options, case = dialog.file, _options(dialog), dialog.kernel_options.case
            dialog.set_busy(True)
            self._pool.start(self._writing(lambda: write_kernel(state, folder, options, case)))
            return
        found = self._exported(dialog, state)
        if found is None:
            return
        file = dialog.file / found.file_name
        try:
            write_atomically(file, found.content)
        except OSError as fault:
            dialog.show_fault(f"Cannot write {file}: {fault.strerror or fault}")
            return
        dialog.accept()
        severity = Severity.WARNING if found.warnings else Severity.NOTE
        lines = [f"Written: {file}", *found.warnings, *_how_to_use(file, dialog)]
        self.message.emit(Message(_TOPIC, severity, "\n".join(lines)))

    def _writing(self, work: Callable[[], str]) -> Callable[[], None]:
        """The work with its end told to the window's thread: a case may take the interpreter a while."""

        def run() -> None:
            try:
                self._kernel_written.emit(work())
            except Exception as fault:  # on a pool thread nobody else would learn of it
                self._kernel_written.emit(fault)

        return run

    @Slot(object)
    def _on_kernel_written(self, found: str | Exception) -> None:
        dialog = self._dialog
        if dialog is None:
            return
        dialog.set_busy(False)
        if isinstance(found, Exception):
            dialog.say(_told(found))
            return
        dialog.accept()
        self.message.emit(Message(_TOPIC, Severity.NOTE, found))

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
        QGuiApplication.clipboard().setText(_command(dialog, state, self._measuring.run))
        dialog.say("Copied: the command that writes this file." + _only_saved(self._document))

    def _suggested(self, state: ProjectState) -> Path:
        base = state.project.file or state.project.input.path
        return base.with_name(f"{state.project.input.path.stem}.{state.active}")


def _choices() -> list[Choice]:
    return [Choice(one.title, one.purpose, one.suffix, _kind(one)) for one in ExportFormat]


def _kind(wanted: ExportFormat) -> Kind:
    if wanted.writer is _CUDA:
        return Kind.KERNEL
    if wanted is ExportFormat.TRACE:
        return Kind.TRACE
    if isinstance(wanted.writer, OverrideFormat):
        return Kind.OVERRIDE
    return Kind.PICTURE if isinstance(wanted.writer, PictureFormat) else Kind.TEXT


def _how_to_use(file: Path, dialog: ExportDialog) -> list[str]:
    """What is to be done with a file that does nothing by itself."""
    from core.export.triton_override import switch_on

    return [switch_on(file)] if tuple(ExportFormat)[dialog.chosen].writer is _TRITON else []


def _options(dialog: ExportDialog) -> Options:
    chosen = dialog.kernel_options
    order = Order.LONGEST_FIRST if chosen.longest_box.isChecked() else Order.AS_LAUNCHED
    return Options(chosen.persistent_box.isChecked(), order, inline_assembly=chosen.assembly_box.isChecked())


def _command(dialog: ExportDialog, state: ProjectState, run: Run | None) -> str:
    """The command that writes what the dialog would. A sheet as JSON is made beside the Markdown."""
    wanted, file = tuple(ExportFormat)[dialog.chosen].writer, dialog.file
    if wanted is KernelFormat.SHEET:
        return kernel_command(state, wanted.value, file)
    if wanted is KernelFormat.SHEET_JSON:
        return kernel_command(state, KernelFormat.SHEET.value, file.with_suffix(".md"))
    if wanted is KernelFormat.CUDA:
        chosen = dialog.kernel_options
        words = ["--persistent"] if chosen.persistent_box.isChecked() else []
        words += ["--longest-first"] if chosen.longest_box.isChecked() else []
        words += ["--allow-inline-asm"] if chosen.assembly_box.isChecked() else []
        words += ["--case", str(chosen.case)] if chosen.case else []
        return kernel_command(state, wanted.value, file, *words)
    if wanted is TextFormat.TRACE and run is not None and dialog.run_box.isChecked():
        return export_command(state, wanted.value, file, "--measured", str(run.file))
    unrolled = dialog.unrolled and isinstance(wanted, PictureFormat)
    return export_command(state, wanted.value, file, *(["--unrolled"] if unrolled else []))


def _told(fault: Exception) -> str:
    """A fault as a sentence."""
    if isinstance(fault, InputError):
        return fault.diagnostics[0].format()
    if isinstance(fault, OSError):
        return f"Cannot write {fault.filename}: {fault.strerror or fault}"
    text = str(fault) or type(fault).__name__
    return f"{text[:1].upper()}{text[1:]}."


def _only_saved(document: Document) -> str:
    return " It reads the files on disk: save your changes first." if document.modified else ""
