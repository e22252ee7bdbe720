"""The Gantt chart as one widget, with what its keys do."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from twill_gui.views.gantt import navigation
from twill_gui.views.gantt.chart import ShownChart
from twill_gui.views.gantt.content import Content
from twill_gui.views.gantt.keys import CHART_KEYS
from twill_gui.views.timeline.axis import PAN_SHARE, ZOOM_STEP

_MODIFIER = Qt.KeyboardModifier


class GanttView(ShownChart):
    """Shows a judged schedule and emits what the user asks for; it changes nothing itself, not even the selection.
    Times are cycles."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reached = ""  # the op that the keys have come to, since several may be selected

    # Time

    def zoom_in(self) -> None:
        """Closer, at the cursor or else the middle."""
        self._zoom(ZOOM_STEP)

    def zoom_out(self) -> None:
        """Farther away."""
        self._zoom(1 / ZOOM_STEP)

    def pan_left(self) -> None:
        """Earlier by a fifth of what is shown."""
        self.axis.pan(-PAN_SHARE * (self.axis.end - self.axis.start))

    def pan_right(self) -> None:
        """Later by a fifth of what is shown."""
        self.axis.pan(PAN_SHARE * (self.axis.end - self.axis.start))

    def fit(self) -> None:
        """The whole time."""
        self.axis.fit()

    def center_selection(self) -> None:
        """The selection in the middle; if it is there already, as large as fits."""
        span = self._selected_span()
        if span is None:
            return
        start, end = span
        before = self.axis.start
        self.axis.center((start + end) / 2)
        if abs(self.axis.start - before) * self.axis.scale < 1:
            room = max((end - start) * 0.25, 4)
            self.axis.show_range(start - room, end + room)
        self._scroll_to_selection()

    # Selection and moves

    def select_next(self) -> None:
        """Asks for the next op of the lane."""
        self._select_from(lambda content, op: navigation.neighbour_on_lane(content, op, 1))

    def select_previous(self) -> None:
        """Asks for the op before on the lane."""
        self._select_from(lambda content, op: navigation.neighbour_on_lane(content, op, -1))

    def extend_next(self) -> None:
        """Asks for the next op of the lane beside those selected."""
        self._select_from(lambda content, op: navigation.neighbour_on_lane(content, op, 1), extend=True)

    def extend_previous(self) -> None:
        """Asks for the op before on the lane beside those selected."""
        self._select_from(lambda content, op: navigation.neighbour_on_lane(content, op, -1), extend=True)

    def select_range(self) -> None:
        """The range of time that the selection takes."""
        span = self._selected_span()
        if span is not None:
            self._canvas.select_range(*span)

    def scroll_lanes(self, pages: int) -> None:
        """The lanes further down, or up for negative pages."""
        self._lanes_bar.setValue(self._lanes_bar.value() + pages * self._lanes_bar.pageStep())

    def select_predecessor(self) -> None:
        """Asks for the op that the selected one waits for most tightly."""
        self._select_from(navigation.predecessor)

    def select_successor(self) -> None:
        """Asks for the op that waits for the selected one most tightly."""
        self._select_from(navigation.successor)

    def nudge(self, cycles: int) -> None:
        """Asks to move the selected ops by so many cycles, not before cycle 0."""
        for op in self._selected():
            place = self._content.schedule.ops[op] if self._content else None
            if place and place.start + cycles >= 0:
                self.move_requested.emit(op, place.start + cycles, place.group)

    def move_to_neighbour_group(self, step: int) -> None:
        """Asks to move the selected ops to the group one lane above (-1) or below (1)."""
        for op in self._selected():
            assert self._content is not None
            group = navigation.neighbour_group(self._content, op, step)
            if group is not None:
                self.move_requested.emit(op, self._content.schedule.ops[op].start, group)

    def cancel_drag(self) -> bool:
        """Ends a drag without any effect, or else takes the selected range away; False if there is neither."""
        return self._canvas.cancel()

    def cancel(self) -> None:
        """As `cancel_drag`; if there is nothing to cancel, asks for an empty selection."""
        if not self.cancel_drag():
            self.selection_requested.emit(frozenset())

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers = event.modifiers()
        alt, shift = (bool(modifiers & one) for one in (_MODIFIER.AltModifier, _MODIFIER.ShiftModifier))
        action = CHART_KEYS.get((Qt.Key(event.key()), alt, shift))
        if action is None or modifiers & _MODIFIER.ControlModifier:
            super().keyPressEvent(event)
        else:
            action(self)

    # Inside

    def _zoom(self, factor: float) -> None:
        at = self.axis.cursor
        self.axis.zoom(factor, (self.axis.start + self.axis.end) / 2 if at is None else at)

    def _select_from(self, choose: Callable[[Content, str], str | None], extend: bool = False) -> None:
        """Goes on from the op reached last, since several may be selected."""
        if self._content is None:
            return
        selected = self._selected()
        last = self._reached if self._reached in selected else selected[-1] if selected else None
        op = choose(self._content, last) if last else navigation.first_op(self._content)
        if op is not None:
            self._reached = op
            self.selection_requested.emit(frozenset({op}) | (self._selection if extend else frozenset()))
