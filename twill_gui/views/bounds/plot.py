"""A place for the chart of bound and best II, which is made when the first solve begins: pyqtgraph takes half a second
to import, and a window that only shows schedules does without."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from twill_gui.models.solve_progress import CoursePoint
from twill_gui.theme import Colors

if TYPE_CHECKING:
    from twill_gui.views.bounds.chart import BoundChart

CHART_HEIGHT = 104
CHART_MODULE = "twill_gui.views.bounds.chart"
IMPORT_SWITCH_S = 0.0002
"""Seconds that the importing thread keeps the interpreter while the window's thread asks for it. For all threads and
all the time it would be dearer: edits took half as long again."""


class _Importer(QObject):
    """Imports the chart's module on a pool thread, once."""

    done = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._started = False

    def start(self) -> None:
        if not self._started:
            self._started = True
            self._pool.start(self._import)

    def wait(self) -> None:
        self._pool.waitForDone()

    def _import(self) -> None:
        usual = sys.getswitchinterval()
        # Each call of the window into Qt waits for so long to go on in Python: 5 ms a call add up to a hold-up.
        sys.setswitchinterval(IMPORT_SWITCH_S)
        try:
            importlib.import_module(CHART_MODULE)
        finally:
            sys.setswitchinterval(usual)
        self.done.emit()


class BoundPlot(QWidget):
    """Hidden as long as there is nothing to plot."""

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = colors
        self._course: Sequence[CoursePoint] = ()
        self._seconds = 0.0
        self._chart: BoundChart | None = None
        self._legend = QLabel()
        self._legend.setContentsMargins(8, 2, 8, 0)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(self._legend)
        self._importer = _Importer(self)
        self._importer.done.connect(self._make_chart, Qt.ConnectionType.QueuedConnection)
        self.setAccessibleName("Bound and best II over time")
        self.set_colors(colors)
        self.hide()

    @property
    def chart(self) -> BoundChart | None:
        """The chart, once it has been made."""
        return self._chart

    def prepare(self) -> None:
        """A solve begins: there will be something to plot."""
        self._importer.start()

    def set_course(self, course: Sequence[CoursePoint], seconds: float) -> None:
        """What the steps of a solve proved and found, and how long it has taken so far."""
        self._course, self._seconds = course, seconds
        if self._chart is not None and course:
            self._chart.set_course(course, seconds)
        self.setVisible(self._chart is not None and bool(course))
        self.setAccessibleDescription(_sentence(course[-1]) if course else "")

    def set_colors(self, colors: Colors) -> None:
        """Light or dark colours."""
        self._colors = colors
        self._legend.setText(
            f'<span style="color: {colors.link}">━</span> best II &nbsp;&nbsp;'
            f'<span style="color: {colors.good}">╍</span> proved bound, over seconds'
        )
        if self._chart is not None:
            self._chart.set_colors(colors)

    def shut_down(self) -> None:
        """Returns when nothing works in the background any more."""
        self._importer.wait()

    def _make_chart(self) -> None:
        from twill_gui.views.bounds.chart import BoundChart

        self._chart = BoundChart(self._colors)
        self._chart.setFixedHeight(CHART_HEIGHT)
        self._layout.addWidget(self._chart)
        self.set_course(self._course, self._seconds)


def _sentence(point: CoursePoint) -> str:
    best = f"best II {point.upper}" if point.upper is not None else "none found"
    return f"after {point.seconds:.1f} s: proved bound {point.lower}, {best}"
