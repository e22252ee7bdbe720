"""Paints what lies under the bars: lanes, sections, time grid and interval boundaries."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from core.schedule.expansion import Phase
from twill_gui.views.gantt.frame import Frame
from twill_gui.views.gantt.layout import GanttMode, LaneKind
from twill_gui.views.timeline.ticks import tick_step, ticks

TICK_PX = 90
BAND_ALPHA = 26


def paint_background(painter: QPainter, frame: Frame) -> None:
    """Lanes in two tones, the sections outside the steady state tinted, grid and boundaries of intervals."""
    palette = frame.palette
    painter.fillRect(QRectF(0, 0, frame.width, frame.height), QColor(palette.window))
    for index in range(len(frame.layout.lanes)):
        tone = palette.lane_alternate if index % 2 else palette.lane
        painter.fillRect(frame.lane_box(index), QColor(tone))
    bottom = min(frame.height, frame.rows.height - frame.scroll)
    _paint_sections(painter, frame, bottom)
    _paint_grid(painter, frame, bottom)
    painter.setPen(QPen(QColor(palette.border), 1))
    for index, lane in enumerate(frame.layout.lanes):
        box = frame.lane_box(index)
        painter.drawLine(QLineF(0, box.bottom() - 0.5, frame.width, box.bottom() - 0.5))
        if index and lane.kind is LaneKind.UNIT and frame.layout.lanes[index - 1].kind is LaneKind.GROUP:
            painter.fillRect(QRectF(0, box.top() - 2, frame.width, 2), QColor(palette.border))


def boundaries(frame: Frame) -> range:
    """The visible multiples of II."""
    ii = frame.layout.ii
    first = max(frame.layout.start, int(frame.axis.start))
    last = min(frame.layout.end, int(frame.axis.end) + 1)
    return range(-(-first // ii) * ii, last + 1, ii)


def _paint_sections(painter: QPainter, frame: Frame, bottom: float) -> None:
    tint = QColor(frame.palette.band)
    tint.setAlpha(BAND_ALPHA)
    for section in frame.layout.sections:
        if section.phase is not Phase.STEADY:
            painter.fillRect(frame.span(section.start, section.end, 0, bottom), tint)
    if frame.layout.mode is GanttMode.FOLDED:
        painter.fillRect(frame.span(frame.axis.start, frame.layout.start, 0, bottom), tint)
        painter.fillRect(frame.span(frame.layout.end, frame.axis.end, 0, bottom), tint)


def _paint_grid(painter: QPainter, frame: Frame, bottom: float) -> None:
    step = tick_step(frame.axis.end - frame.axis.start, frame.width / TICK_PX)
    painter.setPen(QPen(QColor(frame.palette.grid), 1))
    half = 0.5 / frame.ratio
    times = ticks(frame.axis.start, frame.axis.end, step)
    painter.drawLines([QLineF(frame.x(t) + half, 0, frame.x(t) + half, bottom) for t in times])
    if frame.axis.scale * frame.layout.ii < 8:
        return
    pen = QPen(QColor(frame.palette.boundary), 1)
    if frame.layout.mode is GanttMode.UNROLLED:
        pen.setStyle(Qt.PenStyle.DashLine)
    painter.setPen(pen)
    painter.drawLines([QLineF(frame.x(t) + half, 0, frame.x(t) + half, bottom) for t in boundaries(frame)])
