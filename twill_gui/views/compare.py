"""The Compare dock: another schedule beside the one shown, as a list of differences and as outlines in the chart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from core.schedule.fit import misfits
from core.schedule.model import Schedule
from twill_gui.document.document import Document
from twill_gui.models.differences import DifferenceRow, difference_rows
from twill_gui.models.table import Column, TableModel
from twill_gui.views.tables import compact_table

_COLUMNS = (
    Column[DifferenceRow]("What", lambda row: row.what),
    Column[DifferenceRow]("Shown", lambda row: row.shown),
    Column[DifferenceRow]("Other", lambda row: row.other),
    Column[DifferenceRow]("Change", lambda row: row.change),
)
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schedule to compare with: what it is called, and how to get it now; None where there is none."""

    name: str
    schedule: Callable[[], Schedule | None]


class CompareView(QWidget):
    """`other_changed` carries the schedule whose ops the chart is to outline, or None. A row leads to its op."""

    selection_requested = Signal(object)
    other_changed = Signal(object)
    file_requested = Signal()

    def __init__(
        self, document: Document, as_saved: Callable[[], Schedule | None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._as_saved = as_saved
        self._from_file: Candidate | None = None
        self._candidates: list[Candidate] = []
        self.choice = QComboBox()
        self.choice.setAccessibleName("Compare with")
        self.choice.setToolTip("Another schedule of the project, the shown one as saved, or a file")
        self.choice.activated.connect(self._show)
        self.outlines = QCheckBox("Outline in the chart")
        self.outlines.setChecked(True)
        self.outlines.setToolTip("Dashed outlines where the other schedule has its operations")
        self.outlines.toggled.connect(self._show)
        self.file_button = QPushButton("From file\N{HORIZONTAL ELLIPSIS}")
        self.file_button.setToolTip("Compare with a schedule file")
        self.file_button.clicked.connect(self.file_requested)
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        self.summary.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.model = TableModel[DifferenceRow](_COLUMNS, self)
        self.table = compact_table(self.model, "Differences", "Enter or a click on a row selects its operation")
        self.table.clicked.connect(self._select)
        self.table.activated.connect(self._select)
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 0)
        label = QLabel("&With")
        label.setBuddy(self.choice)
        for widget in (label, self.choice, self.file_button, self.outlines):
            row.addWidget(widget)
        row.addStretch(1)
        self.summary.setContentsMargins(8, 2, 8, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(row)
        layout.addWidget(self.summary)
        layout.addWidget(self.table, 1)
        document.changed.connect(self._refresh)
        document.located.connect(self._refresh)
        self._refresh()

    @property
    def other(self) -> Schedule | None:
        """The schedule compared with, if there is one and it is of the loop shown."""
        index, graph = self.choice.currentIndex() - 1, self._document.graph
        schedule = self._candidates[index].schedule() if 0 <= index < len(self._candidates) else None
        return None if schedule is None or graph is None or any(misfits(graph, schedule)) else schedule

    def compare_with_file(self, name: str, schedule: Schedule) -> None:
        """Adds a schedule read from a file to the choice and takes it."""
        self._from_file = Candidate(name, lambda: schedule)
        self._refresh()
        self.choose(name)

    def choose(self, name: str) -> None:
        """Compares with the candidate of that name; with nothing if there is none."""
        self.choice.setCurrentIndex(max(self.choice.findText(name), 0))
        self._show()

    def _refresh(self) -> None:
        """Offers what there is now; what was chosen stays chosen where it is still there."""
        state = self._document.state
        if state is None:
            self._from_file = None
        names = [name for name in state.variants if name != state.active] if state else []
        self._candidates = [Candidate(name, lambda name=name: self._kept(name)) for name in names]
        if state is not None:
            self._candidates.append(Candidate("as last saved", self._as_saved))
        if self._from_file:
            self._candidates.append(self._from_file)
        chosen = self.choice.currentText()
        with QSignalBlocker(self.choice):
            self.choice.clear()
            self.choice.addItems([NOTHING, *(candidate.name for candidate in self._candidates)])
            self.choice.setCurrentIndex(max(self.choice.findText(chosen), 0))
        self._show()

    def _kept(self, name: str) -> Schedule | None:
        state = self._document.state
        return state.variants[name].schedule if state and name in state.variants else None

    def _show(self) -> None:
        graph, shown, other = self._document.graph, self._document.schedule, self.other
        self.other_changed.emit(other if self.outlines.isChecked() else None)
        rows = difference_rows(graph, shown, other) if graph and shown and other else []
        self.model.set_rows(rows)
        self.table.setVisible(bool(rows))
        self.summary.setText(self._sentence(rows, other))

    def _sentence(self, rows: list[DifferenceRow], other: Schedule | None) -> str:
        if self.choice.currentIndex() <= 0:
            return "Choose a schedule to compare the shown one with."
        if other is None:
            return "There is no such schedule of the loop shown: its operations or groups are others."
        if not rows:
            return "The two schedules are the same."
        moved = sum(row.op is not None for row in rows)
        return f"{moved} of {len(self._document.graph.ops) if self._document.graph else 0} operations lie elsewhere."

    def _select(self, index: QModelIndex) -> None:
        op = self.model.rows[index.row()].op
        if op is not None:
            self.selection_requested.emit(frozenset({op}))
