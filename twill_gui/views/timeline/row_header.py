"""The header at the left of a row: title, a line of detail, and a meter of how much of a limit is used."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from twill_gui.palette import ViewPalette
from twill_gui.views.timeline.brushes import pattern_brush
from twill_gui.views.timeline.text import TextCutter

HEADER_WIDTH = 176
METER_PX = 4
SWATCH_PX = 12
LEFT_PX = 10.0
RIGHT_PX = 8.0
_TEXT = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


@dataclass(frozen=True, slots=True)
class RowHeader:
    """`used`: share of the limit, `over`: more than the limit. `unit`: the functional unit whose style is shown."""

    title: str
    detail: str
    used: float
    over: bool
    tooltip: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class HeaderStyle:
    """Colours, fonts and device pixels per pixel that all headers of a view share."""

    palette: ViewPalette
    title: TextCutter
    detail: TextCutter
    ratio: float


def paint_row_header(painter: QPainter, box: QRectF, header: RowHeader, style: HeaderStyle) -> None:
    """Paints a header into `box`, with the line below it; in a low box on one line and without the meter."""
    palette, line = style.palette, style.detail.height
    room = box.width() - LEFT_PX - RIGHT_PX
    low = box.height() < 2 * line + METER_PX + 4
    top = round(box.center().y() - (line / 2 if low else line + METER_PX / 2 + 1))
    detail_colour = QColor(palette.violation_text if header.over else palette.muted_text)
    detail_width = min(style.detail.width(header.detail), room / 2) if low else 0.0
    _paint_title(painter, QRectF(LEFT_PX, top, room - detail_width - 4, line), header, style)
    painter.setFont(style.detail.font)
    painter.setPen(detail_colour)
    if low:
        right = QRectF(LEFT_PX + room - detail_width, top, detail_width + 1, line)
        painter.drawText(right, _TEXT, style.detail.cut(header.detail, detail_width))
    else:
        below = QRectF(LEFT_PX, top + line, room, line)
        painter.drawText(below, _TEXT, style.detail.cut(header.detail, room))
        meter = QRectF(LEFT_PX, top + 2 * line + 1, room, METER_PX)
        painter.fillRect(meter, QColor(palette.border))
        meter.setWidth(room * min(header.used, 1.0))
        painter.fillRect(meter, QColor(palette.violation if header.over else palette.muted_text))
    painter.setPen(QPen(QColor(palette.border), 1))
    painter.drawLine(QLineF(0, box.bottom() - 0.5, box.width(), box.bottom() - 0.5))


def _paint_title(painter: QPainter, place: QRectF, header: RowHeader, style: HeaderStyle) -> None:
    if header.unit is not None:
        _paint_swatch(painter, place.top() + (place.height() - SWATCH_PX) / 2, header.unit, style)
        place = place.adjusted(SWATCH_PX + 6, 0, 0, 0)
    painter.setFont(style.title.font)
    painter.setPen(QColor(style.palette.text))
    painter.drawText(place, _TEXT, style.title.cut(header.title, place.width()))


def _paint_swatch(painter: QPainter, top: float, unit: str, style: HeaderStyle) -> None:
    unit_style = style.palette.unit_style(unit)
    fill = unit_style.fill(0)
    painter.setBrush(pattern_brush(fill.colour, unit_style.pattern, fill.pattern_colour, style.ratio))
    painter.setPen(QPen(QColor(fill.border), 1))
    painter.drawRect(QRectF(LEFT_PX + 0.5, round(top) + 0.5, SWATCH_PX - 1, SWATCH_PX - 1))
