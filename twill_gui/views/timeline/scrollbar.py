"""A scroll bar for a time axis."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QScrollBar, QWidget

from twill_gui.views.timeline.axis import TimeAxis

# Scroll bars count in whole steps; the content is cut into so many.
STEPS = 100_000


class TimeScrollBar(QScrollBar):
    """Shows and moves the range of the axis."""

    def __init__(self, axis: TimeAxis, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._axis = axis
        self.setAccessibleName("Time")
        axis.changed.connect(self._follow)
        self.valueChanged.connect(self._lead)
        self._follow()

    def _follow(self) -> None:
        low, high = self._axis.widest
        unit = STEPS / (high - low)
        page = round((self._axis.end - self._axis.start) * unit)
        with QSignalBlocker(self):
            self.setPageStep(page)
            self.setSingleStep(max(page // 10, 1))
            self.setRange(0, max(STEPS - page, 0))
            self.setValue(round((self._axis.start - low) * unit))

    def _lead(self, value: int) -> None:
        low, high = self._axis.widest
        self._axis.pan(low + value * (high - low) / STEPS - self._axis.start)
