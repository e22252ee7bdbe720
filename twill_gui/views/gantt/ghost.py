"""Over the bars of the schedule shown: where another one has the ops that lie elsewhere, as dashed outlines, and when
ops were seen in a measured run, as strips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from core.graph.model import Graph
from core.schedule.compare import compare
from core.schedule.model import Schedule
from twill_gui.views.gantt.frame import Frame
from twill_gui.views.gantt.layout import Bar, GanttMode, LaneKind, Layout, build_layout
from twill_gui.views.gantt.packing import fold

if TYPE_CHECKING:
    from twill_gui.models.measured import SeenPlace

_DASHES = [4.0, 2.0]
_STRIP = 4.0
"""Pixels of a strip's height: it lies over the lower edge of a bar and below the names beside bars."""


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


def seen_bars(seen: Mapping[str, SeenPlace], layout: Layout) -> list[Bar]:
    """Of the ops seen, from when to when, on the lanes and rows of their planned bars. In the folded view none is
    longer than the interval."""
    groups = {number for number, lane in enumerate(layout.lanes) if lane.kind is LaneKind.GROUP}
    bars: list[Bar] = []
    for bar in layout.bars:
        if bar.lane not in groups or bar.op not in seen or bar.continues_left:
            continue
        start, length = bar.start + seen[bar.op].late, seen[bar.op].length
        if layout.mode is GanttMode.UNROLLED:
            bars.append(replace(bar, start=start, end=start + length))
        else:
            pieces = fold(start, min(length, layout.ii), layout.ii)
            bars += [replace(bar, start=piece.start, end=piece.end) for piece in pieces]
    return bars


def paint_ghost(painter: QPainter, frame: Frame, bars: list[Bar]) -> None:
    """Dashed outlines, light under dark, so that they are seen on any fill and on the lane."""
    boxes = _boxes(frame, bars)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for ink, width, dashed in ((frame.palette.window, 3, False), (frame.palette.carried_arrow, 1.5, True)):
        pen = QPen(QColor(ink), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        if dashed:
            pen.setDashPattern(_DASHES)
        painter.setPen(pen)
        painter.drawRects(boxes)


def paint_seen(painter: QPainter, frame: Frame, bars: list[Bar]) -> None:
    """A strip over the lower edge of the bar, light with a dark border or the other way round."""
    painter.setBrush(QColor(frame.palette.window))
    painter.setPen(QPen(QColor(frame.palette.selection), 1))
    for box in _boxes(frame, bars):
        painter.drawRect(QRectF(box.left(), box.bottom() - _STRIP / 2, box.width(), _STRIP - 1))


def _boxes(frame: Frame, bars: list[Bar]) -> list[QRectF]:
    """Of those that can be seen."""
    boxes = [_box(frame, bar) for bar in bars]
    return [box for box in boxes if box.right() > 0 and box.left() < frame.width and box.bottom() > 0]


def _box(frame: Frame, bar: Bar) -> QRectF:
    top = frame.rows.bar_top(bar) - frame.scroll
    box = frame.span(bar.start, bar.end, top, frame.rows.lanes[bar.lane].bar)
    return box if box.width() >= 3 else QRectF(box.left(), box.top(), 3, box.height())
