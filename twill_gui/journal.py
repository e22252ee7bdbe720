"""Writes the log: files, edits with their verdict, solves, explanations and messages."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject

from core.diagnostics import Diagnostic, Severity
from core.schedule.wording import counted
from twill_gui.document.document import Document
from twill_gui.models.solve_progress import SolveProgress
from twill_gui.views.log import LogView
from twill_gui.views.message_bar import Message


class Journal(QObject):
    """Listens to the parts of a window that tell of something."""

    def __init__(self, document: Document, progress: SolveProgress, log: LogView, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._progress = progress
        self._log = log
        self._index = 0
        self._running = False
        document.located.connect(self._on_located)
        document.undo_stack.indexChanged.connect(self._on_index)
        progress.changed.connect(self._on_progress)

    def on_message(self, message: Message) -> None:
        """What is shown above the chart."""
        self._log.add(message.severity, "message", message.text)

    def on_diagnostics(self, diagnostics: Iterable[Diagnostic]) -> None:
        """What reading the files brought up."""
        for diagnostic in diagnostics:
            self._log.add(diagnostic.severity, "file", diagnostic.format())

    def on_explained(self, line: str) -> None:
        """What an explanation has come to."""
        self._log.add(Severity.NOTE, "explain", line)

    def _on_located(self) -> None:
        state = self._document.state
        self._index = self._document.undo_stack.index()
        if state is not None:
            self._log.add(
                Severity.NOTE, "file", f"{state.project.name}: {state.project.file or state.project.input.path}"
            )

    def _on_index(self, index: int) -> None:
        stack, before, self._index = self._document.undo_stack, self._index, index
        if index > before:
            text = stack.text(index - 1)
        elif index < before and before <= stack.count():
            text = f"Undo {stack.text(index)}"
        else:
            return
        self._log.add(Severity.NOTE, "edit", text + self._verdict())

    def _verdict(self) -> str:
        report = self._document.report
        if report is None:
            return ""
        count = len(report.violations)
        return ": legal" if not count else f": {counted(count, 'violation')}"

    def _on_progress(self) -> None:
        running, progress = self._progress.running, self._progress
        if running != self._running:
            self._running = running
            text = progress.headline if running else f"{progress.headline}, {progress.seconds:.1f} s"
            self._log.add(Severity.NOTE, "solve", text)
