"""A measured run over the shown schedule: read once, compared again with every edit; its costs are only proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from core.diagnostics import InputError, Severity
from twill_gui.command_lines import export_command
from twill_gui.document import settings
from twill_gui.document.document import Document
from twill_gui.document.state import Change
from twill_gui.views.measured import NO_RUN, MeasuredView
from twill_gui.views.message_bar import Message

if TYPE_CHECKING:
    from core.export.marks_file import Marks
    from core.export.measured import Comparison, Proposal

_FILTER = "Measured runs (*.json);;All files (*)"
_HEAD = 200
"""Characters at the beginning of a file of marks that hold its schema."""


@dataclass(frozen=True, slots=True)
class Run:
    """A file of marks and what it says of the shown loop."""

    file: Path
    marks: Marks


class Measuring(QObject):
    """Asks for the file, keeps its marks, and answers the dock."""

    message = Signal(object)  # Message
    seen_changed = Signal(object)  # by op its SeenPlace

    def __init__(self, document: Document, view: MeasuredView, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._view = view
        self._window = window
        self._file: Path | None = None
        self._marks: tuple[int, Marks] | None = None  # of the loop of that index
        self._comparison: Comparison | None = None
        view.file_requested.connect(self.choose)
        view.costs_requested.connect(self._take_costs)
        view.command_requested.connect(self._copy_command)
        view.strips_toggled.connect(self._show_strips)
        view.selection_requested.connect(document.select)
        document.changed.connect(self._on_changed)

    @property
    def comparison(self) -> Comparison | None:
        """Plan and run, while there are both."""
        return self._comparison

    @property
    def run(self) -> Run | None:
        """The run that is shown, while the plan is one that it can be compared with."""
        if self._comparison is None or self._file is None or self._marks is None:
            return None
        return Run(self._file, self._marks[1])

    def choose(self) -> None:
        """Asks for the file of a run."""
        state = self._document.state
        near = self._file or (state.project.file or state.project.input.path if state else None)
        folder = near.parent if near else Path.cwd()
        name, _ = QFileDialog.getOpenFileName(self._window, "Open run", str(folder), _FILTER)
        if name:
            self.open(Path(name))

    def open(self, file: Path) -> bool:
        """Takes the run of a file; False, with a message, if it is none of the shown loop and schedule."""
        before = self._file, self._marks
        self._file, self._marks = file, None
        try:
            self._compare()
        except (InputError, ValueError) as fault:
            self._file, self._marks = before
            self.message.emit(Message("measured", Severity.ERROR, f"Cannot show {file.name}: {_told(fault)}"))
            return False
        self._show()
        return True

    def _on_changed(self, change: Change) -> None:
        if Change.PROJECT in change:
            self._file = self._marks = None
        if self._file is None:
            self._comparison = None
            self._view.show_rows(NO_RUN, ())
            self._show_strips()
            return
        try:
            self._compare()
        except (InputError, ValueError) as fault:
            self._comparison = None
            self._view.show_rows(f"{self._file.name}: {_told(fault)}.", ())
            self._show_strips()
            return
        self._show()

    def _compare(self) -> None:
        """Raises InputError if the run is of something else, ValueError if there is nothing to compare it with."""
        from core.export.marks_file import read_marks  # the window starts without the exporter
        from core.export.measured import compared

        state = self._document.state
        if self._file is None or state is None or state.variant.schedule is None:
            raise ValueError("there is no schedule to compare the run with")
        opened = state.variant.opened
        if opened.tiles is None:
            raise ValueError("this project is a dependence graph, of which no kernel can be run")
        loop = opened.tiles.loop.index
        if self._marks is None or self._marks[0] != loop:
            self._marks = loop, read_marks(self._file, loop)
        found = compared(state.variant.graph, state.variant.schedule, opened.fusion, self._marks[1])
        if not found.ops:
            raise ValueError("the run has no marks of the loop shown")
        self._comparison = found

    def _show(self) -> None:
        from twill_gui.models.measured import measured_rows, sentence

        if self._comparison is None or self._file is None:
            return
        text, takeable = f"{self._file.name}. {sentence(self._comparison)}", self._takeable()
        if len(takeable) < len(self._comparison.proposals):
            text += " A block of fused operations has the costs of its parts: what is proposed for it cannot be taken."
        self._view.show_rows(text, measured_rows(self._comparison), can_take=bool(takeable))
        self._show_strips()

    def _show_strips(self) -> None:
        from twill_gui.models.measured import seen_places

        found = self._comparison if self._view.strips.isChecked() else None
        self.seen_changed.emit(seen_places(found) if found is not None else {})

    def _takeable(self) -> Sequence[Proposal]:
        """Proposals for ops that have costs of their own; a block of several ops has those of its parts."""
        state = self._document.state
        if state is None or self._comparison is None:
            return ()
        fusion = state.variant.opened.fusion
        return [one for one in self._comparison.proposals if fusion is None or one.op not in fusion.blocks]

    def _take_costs(self) -> None:
        proposals = self._takeable()
        if not proposals or self._file is None:
            return
        try:
            settings.take_costs(self._document, proposals, f"seen in {self._file.name}")
        except InputError as fault:
            self.message.emit(Message("measured", Severity.ERROR, f"Cannot take the costs: {_told(fault)}"))

    def _copy_command(self) -> None:
        state = self._document.state
        if state is None or self._file is None:
            return
        place = self._file.with_name(f"{self._file.stem}.trace.json")
        QGuiApplication.clipboard().setText(export_command(state, "trace", place, "--measured", str(self._file)))


def is_run(file: Path) -> bool:
    """Whether a file has the marks of a run, as far as its beginning tells."""
    from core.export.marks_file import SCHEMA

    try:
        with file.open(encoding="utf-8") as text:
            return f'"{SCHEMA}"' in text.read(_HEAD)
    except (OSError, UnicodeDecodeError):
        return False


def _told(fault: Exception) -> str:
    return fault.diagnostics[0].message if isinstance(fault, InputError) else str(fault)
