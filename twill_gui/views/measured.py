"""The Measured dock: what a run on a GPU has seen beside the plan, and the costs that it proposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from twill_gui.models.table import Column, TableModel, Tone
from twill_gui.theme import Colors
from twill_gui.views.tables import compact_table

if TYPE_CHECKING:
    from twill_gui.models.measured import MeasuredRow

NO_RUN = (
    "Open what a run has written: twill run FOLDER --trace FILE, with the folder of an exported CUDA kernel. It is "
    "shown beside the plan, and where costs are off, better ones are proposed."
)
_COLUMNS: tuple[Column[MeasuredRow], ...] = (
    Column("Operation", lambda row: row.seen.op),
    Column("Group", lambda row: row.seen.group),
    Column("Issue planned", lambda row: str(row.seen.planned_issue), numeric=True),
    Column(
        "seen",
        lambda row: str(row.seen.seen_issue),
        numeric=True,
        tone=lambda row: Tone.WARNING if row.proposed else Tone.PLAIN,
    ),
    Column(
        "Start planned",
        lambda row: str(row.seen.planned_offset),
        numeric=True,
        tip=lambda row: "Cycles after the first operation of the group in the same iteration",
    ),
    Column("seen", lambda row: str(row.seen.seen_offset), numeric=True),
    Column("Iterations", lambda row: str(row.seen.iterations), numeric=True),
    Column("Proposed costs", lambda row: row.proposed),
)


class MeasuredView(QWidget):
    """Asks for a run; shows it. A row leads to its op. The costs are taken only when the user says so."""

    selection_requested = Signal(object)
    file_requested = Signal()
    costs_requested = Signal()
    command_requested = Signal()
    strips_toggled = Signal()

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.file_button = QPushButton("Open run\N{HORIZONTAL ELLIPSIS}")
        self.file_button.setToolTip("A file that twill run --trace has written")
        self.file_button.clicked.connect(self.file_requested)
        self.strips = QCheckBox("Over the plan")
        self.strips.setChecked(True)
        self.strips.setToolTip("Strips on the bars of the chart, from when to when each operation was seen")
        self.strips.toggled.connect(self.strips_toggled)
        self.take_button = QPushButton("Take proposed costs")
        self.take_button.setToolTip("Into the overrides of the project, as one step that can be undone")
        self.take_button.clicked.connect(self.costs_requested)
        self.command_button = QPushButton("Copy as command line")
        self.command_button.setToolTip("The command that writes this run and its plan as one trace for Perfetto")
        self.command_button.clicked.connect(self.command_requested)
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        self.summary.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.summary.setContentsMargins(8, 2, 8, 2)
        self.model = TableModel(_COLUMNS, self, colors)
        self.table = compact_table(self.model, "Measured run", "Enter or a click on a row selects its operation")
        self.table.clicked.connect(self._select)
        self.table.activated.connect(self._select)
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 0)
        for widget in (self.file_button, self.strips, self.take_button, self.command_button):
            row.addWidget(widget)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(row)
        layout.addWidget(self.summary)
        layout.addWidget(self.table, 1)
        layout.addStretch(0)
        self.show_rows(NO_RUN, ())

    def set_colors(self, colors: Colors) -> None:
        """Colours the texts for the theme in use."""
        self.model.set_colors(colors)

    def show_rows(self, text: str, rows: Sequence[MeasuredRow], *, can_take: bool = False) -> None:
        """What is known of the run, in a sentence and op by op."""
        self.summary.setText(text)
        self.model.set_rows(rows)
        self.table.setVisible(bool(rows))
        self.take_button.setEnabled(can_take)
        self.command_button.setEnabled(bool(rows))

    def _select(self, index: QModelIndex) -> None:
        self.selection_requested.emit(frozenset({self.model.rows[index.row()].seen.op}))
