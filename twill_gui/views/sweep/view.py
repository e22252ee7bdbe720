"""The Sweep dock: axes and their values, the rows as they come, and the plot of II against the first axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from core.sweep.axis_forms import AXIS_FORMS
from core.sweep.rows import FIELDS, Row, cells
from core.sweep.setting import label
from twill_gui.models.table import Column, TableModel
from twill_gui.theme import Colors
from twill_gui.views.sweep.plot import SweepPlot
from twill_gui.views.tables import compact_table

_HEADS = {"proved_lower_bound": "proved bound", "ii": "II", "seconds": "s"}


class SweepView(QWidget):
    """Emits what the user asks for; `show_rows` shows what came of it."""

    run_requested = Signal(str)
    cancel_requested = Signal()
    save_requested = Signal()
    command_requested = Signal(str)

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = colors
        self.field = QLineEdit()
        self.field.setPlaceholderText("registers=160,200,240 groups.compute=1,2")
        self.field.setAccessibleName("Axes and values")
        self.field.setClearButtonEnabled(True)
        self.field.returnPressed.connect(self._run)
        self.axes = QComboBox()
        self.axes.setAccessibleName("Add an axis")
        self.axes.setToolTip("A number to sweep over; its values are typed into the field")
        self.axes.addItem("Add an axis\N{HORIZONTAL ELLIPSIS}")
        for form in AXIS_FORMS:
            self.axes.addItem(f"{form.written} \N{EN DASH} {form.summary}", form)
        self.axes.setMaximumWidth(150)
        self.axes.activated.connect(self._add_axis)
        self.run_button = QPushButton("Run")
        self.run_button.setToolTip("Solve at every combination of the values, one after another")
        self.run_button.clicked.connect(self._run)
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setToolTip("End the sweep; the points that are done stay")
        self.cancel_button.clicked.connect(self.cancel_requested)
        self.save_button = QPushButton("Save\N{HORIZONTAL ELLIPSIS}")
        self.save_button.setToolTip("Save the plot (.svg) or the table (.csv)")
        self.save_button.clicked.connect(self.save_requested)
        self.command_button = QPushButton("Copy as command line")
        self.command_button.setToolTip("Copy the command that runs this sweep without the window")
        self.command_button.clicked.connect(lambda: self.command_requested.emit(self.field.text()))
        self.note = QLabel()
        self.note.setWordWrap(True)
        self.progress = QProgressBar()
        self.progress.setFixedHeight(4)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("Points done")
        self.plot = SweepPlot()
        self.model = TableModel[Row]((), self)
        self.table = compact_table(self.model, "Points of the sweep", "What the solve at each point has found")
        self._build()
        self.set_running(False)
        self.show_rows((), (), "")

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 0)
        row.addWidget(self.field, 1)
        for widget in (self.axes, self.run_button, self.cancel_button, self.save_button, self.command_button):
            row.addWidget(widget)
        self.note.setContentsMargins(8, 0, 8, 0)
        splitter = QSplitter()
        splitter.addWidget(self.plot)
        splitter.addWidget(self.table)
        splitter.setSizes([400, 400])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.note)
        layout.addWidget(self.progress)
        layout.addWidget(splitter, 1)

    def show_rows(self, keys: Sequence[str], rows: Sequence[Row], svg: str) -> None:
        """The points that are done, in the order of the sweep, and their plot."""
        if rows:
            heads = [*keys, *(_HEADS.get(field, field) for field in FIELDS)]
            columns = [Column[Row](head, _cell(number)) for number, head in enumerate(heads)]
            self.model.set_columns(columns)
            self.model.set_rows(rows)
        else:
            self.model.set_rows(())
        words = "; ".join(f"{label(row.values)}: II {row.fields['ii']}" for row in rows)
        self.plot.set_svg(svg, words)
        self.plot.setVisible(bool(rows))
        self.table.setVisible(bool(rows))
        self.save_button.setEnabled(bool(rows))

    def show_progress(self, done: int, points: int) -> None:
        """How far the sweep is."""
        self.progress.setRange(0, max(points, 1))
        self.progress.setValue(done)

    def say(self, text: str, *, fault: bool = False) -> None:
        """A line under the axes."""
        self.note.setText(text)
        self.note.setVisible(bool(text))
        self.note.setStyleSheet(f"color: {self._colors.error if fault else self._colors.muted}")

    def set_running(self, running: bool) -> None:
        """A sweep runs, or not any more."""
        self.run_button.setEnabled(not running)
        self.cancel_button.setEnabled(running)
        self.progress.setVisible(running)

    def set_colors(self, colors: Colors) -> None:
        """Colours the texts for the theme in use."""
        self._colors = colors
        self.say(self.note.text())

    def _run(self) -> None:
        if self.run_button.isEnabled():
            self.run_requested.emit(self.field.text())

    def _add_axis(self) -> None:
        form = self.axes.currentData()
        self.axes.setCurrentIndex(0)
        if form is not None:
            self.field.setText(f"{self.field.text()} {form.written}=".lstrip())
            self.field.setFocus()


def _cell(number: int) -> Callable[[Row], str]:
    return lambda row: str(cells(row)[number])
