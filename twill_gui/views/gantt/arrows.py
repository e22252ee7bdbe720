"""Where dependence arrows run, and painting them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPainterPathStroker, QPen, QPolygonF

from core.graph.model import Dependence
from core.schedule.model import Schedule
from core.schedule.wording import counted
from twill_gui.views.gantt.content import Wait
from twill_gui.views.gantt.frame import Frame
from twill_gui.views.gantt.layout import GanttMode, Layout

SAME_LANE_PX = 26
SAG_PX = 26.0
MOST_BEND_PX = 48.0
LEFTWARD_BEND_PX = 24.0
HEAD_PX = 8.0
NEAR_PX = 4.0


class ArrowKind(Enum):
    """PLAIN: within an iteration. CARRIED: from an earlier one. BROKEN: the target starts too early."""

    PLAIN = "plain"
    CARRIED = "carried"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Arrow:
    """From the time a value is ready to the time its reader starts, on the view's axis.

    `wraps`: in the folded view an arrow that crosses the boundary of the interval leaves at one edge and comes back
    at the other: 1 from right to left, -1 from left to right (only a broken dependence runs backwards), 0 not at all.
    `hand_off`: cycles before `ready` that the value spends crossing groups, as far as they are in view.
    """

    dependence: Dependence
    kind: ArrowKind
    ready: int
    start: int
    wraps: int
    hand_off: int
    label: str


@dataclass(frozen=True, slots=True)
class DrawnArrow:
    """A dependence and the lines that stand for it."""

    dependence: Dependence
    pieces: tuple[QPainterPath, ...]

    def is_at(self, point: QPointF) -> bool:
        """Whether a point is on the lines, or nearly."""
        stroker = QPainterPathStroker()
        stroker.setWidth(2 * NEAR_PX)
        return any(stroker.createStroke(piece).contains(point) for piece in self.pieces)


def route(layout: Layout, schedule: Schedule, wait: Wait, iteration: int) -> Arrow:
    """The arrow of a dependence whose reader works for `iteration` (unrolled view)."""
    dependence = wait.dependence
    start = schedule.ops[dependence.target].start
    ready = start - wait.slack
    label = f"δ {dependence.distance}" if dependence.distance else ""
    kind = ArrowKind.CARRIED if dependence.distance else ArrowKind.PLAIN
    if wait.missing:
        kind = ArrowKind.BROKEN
        label = " · ".join(part for part in (f"needs +{counted(wait.missing, 'cycle')}", label) if part)
    if layout.mode is GanttMode.UNROLLED:
        shift = iteration * schedule.ii
        return Arrow(dependence, kind, ready + shift, start + shift, 0, wait.hand_off, label)
    turn, slot = divmod(start, schedule.ii)
    ready_turn, ready_slot = divmod(ready - 1, schedule.ii)
    wraps = (turn > ready_turn) - (turn < ready_turn)
    hand_off = min(wait.hand_off, ready_slot + 1)
    return Arrow(dependence, kind, ready_slot + 1, slot, wraps, hand_off, label)


def paint_arrows(
    painter: QPainter,
    frame: Frame,
    arrows: Iterable[Arrow],
    heights: Mapping[str, tuple[float, float]],
    taken: Iterable[QRectF] = (),
) -> list[DrawnArrow]:
    """`heights`: by op, where its arrows leave (its tail) and where they arrive (the middle of its bar). Labels keep
    clear of one another and of the boxes `taken`. Returns where the arrows are."""
    drawn: list[DrawnArrow] = []
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    labels: list[tuple[QPointF, Arrow]] = []
    for arrow in arrows:
        colour = arrow_colour(frame, arrow.kind)
        out, into = heights[arrow.dependence.source][0], heights[arrow.dependence.target][1]
        pieces = list(_pieces(frame, arrow, out, into))
        drawn.append(DrawnArrow(arrow.dependence, tuple(pieces)))
        style = Qt.PenStyle.DashLine if arrow.kind is ArrowKind.BROKEN else Qt.PenStyle.SolidLine
        for pen in (QPen(QColor(frame.palette.window), 4), QPen(colour, 1.6, style)):
            painter.setPen(pen)
            for path in pieces:
                painter.drawPath(path)
        if arrow.hand_off:
            painter.setPen(QPen(colour, 1.6, Qt.PenStyle.DotLine))
            left = frame.axis.x(arrow.ready - arrow.hand_off)
            painter.drawLine(QPointF(left, out), QPointF(frame.axis.x(arrow.ready), out))
        _paint_head(painter, pieces[-1], colour)
        if arrow.label:
            longest = max(pieces, key=lambda path: path.length())
            labels.append((longest.pointAtPercent(0.5), arrow))
    boxes = list(taken)
    for point, arrow in labels:
        boxes.append(_label_box(frame, point, arrow.label, boxes))
        _paint_label(painter, frame, boxes[-1], arrow)
    painter.restore()
    return drawn


def arrow_colour(frame: Frame, kind: ArrowKind) -> QColor:
    """The colour of an arrow and its label."""
    palette = frame.palette
    colours = {
        ArrowKind.PLAIN: palette.arrow,
        ArrowKind.CARRIED: palette.carried_arrow,
        ArrowKind.BROKEN: palette.violation,
    }
    return QColor(colours[kind])


def _pieces(frame: Frame, arrow: Arrow, out: float, into: float) -> Iterator[QPainterPath]:
    first, last = QPointF(frame.axis.x(arrow.ready), out), QPointF(frame.axis.x(arrow.start), into)
    same_lane = arrow.dependence.source == arrow.dependence.target or abs(out - into) < SAME_LANE_PX
    sag = SAG_PX if same_lane else 0.0
    if not arrow.wraps:
        yield _curve(first, last, sag)
        return
    middle = max(out, into) + sag * 0.75 if same_lane else (out + into) / 2
    edges = [QPointF(frame.axis.x(frame.layout.ii) + 8, middle), QPointF(frame.axis.x(0) - 8, middle)]
    leave, come_back = edges if arrow.wraps > 0 else edges[::-1]
    yield _curve(first, leave, 0.0)
    yield _curve(come_back, last, 0.0)


def _curve(first: QPointF, last: QPointF, sag: float) -> QPainterPath:
    """Level at both ends where there is room; `sag` lets it hang under the bars of one lane."""
    path = QPainterPath(first)
    across = last.x() - first.x()
    bend = min(across / 2, MOST_BEND_PX) if across >= 0 else LEFTWARD_BEND_PX
    sag *= min(abs(across) / 80, 1.0)
    path.cubicTo(QPointF(first.x() + bend, first.y() + sag), QPointF(last.x() - bend, last.y() + sag), last)
    return path


def _paint_head(painter: QPainter, path: QPainterPath, colour: QColor) -> None:
    tip, before = path.currentPosition(), path.pointAtPercent(path.percentAtLength(max(path.length() - HEAD_PX, 0)))
    along = tip - before
    size = math.hypot(along.x(), along.y())
    along = along / size if size > 1 else QPointF(1, 0)
    back, side = tip - along * HEAD_PX, QPointF(-along.y(), along.x()) * (HEAD_PX / 2)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF([tip, back + side, back - side]))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _label_box(frame: Frame, point: QPointF, text: str, taken: list[QRectF]) -> QRectF:
    """The box of a label at a point, or below it where others are in the way."""
    width, height = frame.small.width(text) + 8, frame.small.height + 2
    left = min(max(point.x() - width / 2, 2.0), frame.width - width - 2)
    top = min(max(point.y() - height / 2, 2.0), frame.height - height - 2)
    box = QRectF(left, top, width, height)
    for other in sorted(taken, key=QRectF.top):
        if box.intersects(other):
            box.moveTop(other.bottom() + 2)
    return box


def _paint_label(painter: QPainter, frame: Frame, box: QRectF, arrow: Arrow) -> None:
    colour = arrow_colour(frame, arrow.kind)
    painter.setPen(QPen(colour, 1))
    painter.setBrush(QColor(frame.palette.window))
    painter.drawRoundedRect(box, 4, 4)
    painter.setPen(QColor(frame.palette.violation_text) if arrow.kind is ArrowKind.BROKEN else colour)
    painter.setFont(frame.small.font)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, arrow.label)
