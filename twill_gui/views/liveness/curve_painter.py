"""Paints one stacked curve: what is always taken, the bands, the limit and what is over it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from twill_gui.palette import Fill, ViewPalette
from twill_gui.views.liveness.curves import Band, Curve
from twill_gui.views.timeline.brushes import dimming_brush, hatch_brush
from twill_gui.views.timeline.span import TimeScale
from twill_gui.views.timeline.text import TextCutter

TOP_PX = 14
BOTTOM_PX = 2
IDLE_ALPHA = 70

Heights = NDArray[np.int64]


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

    def y(self, amount: float) -> float:
        """The height of an amount, on whole pixels."""
        return round(self._bottom - amount * self._per_unit)

    def level(self, y: float) -> float:
        """The amount at a height."""
        return (self._bottom - y) / self._per_unit


class CurvePainter:
    """Paints a curve of one row."""

    def __init__(self, curve: Curve, levels: Levels, scale: TimeScale, look: CurveLook) -> None:
        self._curve = curve
        self._levels = levels
        self._scale = scale
        self._look = look
        self._columns = [round(scale.clipped_x(time)) for time in curve.times.tolist()]

    def paint(self, painter: QPainter, selection: Collection[str]) -> None:
        """Base, bands, cap, limit, and frames around the selected values."""
        curve, palette = self._curve, self._look.palette
        bottom = np.full(len(curve.times) - 1, curve.base, np.int64)
        self._fill(painter, np.zeros_like(bottom), bottom, QBrush(QColor(palette.grid)))
        self._fill(painter, np.zeros_like(bottom), bottom, dimming_brush(palette.muted_text, self._look.ratio))
        self._paint_base_name(painter)
        stacked: list[tuple[Band, Heights, Heights]] = []
        for band in curve.bands:
            stacked.append((band, bottom, bottom + band.height))
            bottom = bottom + band.height
        for band, low, high in stacked:
            self._paint_band(painter, band, low, high)
        over = np.maximum(bottom, curve.limit)
        self._fill(painter, np.full_like(bottom, curve.limit), over, QBrush(QColor(palette.lane)))
        self._fill(painter, np.full_like(bottom, curve.limit), over, hatch_brush(palette.violation, self._look.ratio))
        self._paint_limit(painter)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.selection), 2))
        for band, low, high in stacked:
            if band.value in selection:
                painter.drawRects([box.adjusted(1, 0, -1, 0) for box in self._boxes(low, high)])

    def _paint_band(self, painter: QPainter, band: Band, low: Heights, high: Heights) -> None:
        fill = self._look.palette.unit_style(band.unit).fill(band.shade)
        colour = QColor(fill.colour)
        if band.reserved is not None:
            colour.setAlpha(IDLE_ALPHA)
            self._fill(painter, low, high, QBrush(colour))
            colour.setAlpha(255)
            self._fill(painter, low, low + band.count * band.amount, QBrush(colour))
        else:
            self._fill(painter, low, high, QBrush(colour))
        painter.setPen(QPen(QColor(self._look.palette.window), 1))
        painter.drawLines([QLineF(b.left(), b.top() + 0.5, b.right(), b.top() + 0.5) for b in self._boxes(low, high)])
        self._paint_name(painter, band, low, high, fill)

    def _paint_name(self, painter: QPainter, band: Band, low: Heights, high: Heights, fill: Fill) -> None:
        """The value's name in its widest box that has room for it."""
        small = self._look.small
        room = [box for box in self._visible(low, high) if box.height() >= small.height - 1]
        widest = max(room, key=QRectF.width, default=None)
        text = small.cut(band.value, widest.width() - 8) if widest is not None else ""
        if widest is None or not text:
            return
        place = QRectF(widest.left() + 4, widest.center().y() - small.height / 2, small.width(text), small.height)
        if band.reserved is not None:
            painter.fillRect(place.adjusted(-2, 0, 2, 0).intersected(widest), QColor(fill.colour))
        painter.setPen(QColor(fill.text))
        painter.setFont(small.font)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_base_name(self, painter: QPainter) -> None:
        curve, small, palette = self._curve, self._look.small, self._look.palette
        whole = np.zeros(len(curve.times) - 1, np.int64)
        box = next(self._visible(whole, whole + curve.base), QRectF())
        text = small.cut(curve.base_name, box.width() - 12)
        if box.height() < small.height - 1 or not text:
            return
        plate = QRectF(box.left() + 3, box.center().y() - small.height / 2, small.width(text) + 6, small.height)
        painter.fillRect(plate.intersected(box), QColor(palette.grid))
        painter.setPen(QColor(palette.text))
        painter.setFont(small.font)
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_limit(self, painter: QPainter) -> None:
        y = self._levels.y(self._curve.limit)
        box = self._levels.box
        painter.setPen(QPen(QColor(self._look.palette.limit), 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(box.left(), y, box.right(), y))

    def _fill(self, painter: QPainter, low: Heights, high: Heights, brush: QBrush) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush)
        painter.drawRects(list(self._boxes(low, high)))

    def _boxes(self, low: Heights, high: Heights) -> Iterator[QRectF]:
        """The area between two heights, as boxes that are as wide as they can be."""
        changed = np.flatnonzero((np.diff(low) != 0) | (np.diff(high) != 0)) + 1
        edges = [0, *changed.tolist(), len(low)]
        for first, last in pairwise(edges):
            left, right = self._columns[first], self._columns[last]
            if high[first] > low[first] and right > left:
                top, bottom = self._levels.y(int(high[first])), self._levels.y(int(low[first]))
                yield QRectF(left, top, right - left, max(bottom - top, 1))

    def _visible(self, low: Heights, high: Heights) -> Iterator[QRectF]:
        for box in self._boxes(low, high):
            yield box.intersected(self._levels.box)
