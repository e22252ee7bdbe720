"""What a pressed mouse button does on the chart: pan, range, click, move. One object per press."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPointF

from twill_gui.views.gantt.content import Content
from twill_gui.views.gantt.layout import Bar, GanttMode, LaneKind
from twill_gui.views.gantt.moves import Move, Trial
from twill_gui.views.gantt.rows import Rows
from twill_gui.views.timeline.axis import TimeAxis

DRAG_FROM_PX = 5


class Gesture(Protocol):
    """From press to release. Positions are pixels of the canvas, `scroll` those by which its lanes are scrolled up."""

    def drag(self, position: QPointF, scroll: int) -> None:
        """The mouse has moved."""
        ...


class Pan:
    """Moves the time axis and the lanes with the mouse."""

    def __init__(self, axis: TimeAxis, position: QPointF) -> None:
        self._axis = axis
        self._last = position
        self.scrolled = 0.0

    def drag(self, position: QPointF, scroll: int) -> None:
        """Time follows at once; `scrolled` gathers the pixels by which the lanes are to follow."""
        self._axis.pan((self._last.x() - position.x()) / self._axis.scale)
        self.scrolled += self._last.y() - position.y()
        self._last = position

    def take_scroll(self) -> int:
        """Whole pixels to scroll now."""
        pixels = int(self.scrolled)
        self.scrolled -= pixels
        return pixels


class Range:
    """Selects a range of time; `span` is None until the mouse has moved far enough to mean it."""

    def __init__(self, axis: TimeAxis, position: QPointF) -> None:
        self._axis = axis
        self.press = position
        self._anchor = axis.time(position.x())
        self.span: tuple[int, int] | None = None

    def drag(self, position: QPointF, scroll: int) -> None:
        """The range runs from the press to here, in whole cycles."""
        if self.span is None and abs(position.x() - self.press.x()) < DRAG_FROM_PX:
            return
        first, last = sorted((self._anchor, self._axis.time(position.x())))
        self.span = round(first), round(last)


class Hold:
    """A bar under the pressed button: a click until the mouse has moved DRAG_FROM_PX, then a move of its op. `shown`:
    whether it can be seen yet, so that a quick click does not flash."""

    def __init__(self, axis: TimeAxis, rows: Rows, content: Content, bar: Bar, position: QPointF) -> None:
        self._axis = axis
        self._rows = rows
        self._press = position
        self._anchor = axis.time(position.x())
        self.move = Move(content, bar.op)
        self.trial: Trial | None = None
        self.shown = False
        unrolled = content.layout.mode is GanttMode.UNROLLED
        self.iteration = bar.iteration if unrolled else 0

    def drag(self, position: QPointF, scroll: int) -> None:
        """Judges the op at the new place, if that is another one."""
        away = position - self._press
        if self.trial is None and max(abs(away.x()), abs(away.y())) < DRAG_FROM_PX:
            return
        self.shown = True
        start = max(self.move.origin.start + round(self._axis.time(position.x()) - self._anchor), 0)
        group = self._group_at(position.y() + scroll)
        if self.trial is None or (start, group) != (self.trial.start, self.trial.group):
            self.trial = self.move.to(start, group)

    def _group_at(self, y: float) -> str:
        """The warp group under the mouse; over anything else the op's own, so that a bar taken on a unit's lane moves
        in time only."""
        number = self._rows.lane_at(y)
        lane = None if number is None else self.move.content.layout.lanes[number]
        return lane.name if lane and lane.kind is LaneKind.GROUP else self.move.origin.group
