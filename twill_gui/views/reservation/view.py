"""The modulo reservation table as heat strips: how much of each unit is taken at each slot."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from core.graph.model import Graph
from core.schedule.model import Schedule
from twill_gui.palette import mix
from twill_gui.views.linked import BuiltRow, LinkedPlot
from twill_gui.views.reservation.strips import Strip, reservation_strips
from twill_gui.views.timeline.boxes import FRAME, NO_BOXES, Numbers, draw_boxes, draw_lines, rows_of
from twill_gui.views.timeline.brushes import hatch_brush, pattern_brush
from twill_gui.views.timeline.occupancy import distinct
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

    def build_rows(self, graph: Graph, schedule: Schedule, span: TimeSpan) -> Sequence[BuiltRow]:
        before, self._strips = self._strips, reservation_strips(graph, schedule, span)
        return [
            BuiltRow(_header(strip, schedule.ii), old is None or not strip.looks_like(old))
            for strip, old in zip_longest(self._strips, before[: len(self._strips)])
        ]

    def clear_rows(self) -> None:
        self._strips = ()

    def paint_row(self, painter: QPainter, row: int, box: QRectF, scale: TimeScale) -> None:
        strip, palette, ratio = self._strips[row], self.view_palette, self.devicePixelRatioF()
        style = palette.unit_style(strip.unit)
        fill = style.fill(0)
        full = pattern_brush(fill.colour, style.pattern, fill.pattern_colour, ratio)
        place = box.adjusted(0, MARGIN_PX, 0, -MARGIN_PX - 1)
        columns = scale.columns(strip.times)
        painter.setPen(Qt.PenStyle.NoPen)
        for amount in distinct(strip.amounts[strip.amounts > 0]).tolist():
            steps = strip.amounts == amount
            boxes = _boxes(columns[:-1][steps], columns[1:][steps], place)
            share = amount / strip.capacity if strip.capacity else 1.0
            painter.setBrush(full if share >= 1 else QBrush(QColor(mix(palette.lane, fill.colour, share))))
            draw_boxes(painter, boxes)
            if amount > strip.capacity:
                painter.setBrush(QColor(palette.lane))  # a red hatch on a reddish unit would be hard to tell apart
                draw_boxes(painter, boxes)
                painter.setBrush(hatch_brush(palette, ratio))
                draw_boxes(painter, boxes)
        self._paint_cells(painter, strip, place, scale)

    def _paint_cells(self, painter: QPainter, strip: Strip, place: QRectF, scale: TimeScale) -> None:
        """Lines between the ops, frames around the selected ones."""
        left = scale.columns(strip.cells()[1])
        painter.setPen(QPen(QColor(self.view_palette.window), 1))
        between = distinct(left) + 0.5
        draw_lines(painter, rows_of(between, place.top(), between, place.bottom()))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self.view_palette.selection), 2))
        selected = self._cells_of(strip, place.adjusted(0, 1, 0, -1), scale, self.selection)
        draw_boxes(painter, selected + FRAME)

    def lit_boxes(self, row: int, box: QRectF, scale: TimeScale, ops: frozenset[str]) -> Numbers:
        return self._cells_of(self._strips[row], box.adjusted(0, MARGIN_PX + 1, 0, -MARGIN_PX - 2), scale, ops)

    @staticmethod
    def _cells_of(strip: Strip, place: QRectF, scale: TimeScale, wanted: frozenset[str]) -> Numbers:
        mine = [number for number, op in enumerate(strip.ops) if op in wanted]
        if not mine:
            return NO_BOXES
        blocks, starts, ends = strip.cells()
        chosen = np.isin(blocks, mine)
        return _boxes(scale.columns(starts)[chosen], scale.columns(ends)[chosen], place)

    def op_at(self, row: int, box: QRectF, time: float, y: float) -> str | None:
        return next(iter(self._strips[row].ops_at(time)), None)

    def describe_at(self, row: int, time: float, under: str | None) -> str:
        strip = self._strips[row]
        ops = strip.ops_at(time)
        names = "<br>".join(escape(op) for op in ops) or "free"
        taken = f"{strip.amount_at(time)} of {strip.capacity}"
        return f"<b>{escape(strip.unit)}</b> at {grouped(int(time))}: {taken}<br>{names}"


def _boxes(left: NDArray[np.float64], right: NDArray[np.float64], place: QRectF) -> Numbers:
    return rows_of(left, place.top(), np.maximum(right - left, 1.0), place.height())


def _header(strip: Strip, ii: int) -> RowHeader:
    over = bool(np.any(strip.amounts > strip.capacity))
    tooltip = f"{strip.unit}: {strip.busy} of {strip.capacity * ii} cycles of one interval, {strip.utilisation:.1%}"
    return RowHeader(strip.unit, f"{strip.utilisation:.1%}", strip.utilisation, over, tooltip, strip.unit)
