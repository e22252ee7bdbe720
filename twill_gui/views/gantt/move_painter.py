"""Paints a move: where the op may go, its ghost, what it breaks, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from core.schedule.windows import Window
from core.schedule.wording import counted
from twill_gui.views.gantt.arrows import paint_arrows, route
from twill_gui.views.gantt.bar_table import LEAST_BAR_PX, TAIL_PX, BarTable
from twill_gui.views.gantt.content import Wait
from twill_gui.views.gantt.frame import Frame
from twill_gui.views.gantt.gestures import Hold
from twill_gui.views.gantt.layout import GanttMode, LaneKind, main_unit
from twill_gui.views.gantt.moves import GhostSpan, Move, Trial, collisions, ghost_spans
from twill_gui.views.gantt.overlay import paint_plate
from twill_gui.views.gantt.packing import fold
from twill_gui.views.timeline.brushes import dimming_brush, hatch_brush
from twill_gui.views.timeline.ticks import grouped

IN_HAND_ALPHA = 215
ELSEWHERE_ALPHA = 110


def paint_move(
    painter: QPainter, frame: Frame, table: BarTable, hold: Hold, heights: Mapping[str, tuple[float, float]]
) -> None:
    """At the press: where the op may go. Once it has moved: also its ghost, what it breaks, and the verdict.
    `heights` as for arrows, of all ops at their old places."""
    move, trial, iteration = hold.move, hold.trial, hold.iteration
    for number, lane in enumerate(frame.layout.lanes):
        if lane.kind is LaneKind.GROUP:
            _paint_window(painter, frame, number, move.windows[lane.name], hold)
    if trial is None:
        return
    _fade_original(painter, frame, table, move.op)
    spans = ghost_spans(move.content, move.op, trial)
    in_hand = next(span for span in spans if span.iteration == iteration)
    _paint_ghost(painter, frame, move, spans, iteration)
    painter.setPen(QPen(QColor(frame.palette.violation), 1))
    painter.setBrush(hatch_brush(frame.palette, frame.ratio))
    for span in collisions(move.content, move.op, trial, spans, table.bars_of):
        box = frame.rows.lanes[span.lane]
        painter.drawRect(frame.span(span.start, span.end, box.top + 2 - frame.scroll, box.height - 5))
    middle = _ghost_top(frame, in_hand.lane) + frame.rows.lanes[in_hand.lane].bar / 2
    moved = {**heights, move.op: (middle, middle)}
    arrows = [route(frame.layout, trial.schedule, wait, _reader(wait, move.op, iteration)) for wait in trial.broken]
    verdict = _paint_verdict(painter, frame, move, trial, in_hand)
    paint_arrows(painter, frame, arrows, moved, (verdict,))


def _reader(wait: Wait, op: str, iteration: int) -> int:
    """The iteration of the reader, if `op` works for `iteration`."""
    return iteration if wait.dependence.target == op else iteration + wait.dependence.distance


def _paint_window(painter: QPainter, frame: Frame, lane: int, window: Window, hold: Hold) -> None:
    box = frame.lane_box(lane)
    if window.refusals:
        veil = QColor(frame.palette.lane)
        veil.setAlpha(150)
        painter.fillRect(box, veil)
        painter.fillRect(box, dimming_brush(frame.palette.blocked, frame.ratio))
        _paint_reason(painter, frame, box, window.refusals[0].message)
        return
    if window.slack is not None and window.slack < 0:
        if hold.trial is None:  # afterwards the broken dependences say it themselves
            _paint_reason(
                painter, frame, box, f"no start meets its dependences here: {counted(-window.slack, 'cycle')} too few"
            )
        return
    tint = QColor(frame.palette.legal_window)
    tint.setAlpha(60)
    for start, end in _window_spans(frame, window, hold.move, hold.iteration):
        place = frame.span(start, end, box.top(), box.height() - 1)
        painter.fillRect(place, tint)
        painter.setPen(QPen(QColor(frame.palette.legal_window), 2))
        painter.drawLine(QLineF(place.left(), place.top(), place.left(), place.bottom()))
        painter.drawLine(QLineF(place.right(), place.top(), place.right(), place.bottom()))


def _paint_reason(painter: QPainter, frame: Frame, box: QRectF, text: str) -> None:
    paint_plate(painter, frame, QPointF(0, box.center().y() - 10), text, frame.palette.text)


def _window_spans(frame: Frame, window: Window, move: Move, iteration: int) -> Iterator[tuple[float, float]]:
    """From the earliest start to the end of the issue cycles after the latest one."""
    issue = max(move.content.graph.ops[move.op].issue_cycles, 1)
    ii = frame.layout.ii
    if frame.layout.mode is GanttMode.UNROLLED:
        shift = iteration * ii
        latest = frame.layout.end if window.latest is None else window.latest + issue + shift
        yield window.earliest + shift, latest
        return
    length = ii if window.latest is None else min(window.latest + issue - window.earliest, ii)
    for piece in fold(window.earliest, length, ii):
        yield piece.start, piece.end


def _fade_original(painter: QPainter, frame: Frame, table: BarTable, op: str) -> None:
    boxes = table.boxes(frame.axis, frame.scroll, frame.height, frame.ratio, table.of_op(op))
    veil = QColor(frame.palette.lane)
    veil.setAlpha(165)
    for left, right, top, height in zip(boxes.left, boxes.right, boxes.top, boxes.height, strict=True):
        painter.fillRect(QRectF(left, top, right - left, height), veil)


def _ghost_top(frame: Frame, lane: int) -> float:
    return frame.rows.lanes[lane].rows[0] - frame.scroll


def _paint_ghost(painter: QPainter, frame: Frame, move: Move, spans: list[GhostSpan], iteration: int) -> None:
    fill = frame.palette.unit_style(main_unit(move.content.graph.ops[move.op])).fill(0)
    body = QColor(fill.colour)
    for span in spans:
        bar = frame.rows.lanes[span.lane].bar
        top = _ghost_top(frame, span.lane)
        if span.tail:
            painter.fillRect(frame.span(span.start, span.end, top + bar + 1, TAIL_PX), QColor(fill.border))
            continue
        in_hand = span.iteration == iteration
        body.setAlpha(IN_HAND_ALPHA if in_hand else ELSEWHERE_ALPHA)
        box = frame.span(span.start, span.end, top, bar)
        box.setWidth(max(box.width(), LEAST_BAR_PX))
        painter.setPen(QPen(QColor(frame.palette.selection), 2 if in_hand else 1))
        painter.setBrush(body)
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        if in_hand:
            painter.setPen(QColor(fill.text))
            painter.setFont(frame.label.font)
            text = frame.label.cut(move.op, box.width() - 10)
            painter.drawText(box.adjusted(5, 0, -5, 0), Qt.AlignmentFlag.AlignVCenter, text)


def _paint_verdict(painter: QPainter, frame: Frame, move: Move, trial: Trial, in_hand: GhostSpan) -> QRectF:
    by = trial.start - move.origin.start
    stage, slot = divmod(trial.start, frame.layout.ii)
    parts = [move.op, f"start {grouped(trial.start)} ({by:+,})", f"slot {grouped(slot)}", f"stage {stage}"]
    if trial.group != move.origin.group:
        parts.insert(1, trial.group)
    text = " · ".join([*parts, trial.verdict])
    colour = frame.palette.violation_text if trial.report.violations else frame.palette.text
    box = frame.rows.lanes[in_hand.lane]
    top = box.bottom + 4 - frame.scroll
    return paint_plate(painter, frame, QPointF(frame.axis.x(in_hand.start), top), text, colour)
