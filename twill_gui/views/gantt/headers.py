"""The lane headers at the left edge of the chart; they stay while time is panned."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from twill_gui.palette import LIGHT, ViewPalette
from twill_gui.views.gantt.content import Content
from twill_gui.views.gantt.describe import lane_header
from twill_gui.views.gantt.rows import Rows
from twill_gui.views.timeline.row_header import HEADER_WIDTH, HeaderStyle, RowHeader, paint_row_header
from twill_gui.views.timeline.text import TextCutter, title_font


class LaneHeaders(QWidget):
    """Names, warps, registers (peak / grant) and use of the lanes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedWidth(HEADER_WIDTH)
        self.setAccessibleName("Lanes")
        self._headers: list[RowHeader] = []
        self._rows: Rows | None = None
        self._palette = LIGHT
        self._scroll = 0

    def set_content(self, content: Content | None, rows: Rows | None) -> None:
        """The lanes to name, and where they are."""
        self._rows = rows
        self._headers = [lane_header(content, lane) for lane in content.layout.lanes] if content else []
        self.setAccessibleDescription("; ".join(header.tooltip for header in self._headers))
        self.update()

    def set_scroll(self, scroll: int) -> None:
        """Pixels by which the lanes are scrolled up."""
        self._scroll = scroll
        self.update()

    def set_palette(self, palette: ViewPalette) -> None:
        """Light or dark colours."""
        self._palette = palette
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(HEADER_WIDTH, 100)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            lane = self._rows.lane_at(event.pos().y() + self._scroll) if self._rows else None
            QToolTip.showText(event.globalPos(), "" if lane is None else self._headers[lane].tooltip, self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(self._palette.header))
            if self._rows is not None:
                self._paint_headers(painter, self._rows)
            painter.setPen(QPen(QColor(self._palette.border), 1))
            painter.drawLine(self.width() - 1, 0, self.width() - 1, self.height())

    def _paint_headers(self, painter: QPainter, rows: Rows) -> None:
        fonts = TextCutter(title_font(self.font())), TextCutter(self.font())
        style = HeaderStyle(self._palette, *fonts, self.devicePixelRatioF())
        for box, header in zip(rows.lanes, self._headers, strict=True):
            place = QRectF(0, box.top - self._scroll, self.width(), box.height)
            if place.bottom() > 0 and place.top() < self.height():
                paint_row_header(painter, place, header, style)
