"""The other schedule over the bars of the one shown: where its ops are that lie elsewhere, as dashed outlines."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from core.graph.model import Graph
from core.schedule.compare import compare
from core.schedule.model import Schedule
from twill_gui.views.gantt.frame import Frame
from twill_gui.views.gantt.layout import Bar, LaneKind, Layout, build_layout

_DASHES = [4.0, 2.0]


def ghost_bars(graph: Graph, shown: Schedule, other: Schedule, layout: Layout, steady_iterations: int) -> list[Bar]:
    """The bars, on the lanes of the shown layout's groups, of the ops that `other` has elsewhere.

    A group that the shown schedule does not have has no lane, so what is on it is left out.
    """
    moved = compare(shown, other).moved
    lanes = {lane.name: number for number, lane in enumerate(layout.lanes) if lane.kind is LaneKind.GROUP}
    theirs = build_layout(graph, other, layout.mode, steady_iterations)
    bars: list[Bar] = []
    for bar in theirs.bars:
        lane = theirs.lanes[bar.lane]
        if lane.kind is LaneKind.GROUP and lane.name in lanes and (bar.op in moved or shown.ii != other.ii):
            number = lanes[lane.name]
            rows = len(layout.lanes[number].tracks)
            bars.append(replace(bar, lane=number, row=min(bar.row, rows - 1)))
    return bars


def paint_ghost(painter: QPainter, frame: Frame, bars: list[Bar]) -> None:
    """Dashed outlines, light under dark, so that they are seen on any fill and on the lane."""
    boxes = [
        box for bar in bars if (box := _box(frame, bar)).right() > 0 and box.left() < frame.width and box.bottom() > 0
    ]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for ink, width, dashed in ((frame.palette.window, 3, False), (frame.palette.carried_arrow, 1.5, True)):
        pen = QPen(QColor(ink), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        if dashed:
            pen.setDashPattern(_DASHES)
        painter.setPen(pen)
        painter.drawRects(boxes)


def _box(frame: Frame, bar: Bar) -> QRectF:
    top = frame.rows.bar_top(bar) - frame.scroll
    box = frame.span(bar.start, bar.end, top, frame.rows.lanes[bar.lane].bar)
    return box if box.width() >= 3 else QRectF(box.left(), box.top(), 3, box.height())
