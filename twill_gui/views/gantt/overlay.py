"""Paints what changes from moment to moment, over the bars: selection, hover, cursor, range and plates of text."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from core.schedule.wording import counted
from twill_gui.views.gantt.bar_table import BarTable
from twill_gui.views.gantt.frame import Frame
from twill_gui.views.timeline.ticks import grouped


def paint_outlines(painter: QPainter, frame: Frame, table: BarTable, ops: Iterable[str], colour: str, px: int) -> None:
    """A frame around all bars of some ops."""
    numbers = [number for op in ops for number in table.of_op(op)]
    boxes = table.boxes(frame.axis, frame.scroll, frame.height, frame.ratio, numbers)
    rects = [
        QRectF(left, top, right - left, height).adjusted(-px / 2, -px / 2, px / 2, px / 2)
        for left, right, top, height in zip(boxes.left, boxes.right, boxes.top, boxes.height, strict=True)
    ]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for ink, width in ((frame.palette.window, px + 2), (colour, px)):
        pen = QPen(QColor(ink), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawRects(rects)


def paint_lanes(painter: QPainter, frame: Frame, names: Collection[str]) -> None:
    """A frame around the lanes of these units and warp groups."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(frame.palette.critical), 2))
    for number, lane in enumerate(frame.layout.lanes):
        if lane.name in names:
            painter.drawRect(frame.lane_box(number).adjusted(1, 1, -1, -2))


def paint_cursor(painter: QPainter, frame: Frame) -> None:
    """The time under the mouse in any linked view."""
    if frame.axis.cursor is None:
        return
    x = frame.x(frame.axis.cursor)
    painter.setPen(QPen(QColor(frame.palette.cursor), 1))
    painter.drawLine(QLineF(x, 0, x, frame.height))


def paint_range(painter: QPainter, frame: Frame, start: int, end: int) -> None:
    """A range of time and its length."""
    box = frame.span(start, end, 0, frame.height)
    tint = QColor(frame.palette.range_fill)
    tint.setAlpha(44)
    painter.fillRect(box, tint)
    painter.setPen(QPen(QColor(frame.palette.range_fill), 1))
    painter.drawLine(QLineF(box.left(), 0, box.left(), frame.height))
    painter.drawLine(QLineF(box.right(), 0, box.right(), frame.height))
    text = f"{counted(end - start, 'cycle', grouped)}  ({grouped(start)} – {grouped(end)})"
    paint_plate(painter, frame, QPointF(box.center().x(), 6), text, frame.palette.text)


def paint_plate(painter: QPainter, frame: Frame, top_middle: QPointF, text: str, colour: str) -> QRectF:
    """A line of text on a plate that stays within the picture; returns the plate's box."""
    width, height = frame.label.width(text) + 14, frame.label.height + 6
    left = min(max(top_middle.x() - width / 2, 4.0), max(frame.width - width - 4, 4.0))
    top = min(max(top_middle.y(), 4.0), max(frame.height - height - 4, 4.0))
    box = QRectF(round(left) + 0.5, round(top) + 0.5, width, height)
    painter.setPen(QPen(QColor(frame.palette.boundary), 1))
    painter.setBrush(QColor(frame.palette.window))
    painter.drawRect(box)
    painter.setPen(QColor(colour))
    painter.setFont(frame.label.font)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    return box
