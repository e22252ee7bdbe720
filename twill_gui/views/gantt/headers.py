"""The lane headers at the left edge of the chart; they stay while time is panned."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from twill_gui.palette import LIGHT, ViewPalette
from twill_gui.views.gantt.content import Content
from twill_gui.views.gantt.describe import lane_header
from twill_gui.views.gantt.rows import Rows
from twill_gui.views.timeline.row_header import HEADER_WIDTH, HeaderStyle, RowHeader, paint_row_header
from twill_gui.views.timeline.text import TextCutter, title_font

VEIL_ALPHA, SIGN_PX = 110, 12


class LaneHeaders(QWidget):
    """Names, warps, registers (peak / grant) and use of the lanes. A group that the selected op may not be on is
    marked; a click on it asks why."""

    why_asked = Signal(str)  # the group

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedWidth(HEADER_WIDTH)
        self.setAccessibleName("Lanes")
        self.setMouseTracking(True)
        self._headers: list[RowHeader] = []
        self._names: list[str] = []
        self._refusals: Mapping[str, str] = {}
        self._rows: Rows | None = None
        self._palette = LIGHT
        self._scroll = 0

    def set_content(self, content: Content | None, rows: Rows | None) -> None:
        """The lanes to name, and where they are."""
        self._rows = rows
        self._headers = [lane_header(content, lane) for lane in content.layout.lanes] if content else []
        self._names = [lane.name for lane in content.layout.lanes] if content else []
        self._refusals = {}
        self._describe()
        self.update()

    def set_refusals(self, reasons: Mapping[str, str]) -> None:
        """The groups that the selected op may not be on, and why."""
        if reasons != self._refusals:
            self._refusals = reasons
            self._describe()
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
            lane = self._lane_at(event.pos())
            QToolTip.showText(event.globalPos(), "" if lane is None else self._tooltip(lane), self)
            return True
        return super().event(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        refused = self._refused_at(event.position().toPoint())
        self.setCursor(Qt.CursorShape.PointingHandCursor if refused else Qt.CursorShape.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        refused = self._refused_at(event.position().toPoint())
        if refused and event.button() == Qt.MouseButton.LeftButton:
            self.why_asked.emit(refused)

    def _lane_at(self, place: QPoint) -> int | None:
        return self._rows.lane_at(place.y() + self._scroll) if self._rows else None

    def _refused_at(self, place: QPoint) -> str | None:
        lane = self._lane_at(place)
        return self._names[lane] if lane is not None and self._names[lane] in self._refusals else None

    def _tooltip(self, lane: int) -> str:
        reason = self._refusals.get(self._names[lane])
        text = self._headers[lane].tooltip
        return f"{text}\n\N{CIRCLED DIVISION SLASH} {reason} (click: why?)" if reason else text

    def _describe(self) -> None:
        self.setAccessibleDescription("; ".join(self._tooltip(lane) for lane in range(len(self._headers))))

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
        for box, header, name in zip(rows.lanes, self._headers, self._names, strict=True):
            place = QRectF(0, box.top - self._scroll, self.width(), box.height)
            if place.bottom() <= 0 or place.top() >= self.height():
                continue
            paint_row_header(painter, place, header, style)
            if name in self._refusals:
                self._paint_refusal(painter, place)

    def _paint_refusal(self, painter: QPainter, place: QRectF) -> None:
        """A veil, and the sign of no entry."""
        veil = QColor(self._palette.header)
        veil.setAlpha(VEIL_ALPHA)
        painter.fillRect(place.adjusted(0, 1, -1, -1), veil)
        sign = QRectF(place.right() - SIGN_PX - 10, place.top() + 6, SIGN_PX, SIGN_PX)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._palette.violation), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(sign)
        painter.drawLine(sign.center() + QPointF(-4, 4), sign.center() + QPointF(4, -4))
        painter.restore()
