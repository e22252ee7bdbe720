"""The Jobs dock: what the running solve has decided so far, and what the last one found."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from twill_gui.models.solve_progress import SolveProgress
from twill_gui.theme import Colors
from twill_gui.views.bounds import BoundPlot
from twill_gui.views.tables import compact_table

_TICK_MS = 250


class JobsView(QWidget):
    """Progress of a solve: state, bracket on II, the trail of decided IIs, and the objective levels."""

    cancel_requested = Signal()

    def __init__(self, progress: SolveProgress, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = colors
        self._model = progress
        self._headline, self._elapsed = QLabel(), QLabel()
        self._bracket, self._note = QLabel(), QLabel()
        for label in (self._headline, self._bracket, self._note):
            label.setWordWrap(True)
        self._activity = QProgressBar()
        self._activity.setTextVisible(False)
        self._activity.setFixedHeight(3)
        self._activity.setAccessibleName("A solve is running")
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setToolTip("Stop the solve, keeping the best so far (Ctrl+.)")
        self.cancel_button.clicked.connect(self.cancel_requested)
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self._show_elapsed)

        top = QHBoxLayout()
        top.addWidget(self._headline, 1)
        top.addWidget(self._elapsed)
        top.addWidget(self.cancel_button)
        texts = QVBoxLayout()
        texts.setContentsMargins(8, 6, 8, 6)
        texts.setSpacing(4)
        texts.addLayout(top)
        texts.addWidget(self._bracket)
        texts.addWidget(self._note)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(texts)
        layout.addWidget(self._activity)
        self.trail_table = compact_table(
            progress.trail, "Initiation intervals decided so far", "Each with its verdict, and who decided it"
        )
        self.level_table = compact_table(progress.levels, "Objective levels", "Each with its best value and its proof")
        row = self.trail_table.verticalHeader().defaultSectionSize()
        self.trail_table.setMinimumHeight(self.trail_table.horizontalHeader().sizeHint().height() + 2 * row + 2)
        rows = self.level_table.verticalHeader().defaultSectionSize() * progress.level_count
        self.level_table.setFixedHeight(self.level_table.horizontalHeader().sizeHint().height() + rows + 2)
        self.plot = BoundPlot(colors)
        layout.addWidget(self.trail_table, 1)
        layout.addWidget(self.plot)
        layout.addWidget(self.level_table)
        progress.trail.rowsInserted.connect(self.trail_table.scrollToBottom)
        progress.changed.connect(self._show)
        self._show()

    def set_colors(self, colors: Colors) -> None:
        """Colours the headline and the plot for the theme in use."""
        self._colors = colors
        self.plot.set_colors(colors)
        self._show()

    def shut_down(self) -> None:
        """Returns when nothing works in the background any more."""
        self.plot.shut_down()

    def _show(self) -> None:
        model = self._model
        self._headline.setText(model.headline)
        self._headline.setStyleSheet(f"font-weight: 600; color: {model.tone.color(self._colors)};")
        for label, text in ((self._bracket, model.bracket), (self._note, model.note)):
            label.setText(text)
            label.setVisible(bool(text))
        self._fit_texts()
        self.cancel_button.setVisible(model.running)
        self.cancel_button.setEnabled(not model.stopping)
        self._activity.setRange(0, 0 if model.running else 1)
        self._activity.setVisible(model.running)
        self.level_table.setVisible(bool(model.levels.rows))
        if model.running and not self._timer.isActive():
            self._timer.start()
            self.plot.prepare()
        elif not model.running:
            self._timer.stop()
        self._show_elapsed()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_texts()

    def _fit_texts(self) -> None:
        """A layout would rather cut the tables' last rows than count the lines of wrapped text."""
        for label in (self._bracket, self._note):
            label.setMinimumHeight(label.heightForWidth(label.width()) if label.text() else 0)

    def _show_elapsed(self) -> None:
        seconds = self._model.seconds
        self._elapsed.setText(f"{seconds:.1f} s" if seconds else "")
        self.plot.set_course(self._model.course, seconds)
