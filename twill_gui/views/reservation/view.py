"""The modulo reservation table as heat strips: how much of each unit is taken at each slot."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from core.graph.model import Graph
from core.schedule.model import Schedule
from twill_gui.palette import mix
from twill_gui.views.linked import LinkedPlot
from twill_gui.views.reservation.strips import Strip, reservation_strips
from twill_gui.views.timeline.brushes import hatch_brush, pattern_brush
from twill_gui.views.timeline.row_header import RowHeader
from twill_gui.views.timeline.span import TimeScale, TimeSpan
from twill_gui.views.timeline.ticks import grouped

LEAST_ROW_PX, MOST_ROW_PX = 24, 40
MARGIN_PX = 4


class ReservationView(LinkedPlot):
    """One strip per unit: empty, partly taken, full, and hatched where more is taken than there is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Reservation table", LEAST_ROW_PX, MOST_ROW_PX, parent)
        self._strips: tuple[Strip, ...] = ()

    @property
    def strips(self) -> tuple[Strip, ...]:
        """What is shown, from top to bottom."""
        return self._strips

    def build_rows(self, graph: Graph, schedule: Schedule, span: TimeSpan) -> Sequence[RowHeader]:
        self._strips = reservation_strips(graph, schedule, span)
        return [_header(strip, schedule.ii) for strip in self._strips]

    def clear_rows(self) -> None:
        self._strips = ()

    def paint_row(self, painter: QPainter, row: int, box: QRectF, scale: TimeScale) -> None:
        strip, palette = self._strips[row], self.view_palette
        style = palette.unit_style(strip.unit)
        fill = style.fill(0)
        full = pattern_brush(fill.colour, style.pattern, fill.pattern_colour, self.devicePixelRatioF())
        place = box.adjusted(0, MARGIN_PX, 0, -MARGIN_PX - 1)
        for start, end, amount in strip.runs():
            left, right = round(scale.clipped_x(start)), round(scale.clipped_x(end))
            cell = QRectF(left, place.top(), max(right - left, 1), place.height())
            share = amount / strip.capacity if strip.capacity else 1.0
            painter.fillRect(cell, full if share >= 1 else QColor(mix(palette.lane, fill.colour, share)))
            if amount > strip.capacity:
                painter.fillRect(cell, hatch_brush(palette.violation, self.devicePixelRatioF()))
                painter.setPen(QPen(QColor(palette.violation), 1))
                painter.drawRect(cell.adjusted(0.5, 0.5, -0.5, -0.5))
        self._paint_cells(painter, strip, place, scale)

    def _paint_cells(self, painter: QPainter, strip: Strip, place: QRectF, scale: TimeScale) -> None:
        """Lines between the ops, frames around the selected ones."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        selected: list[QRectF] = []
        painter.setPen(QPen(QColor(self.view_palette.window), 1))
        for op, start, end in strip.cells():
            left, right = round(scale.clipped_x(start)), round(scale.clipped_x(end))
            painter.drawLine(QLineF(left + 0.5, place.top(), left + 0.5, place.bottom()))
            if op in self.selection:
                selected.append(QRectF(left + 1, place.top() + 1, max(right - left - 2, 2), place.height() - 2))
        painter.setPen(QPen(QColor(self.view_palette.selection), 2))
        painter.drawRects(selected)

    def op_at(self, row: int, box: QRectF, time: float, y: float) -> str | None:
        return next(iter(self._strips[row].ops_at(time)), None)

    def describe_at(self, row: int, time: float) -> str:
        strip = self._strips[row]
        ops = strip.ops_at(time)
        names = "<br>".join(escape(op) for op in ops) or "free"
        taken = f"{strip.amount_at(time)} of {strip.capacity}"
        return f"<b>{escape(strip.unit)}</b> at {grouped(int(time))}: {taken}<br>{names}"


def _header(strip: Strip, ii: int) -> RowHeader:
    over = bool(np.any(strip.amounts > strip.capacity))
    tooltip = f"{strip.unit}: {strip.busy} of {strip.capacity * ii} cycles of one interval, {strip.utilisation:.1%}"
    return RowHeader(strip.unit, f"{strip.utilisation:.1%}", strip.utilisation, over, tooltip, strip.unit)
