"""The ruler above a chart: cycles, names of the sections, interval boundaries and the time under the mouse."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from twill_gui.palette import LIGHT, ViewPalette
from twill_gui.views.timeline.axis import TimeAxis
from twill_gui.views.timeline.ticks import grouped, tick_step, ticks

TICK_PX = 90


@dataclass(frozen=True, slots=True)
class RulerSection:
    """A named part of the time, [start, end)."""

    name: str
    start: int
    end: int


class Ruler(QWidget):
    """Shows the axis; it changes nothing."""

    def __init__(self, axis: TimeAxis, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._axis = axis
        self._ii: int | None = None
        self._sections: tuple[RulerSection, ...] = ()
        self._folded = True
        self._palette = LIGHT
        self.setAccessibleName("Time in cycles")
        axis.changed.connect(self.update)
        axis.cursor_changed.connect(self.update)
        self._set_height()

    def set_content(self, ii: int | None, sections: tuple[RulerSection, ...], folded: bool) -> None:
        """The initiation interval (None: nothing is shown) and the sections to name above the cycles."""
        self._ii, self._sections, self._folded = ii, sections, folded
        self._set_height()
        self.update()

    def set_palette(self, palette: ViewPalette) -> None:
        """Light or dark colours."""
        self._palette = palette
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, self.minimumHeight())

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(self._palette.header))
            if self._ii is not None:
                self._paint_sections(painter)
                self._paint_ticks(painter)
                self._paint_interval(painter)
                self._paint_cursor(painter)
            painter.setPen(QPen(QColor(self._palette.border), 1))
            painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)

    def _set_height(self) -> None:
        line = self.fontMetrics().height()
        self.setFixedHeight(line + 12 + (line + 6 if self._sections else 0))

    def _paint_sections(self, painter: QPainter) -> None:
        line = self.fontMetrics().height() + 6
        for section in self._sections:
            left, right = max(self._axis.x(section.start), 0.0), min(self._axis.x(section.end), float(self.width()))
            if right <= left:
                continue
            box = QRectF(left, 0, right - left, line)
            painter.setPen(QPen(QColor(self._palette.border), 1))
            painter.drawLine(QLineF(round(left) + 0.5, 0, round(left) + 0.5, self.height()))
            text = self.fontMetrics().elidedText(section.name, Qt.TextElideMode.ElideRight, round(box.width()) - 8)
            painter.setPen(QColor(self._palette.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        painter.setPen(QPen(QColor(self._palette.border), 1))
        if self._sections:
            painter.drawLine(0, line, self.width(), line)

    def _paint_ticks(self, painter: QPainter) -> None:
        step = tick_step(self._axis.end - self._axis.start, self.width() / TICK_PX)
        line = self.fontMetrics().height()
        top = self.height() - line - 7
        interval = self._axis.x(self._ii or 0) if self._folded else None
        for time in ticks(self._axis.start, self._axis.end, step):
            x = round(self._axis.x(time)) + 0.5
            painter.setPen(QPen(QColor(self._palette.muted_text), 1))
            painter.drawLine(QLineF(x, self.height() - 6, x, self.height()))
            text = grouped(time)
            width = self.fontMetrics().horizontalAdvance(text)
            if x + 4 + width > self.width() or (interval is not None and time and x + width > interval - width - 40):
                continue
            painter.setPen(QColor(self._palette.text))
            painter.drawText(QRectF(x + 4, top, width + 4, line), Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_interval(self, painter: QPainter) -> None:
        """In the folded view: where the interval ends and how long it is."""
        if not self._folded or self._ii is None:
            return
        x = round(self._axis.x(self._ii)) + 0.5
        text = f"II {grouped(self._ii)}"
        width = self.fontMetrics().horizontalAdvance(text)
        painter.setPen(QPen(QColor(self._palette.boundary), 1))
        painter.drawLine(QLineF(x, 0, x, self.height()))
        painter.setPen(QColor(self._palette.text))
        line = self.fontMetrics().height()
        painter.drawText(QRectF(x - width - 6, self.height() - line - 7, width + 4, line), 0, text)

    def _paint_cursor(self, painter: QPainter) -> None:
        time = self._axis.cursor
        if time is None:
            return
        x = self._axis.x(time)
        text = grouped(int(time // 1))
        line = self.fontMetrics().height()
        width = self.fontMetrics().horizontalAdvance(text) + 10
        left = min(max(x - width / 2, 0.0), float(self.width() - width))
        box = QRectF(left, self.height() - line - 8, width, line + 4)
        painter.fillRect(box, QColor(self._palette.cursor))
        painter.setPen(QColor(self._palette.cursor_text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
