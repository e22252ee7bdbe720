"""Paints bars and tails. Bars are batched by fill, so that thousands of them fit into a frame."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from twill_gui.palette import Fill
from twill_gui.views.gantt.bar_table import TAIL_PX, BarTable, Boxes, TailTable
from twill_gui.views.gantt.frame import Frame
from twill_gui.views.gantt.layout import Bar
from twill_gui.views.timeline.boxes import BoxGroups, Numbers, draw_boxes, rows_of
from twill_gui.views.timeline.brushes import hatch_brush, pattern_brush

BORDER_FROM_PX = 5
MARKS_FROM_PX = 13
PAD = 4
LOCK_PX = 8
INSIDE = np.array([1.0, 1.0, -2.0, -2.0])  # to be added to a box: what a border of a pixel leaves of it
PEN_INSIDE = INSIDE / 2  # where a pen of a pixel draws that border
_TEXT = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


def paint_tails(painter: QPainter, frame: Frame, table: TailTable) -> None:
    """Thin lines from an op's start until its result is there, with a tick at the end."""
    boxes = table.boxes(frame.axis, frame.scroll, frame.height, frame.ratio)
    if not boxes.number.size:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    order = np.argsort(boxes.style, kind="stable")
    groups = BoxGroups(_rows(boxes, order), boxes.style[order], len(table.styles))
    for style, (unit, level) in enumerate(table.styles):
        painter.setBrush(QColor(frame.palette.unit_style(unit).fill(level).colour))
        groups.draw(painter, style)
    ends = np.flatnonzero(table.ends[boxes.number] & (boxes.right - boxes.left > TAIL_PX))
    painter.setBrush(QColor(frame.palette.muted_text))
    draw_boxes(painter, rows_of(boxes.right[ends] - 1.5, boxes.top[ends] - 1, 1.5, TAIL_PX + 2.0))


class BarPainter:
    """Paints the bars of one picture. `violating` ops are hatched, `pinned` ones get a lock."""

    def __init__(self, frame: Frame, table: BarTable, violating: Collection[str], pinned: Collection[str]) -> None:
        self._frame = frame
        self._table = table
        self._violating = violating
        self._pinned = pinned
        styles = [(frame.palette.unit_style(unit), level) for unit, level in table.styles]
        self._fills = [style.fill(level) for style, level in styles]
        self._brushes = [
            pattern_brush(fill.colour, style.pattern, fill.pattern_colour, frame.ratio)
            for (style, _), fill in zip(styles, self._fills, strict=True)
        ]

    def paint(self, painter: QPainter) -> None:
        """All bars that can be seen, with hatches, labels, stage numbers, continuation marks and locks."""
        frame = self._frame
        boxes = self._table.boxes(frame.axis, frame.scroll, frame.height, frame.ratio)
        if not boxes.number.size:
            return
        # Patterns move with the content.
        painter.setBrushOrigin(QPointF(-frame.axis.start * frame.axis.scale % 8, -frame.scroll % 8))
        width = boxes.right - boxes.left
        self._paint_bodies(painter, boxes, width >= BORDER_FROM_PX)
        if self._violating:
            self._paint_hatches(painter, boxes)
        gap = boxes.gaps(frame.width)
        for member in np.flatnonzero((width >= MARKS_FROM_PX) | (gap >= MARKS_FROM_PX)).tolist():
            box = QRectF(boxes.left[member], boxes.top[member], width[member], boxes.height[member])
            fill = self._fills[int(boxes.style[member])]
            self._paint_marks(painter, self._table.bars[int(boxes.number[member])], box, fill, float(gap[member]))

    def _paint_bodies(self, painter: QPainter, boxes: Boxes, bordered: NDArray[np.bool_]) -> None:
        """Style by style: a border is what a smaller box with the fill leaves free of a box in the border's colour,
        which takes a third of the time of a pen."""
        kind = 2 * boxes.style + bordered
        order = np.argsort(kind, kind="stable")
        rows = _rows(boxes, order)
        whole = BoxGroups(rows, kind[order], 2 * len(self._fills))
        inner = BoxGroups(rows + INSIDE, kind[order], 2 * len(self._fills))
        painter.setPen(Qt.PenStyle.NoPen)
        for style, (fill, brush) in enumerate(zip(self._fills, self._brushes, strict=True)):
            painter.setBrush(brush)
            whole.draw(painter, 2 * style)
            painter.setBrush(QColor(fill.border))
            whole.draw(painter, 2 * style + 1)
            painter.setBrush(brush)
            inner.draw(painter, 2 * style + 1)

    def _paint_hatches(self, painter: QPainter, boxes: Boxes) -> None:
        wrong = [n for n, i in enumerate(boxes.number.tolist()) if self._table.bars[i].op in self._violating]
        colour = self._frame.palette.violation
        painter.setBrush(hatch_brush(self._frame.palette, self._frame.ratio))
        painter.setPen(QPen(QColor(colour), 1))
        draw_boxes(painter, _rows(boxes, np.array(wrong, np.intp)) + PEN_INSIDE)

    def _paint_marks(self, painter: QPainter, bar: Bar, box: QRectF, fill: Fill, gap: float) -> None:
        """What is written on a bar; its label goes into the free `gap` behind it where it does not fit on it."""
        frame = self._frame
        ink = QColor(fill.text)
        left, right = max(box.left(), 0.0) + PAD, min(box.right(), float(frame.width)) - PAD
        if bar.continues_left:
            _paint_notch(painter, box.left(), box.center().y(), -1, ink)
            left += 4
        if bar.continues_right:
            _paint_notch(painter, box.right(), box.center().y(), 1, ink)
            right -= 4
        on_group = bar.block is None
        if on_group and bar.op in self._pinned and right - left >= LOCK_PX:
            _paint_lock(painter, right - LOCK_PX, box.center().y(), ink)
            right -= LOCK_PX + 3
        if on_group and not bar.continues_left:
            left = self._paint_stage(painter, str(bar.stage), QRectF(left, box.top(), right - left, box.height()), fill)
        width = frame.label.width(bar.op)
        painter.setFont(frame.label.font)
        if width > right - left and width + 2 * PAD <= gap and box.right() > 0:
            painter.setPen(QColor(frame.palette.text))
            painter.drawText(QRectF(box.right() + PAD, box.top(), width + 2, box.height()), _TEXT, bar.op)
            return
        text = frame.label.cut(bar.op, right - left)
        if not text:
            return
        plate = QRectF(left - 1, box.top() + 3, frame.label.width(text) + 2, box.height() - 6)
        painter.fillRect(plate, QColor(fill.colour))
        painter.setPen(ink)
        painter.drawText(QRectF(left, box.top(), right - left + 2, box.height()), _TEXT, text)

    def _paint_stage(self, painter: QPainter, stage: str, room: QRectF, fill: Fill) -> float:
        """The stage number on a plate; returns where the label may begin."""
        width = self._frame.small.width(stage)
        if room.width() < width:
            return room.left()
        painter.fillRect(QRectF(room.left() - 2, room.top() + 3, width + 4, room.height() - 6), QColor(fill.border))
        painter.setFont(self._frame.small.font)
        painter.setPen(QColor(fill.border_text))
        painter.drawText(QRectF(room.left(), room.top(), width + 2, room.height()), _TEXT, stage)
        return room.left() + width + 5


def _rows(boxes: Boxes, members: NDArray[np.intp]) -> Numbers:
    left = boxes.left[members]
    return rows_of(left, boxes.top[members], boxes.right[members] - left, boxes.height[members])


def _paint_notch(painter: QPainter, x: float, y: float, direction: int, ink: QColor) -> None:
    """An arrow head at an edge where the bar goes on at the other end of the interval."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    inner = x - direction * 5
    painter.drawPolygon(QPolygonF([QPointF(inner, y - 4), QPointF(x - direction, y), QPointF(inner, y + 4)]))
    painter.restore()


def _paint_lock(painter: QPainter, x: float, y: float, ink: QColor) -> None:
    """A padlock of 8 by 10 pixels around height `y`."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(ink, 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawArc(QRectF(x + 1.7, y - 5, 4.6, 7), 0, 180 * 16)
    painter.drawLine(QPointF(x + 1.7, y - 1.5), QPointF(x + 1.7, y))
    painter.drawLine(QPointF(x + 6.3, y - 1.5), QPointF(x + 6.3, y))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawRoundedRect(QRectF(x, y - 0.5, 8, 5.5), 1, 1)
    painter.restore()
