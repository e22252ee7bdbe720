"""Open, save, close and recover, with the questions that they need to ask."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from core.diagnostics import Diagnostic, InputError, Severity
from core.ir.model import Loop
from core.project.load import PROJECT_FILE
from core.schedule.model import Schedule
from twill_gui.dialogs.loops import LoopDialog
from twill_gui.document.document import Document
from twill_gui.document.files import MISSING_SCHEDULE, Opened, open_state, save_state
from twill_gui.document.recovery import Autosave, Leftover, find_leftovers
from twill_gui.document.state import ProjectState
from twill_gui.settings import Settings
from twill_gui.views.message_bar import Message

_OPEN_FILTER = "Projects, TTGIR and graphs (*.yaml *.yml *.json *.ttgir *.mlir *.txt);;All files (*)"
_INPUT_FILTER = "TTGIR and graphs (*.ttgir *.mlir *.txt *.yaml *.yml *.json);;All files (*)"
_SAVE_FILTER = "Projects (*.yaml *.yml)"


class ProjectFiles(QObject):
    """The document's way from and to disk."""

    message = Signal(object)  # Message
    diagnostics = Signal(object)  # tuple[Diagnostic, ...]: what reading the open project, or failing to, brought up
    recent_changed = Signal()

    def __init__(self, document: Document, settings: Settings, recovery: Path, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._settings = settings
        self._recovery = recovery
        self._window = window
        self._notes: tuple[Diagnostic, ...] = ()
        self.autosave = Autosave(document, recovery, self)
        self.autosave.failed.connect(self._on_autosave_failed)

    def saved_schedule(self) -> Schedule | None:
        """The shown schedule as it was when the project was opened or last saved, None if it was not there."""
        state, kept = self._document.state, self._document.kept
        variant = kept.variants.get(state.active) if kept and state else None
        return variant.schedule if variant else None

    def choose_input(self) -> None:
        """Asks for a TTGIR or graph file and begins a project with it."""
        folder = self._present_folder()
        name, _ = QFileDialog.getOpenFileName(self._window, "New project from", str(folder), _INPUT_FILTER)
        if name:
            self.open(Path(name))

    def choose(self) -> None:
        """Asks for a file and opens it."""
        folder = self._present_folder()
        name, _ = QFileDialog.getOpenFileName(self._window, "Open", str(folder), _OPEN_FILTER)
        if name:
            self.open(Path(name))

    def open(self, path: Path, ask: bool = True) -> bool:
        """Opens a file if what is open may be closed. Where several loops could be meant it asks, or takes the first.

        Faults of the file go to Problems and into a message.
        """
        if not self.may_close():
            return False
        path = path.absolute()
        try:
            opened = open_state(path)
            if opened.candidates and ask:
                loop = self._ask_for_loop(path, opened.candidates)
                if loop is None:
                    return False
                opened = open_state(path, loop)
        except InputError as fault:
            self._tell_fault(f"Cannot open {path.name}", fault)
            return False
        self._show(opened)
        self._settings.add_recent_file(path / PROJECT_FILE if path.is_dir() else path)
        self.recent_changed.emit()
        return True

    def save(self) -> bool:
        """Saves where the project is kept; asks where if that is not known."""
        state = self._document.state
        if state is None:
            return False
        return self._write(state, state.project.file) if state.project.file else self.save_as()

    def save_as(self) -> bool:
        """Asks for a project file and saves there. False if the user gave up or it failed."""
        state = self._document.state
        if state is None:
            return False
        place = state.project.file or state.project.input.path.with_name(PROJECT_FILE)
        name, _ = QFileDialog.getSaveFileName(self._window, "Save as", str(place), _SAVE_FILTER)
        if not name:
            return False
        file = Path(name)
        if not self._write(state, file if file.suffix in (".yaml", ".yml") else file.with_name(f"{file.name}.yaml")):
            return False
        self._settings.add_recent_file(file)
        self.recent_changed.emit()
        return True

    def close(self) -> bool:
        """Closes the project unless the user wants to keep it."""
        if not self.may_close():
            return False
        self._document.close()
        self._tell_notes(())
        return True

    def may_close(self) -> bool:
        """Whether nothing would be lost, after asking about unsaved changes."""
        state = self._document.state
        if state is None or not self._document.modified:
            return True
        box = QMessageBox(
            QMessageBox.Icon.Warning,
            "Unsaved changes",
            f"Save the changes to \N{LEFT DOUBLE QUOTATION MARK}{state.project.name}\N{RIGHT DOUBLE QUOTATION MARK}?",
            QMessageBox.StandardButton.Save | QMessageBox.StandardButton.Discard | QMessageBox.StandardButton.Cancel,
            self._window,
        )
        box.setInformativeText("They are lost if you do not save them.")
        box.setDefaultButton(QMessageBox.StandardButton.Save)
        answer = box.exec()
        box.deleteLater()
        if answer == QMessageBox.StandardButton.Save:
            return self.save()
        return answer == QMessageBox.StandardButton.Discard

    def offer_recovery(self) -> None:
        """Tells of the work that windows which no longer live have left unsaved."""
        for leftover in reversed(find_leftovers(self._recovery)):
            text = f"Unsaved changes to {leftover.name} from {leftover.written:%d %B, %H:%M} were kept."
            buttons = (("Recover", lambda it=leftover: self._recover(it)), ("Discard", leftover.discard))
            self.message.emit(Message(f"recovery {leftover.folder.name}", Severity.WARNING, text, buttons))

    def _recover(self, leftover: Leftover) -> None:
        if not self.may_close():
            self.offer_recovery()
            return
        try:
            work = leftover.state()
            opened = open_state(leftover.origin)
        except InputError as fault:
            self._tell_fault(f"Cannot recover the changes to {leftover.name}", fault)
            return
        self._show(opened)
        location = opened.state.location
        self._document.edit("Recover unsaved changes", lambda _: work.at(location))
        self.autosave.write()
        self.autosave.wait()
        leftover.discard()

    def _ask_for_loop(self, path: Path, candidates: tuple[Loop, ...]) -> int | None:
        dialog = LoopDialog(path.name, candidates, self._window)
        accepted = dialog.exec() == LoopDialog.DialogCode.Accepted
        index = dialog.loop.index
        dialog.deleteLater()
        return index if accepted else None

    def _show(self, opened: Opened) -> None:
        self._document.open(opened.state)
        self._tell_notes(opened.diagnostics)

    def _tell_notes(self, notes: tuple[Diagnostic, ...]) -> None:
        self._notes = notes
        self.diagnostics.emit(notes)

    def _write(self, state: ProjectState, file: Path) -> bool:
        try:
            saved = save_state(state, file, self._document.kept)
        except InputError as fault:
            self._tell_fault(f"Cannot save {file.name}", fault)
            return False
        except OSError as fault:
            text = f"Cannot save {file}: {fault.strerror or fault}"
            self.message.emit(Message("save", Severity.ERROR, text))
            return False
        self._document.saved(saved)
        if all(variant.schedule for variant in saved.variants.values()):
            self._tell_notes(tuple(note for note in self._notes if note.code != MISSING_SCHEDULE))
        return True

    def _tell_fault(self, what: str, fault: InputError) -> None:
        first, *others = fault.diagnostics
        more = f" (and {len(others)} more, see Problems)" if others else ""
        self.message.emit(Message("file", Severity.ERROR, f"{what}: {first.format()}{more}"))
        self.diagnostics.emit(fault.diagnostics)

    def _on_autosave_failed(self, reason: str) -> None:
        self.message.emit(Message("autosave", Severity.WARNING, f"Autosave does not work: {reason}"))

    def _present_folder(self) -> Path:
        state = self._document.state
        if state is None:
            recent = self._settings.recent_files
            return recent[0].parent if recent else Path.cwd()
        return (state.project.file or state.project.input.path).parent
