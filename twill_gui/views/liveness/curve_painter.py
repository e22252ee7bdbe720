"""Paints one stacked curve: what is always taken, the bands, the limit and what is over it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from twill_gui.palette import Fill, ViewPalette
from twill_gui.views.liveness.curves import Band, Curve
from twill_gui.views.timeline.boxes import FRAME, NO_BOXES, BoxGroups, Numbers, draw_boxes, rows_of
from twill_gui.views.timeline.brushes import dimming_brush, hatch_brush
from twill_gui.views.timeline.span import TimeScale
from twill_gui.views.timeline.text import TextCutter

TOP_PX = 14
BOTTOM_PX = 2
IDLE_ALPHA = 70
FREE_LINE_FROM_PX = 4

Pixels = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CurveLook:
    """Colours, the font of names, and device pixels per pixel."""

    palette: ViewPalette
    small: TextCutter
    ratio: float


class Levels:
    """Amounts as heights in a row: 0 at its bottom, the limit or the peak below its top."""

    def __init__(self, curve: Curve, box: QRectF) -> None:
        self.box = box
        self._bottom = box.bottom() - BOTTOM_PX
        self._per_unit = (box.height() - TOP_PX - BOTTOM_PX) / max(curve.limit, curve.peak, 1)

    def y(self, amount: NDArray[np.int64]) -> Pixels:
        """The heights of amounts, on whole pixels."""
        return np.rint(self._bottom - amount * self._per_unit)

    def level(self, y: float) -> float:
        """The amount at a height."""
        return (self._bottom - y) / self._per_unit


class CurvePainter:
    """Paints a curve of one row. In a pixel column where several steps begin the highest of them is painted, beyond it
    the last of them."""

    def __init__(self, curve: Curve, levels: Levels, scale: TimeScale, look: CurveLook) -> None:
        self._curve = curve
        self._levels = levels
        self._look = look
        left = scale.columns(curve.times)
        first = np.append(0, np.flatnonzero(left[1:-1] != left[:-2]) + 1)
        highest = np.lexsort((-curve.total, left[:-1]))[first]
        last = np.append(first[1:], len(left) - 1) - 1
        columns = left[first]
        ends = np.append(columns[1:], left[-1])
        begins = np.stack([columns, np.minimum(columns + 1, ends)], axis=1).ravel()
        steps = np.stack([highest, last], axis=1).ravel()
        seen = np.append(begins[1:], left[-1]) > begins
        seen[0] |= not seen.any()
        self._edges = np.append(begins[seen], left[-1])
        self._steps = steps[seen]

    def paint(self, painter: QPainter, selection: Collection[str]) -> None:
        """Base, bands, cap, limit, and frames around the selected values."""
        curve, palette = self._curve, self._look.palette
        self._paint_base(painter)
        bottoms, tops = curve.bottoms[:, self._steps], curve.tops[:, self._steps]
        whole = self._boxes(bottoms, tops)
        if curve.has_room_kept:
            amounts = np.array([[band.amount] for band in curve.bands], np.int64).reshape(-1, 1)
            self._paint_bands(painter, whole, self._boxes(bottoms, bottoms + curve.counts[:, self._steps] * amounts))
        else:
            self._paint_bands(painter, whole, whole)
        if curve.peak > curve.limit:
            total = curve.total[None, self._steps]
            over = self._boxes(np.full_like(total, curve.limit), np.maximum(total, curve.limit))[0]
            self._fill(painter, over, QBrush(QColor(palette.lane)))
            self._fill(painter, over, hatch_brush(palette, self._look.ratio))
        self._paint_limit(painter)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.selection), 2))
        for number, band in enumerate(curve.bands):
            if band.value in selection:
                draw_boxes(painter, whole[number] + FRAME)

    def _paint_base(self, painter: QPainter) -> None:
        """What is always taken: one box from end to end."""
        curve, palette = self._curve, self._look.palette
        if not curve.base:
            return
        levels = np.array([[0], [curve.base]])
        base = self._boxes(levels[:1], levels[1:], self._edges[[0, -1]])[0]
        self._fill(painter, base, QBrush(QColor(palette.grid)))
        self._fill(painter, base, dimming_brush(palette.muted_text, self._look.ratio))
        self._paint_plate(painter, QRectF(*base[0].tolist()), curve.base_name)

    def boxes_of(self, values: Collection[str]) -> Numbers:
        """Where the bands of some values are."""
        if not any(band.value in values for band in self._curve.bands):
            return NO_BOXES
        whole = self._boxes(self._curve.bottoms[:, self._steps], self._curve.tops[:, self._steps])
        return np.concatenate([whole[n] for n, band in enumerate(self._curve.bands) if band.value in values])

    def _paint_bands(self, painter: QPainter, whole: BoxGroups, alive: BoxGroups) -> None:
        names = self._name_boxes(whole)
        for number, band in enumerate(self._curve.bands):
            fill = self._look.palette.unit_style(band.unit).fill(band.shade)
            colour = QColor(fill.colour)
            painter.setPen(Qt.PenStyle.NoPen)
            if band.reserved is not None:
                idle = QColor(colour)
                idle.setAlpha(IDLE_ALPHA)
                painter.setBrush(idle)
                whole.draw(painter, number)
            painter.setBrush(colour)
            alive.draw(painter, number)
            if number in names:
                self._paint_name(painter, band, names[number], fill)

    def _name_boxes(self, whole: BoxGroups) -> dict[int, QRectF]:
        """By number of the band, its widest box with room for a name below the cap of what is over the limit."""
        curve = self._curve
        cap = float(self._levels.y(np.array(curve.limit))) if curve.peak > curve.limit else 0.0
        left, top, width, height = whole.boxes.T
        lowered = np.maximum(cap - top, 0.0)
        room = np.flatnonzero(height - lowered >= self._look.small.height - 2)
        order = room[np.lexsort((room, -width[room], whole.groups[room]))]
        groups = whole.groups[order]
        widest = order[np.append([True], groups[1:] != groups[:-1])[: len(order)]]
        boxes = rows_of(left[widest], (top + lowered)[widest], width[widest], (height - lowered)[widest])
        return {
            number: QRectF(*box).intersected(self._levels.box)
            for number, box in zip(whole.groups[widest].tolist(), boxes.tolist(), strict=True)
        }

    def _paint_name(self, painter: QPainter, band: Band, room: QRectF, fill: Fill) -> None:
        small = self._look.small
        text = small.cut(band.value, room.width() - 8)
        if not text:
            return
        place = QRectF(room.left() + 4, room.center().y() - small.height / 2, small.width(text), small.height)
        if band.reserved is not None:
            painter.fillRect(place.adjusted(-2, 0, 2, 0).intersected(room), QColor(fill.colour))
        painter.setPen(QColor(fill.text))
        painter.setFont(small.font)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_plate(self, painter: QPainter, box: QRectF, text: str) -> None:
        """The base's name, if there is room for it."""
        small, palette = self._look.small, self._look.palette
        box = box.intersected(self._levels.box)
        if box.height() < small.height - 2 or box.width() < small.width(text) + 12:
            return
        plate = QRectF(box.left() + 3, box.center().y() - small.height / 2, small.width(text) + 6, small.height)
        painter.fillRect(plate.intersected(box), QColor(palette.grid))
        painter.setPen(QColor(palette.text))
        painter.setFont(small.font)
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_limit(self, painter: QPainter) -> None:
        y = float(self._levels.y(np.array(self._curve.limit)))
        box, small, text = self._levels.box, self._look.small, self._curve.limit_name
        painter.setPen(QPen(QColor(self._look.palette.limit), 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(box.left(), y, box.right(), y))
        place = QRectF(box.right() - small.width(text) - 6, y - small.height - 1, small.width(text) + 4, small.height)
        painter.fillRect(place, QColor(self._look.palette.lane))
        painter.setPen(QColor(self._look.palette.violation_text))
        painter.setFont(small.font)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _fill(self, painter: QPainter, boxes: Numbers, brush: QBrush) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush)
        draw_boxes(painter, boxes)

    def _boxes(self, low: NDArray[np.int64], high: NDArray[np.int64], edges: Pixels | None = None) -> BoxGroups:
        """By row of the arrays, the area between two heights as boxes that are as wide as they can be; `edges` are
        those of the arrays' columns, by default the curve's. A line of the ground stays free above each box with room
        for it, so that neighbours in the stack can be told apart."""
        edges = self._edges if edges is None else edges
        begins = np.ones(low.shape, np.bool_)
        begins[:, 1:] = (low[:, 1:] != low[:, :-1]) | (high[:, 1:] != high[:, :-1])
        row, first = np.nonzero(begins)
        last = np.zeros_like(first)
        last[:-1] = first[1:]
        last[last == 0] = low.shape[1]  # the next row begins
        over, under = high[row, first], low[row, first]
        taken = over > under
        row, first, last = row[taken], first[taken], last[taken]
        left, right = edges[first], edges[last]
        top, bottom = self._levels.y(over[taken]), self._levels.y(under[taken])
        top += bottom - top >= FREE_LINE_FROM_PX
        boxes = rows_of(left, top, right - left, np.maximum(bottom - top, 1.0))
        return BoxGroups(boxes, row, len(low))
