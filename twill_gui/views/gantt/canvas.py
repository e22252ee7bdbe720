"""Mouse and trackpad on the chart, turned into requests."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip, QWidget

from core.graph.model import Dependence
from twill_gui.views.gantt.content import Content
from twill_gui.views.gantt.describe import bar_tooltip, wait_tooltip
from twill_gui.views.gantt.gestures import Gesture, Hold, Pan, Range
from twill_gui.views.gantt.layout import Bar
from twill_gui.views.gantt.surface import Surface
from twill_gui.views.timeline.axis import TimeAxis
from twill_gui.views.timeline.wheel import pinch, wheel

HOLD_MS = 150
EDGE_PX, EDGE_STEP_PX, EDGE_MS = 14, 10, 25


class Canvas(Surface):
    """The surface with its mouse. `tried`: the schedule that a drag would make (None: the drag is over)."""

    move_requested = Signal(str, int, str)
    selection_requested = Signal(object)
    op_activated = Signal(str)
    range_selected = Signal(int, int)
    hovered = Signal(str)
    tried = Signal(object)
    scroll_requested = Signal(int)
    menu_requested = Signal(object)  # QPoint on the screen

    def __init__(self, axis: TimeAxis, parent: QWidget | None = None) -> None:
        super().__init__(axis, parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._hold_timer = QTimer(self, interval=HOLD_MS, singleShot=True)
        self._hold_timer.timeout.connect(self._show_hold)
        self._edge_timer = QTimer(self, interval=EDGE_MS)
        self._edge_timer.timeout.connect(self._go_on_at_edge)
        self._last = QPointF()

    def set_content(self, content: Content | None) -> None:
        if isinstance(self._gesture, Hold):
            self.tried.emit(None)
        self._edge_timer.stop()
        super().set_content(content)
        self._hover("")

    def bar_at(self, position: QPointF) -> Bar | None:
        """The bar at a position of the canvas."""
        if self._table is None:
            return None
        number = self._table.at(self.axis, position.x(), position.y() + self._scroll)
        return None if number is None else self._table.bars[number]

    def dependence_at(self, position: QPointF) -> Dependence | None:
        """The dependence whose arrow is at a position; arrows in front of others come last."""
        return next((drawn.dependence for drawn in reversed(self._drawn) if drawn.is_at(position)), None)

    def cancel(self) -> bool:
        """Ends the gesture in progress without any effect, or else takes the selected range away; False if there is
        neither."""
        held = isinstance(self._gesture, Hold)
        found = self._gesture is not None or self._range is not None
        if self._gesture is None:
            self._range = None
        self._gesture = None
        self._edge_timer.stop()
        self.unsetCursor()
        if held:
            self.tried.emit(None)
        self.update()
        return found

    def select_range(self, start: int, end: int) -> None:
        """Marks a range of time, as a drag on empty does."""
        if self._gesture is None:
            self._range = start, end
            self.range_selected.emit(start, end)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._content is None or self._rows is None or self._gesture is not None:
            return
        position, button = event.position(), event.button()
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if button == Qt.MouseButton.MiddleButton or (button == Qt.MouseButton.LeftButton and shift):
            self._gesture = Pan(self.axis, position)
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        elif button == Qt.MouseButton.LeftButton:
            bar = self.bar_at(position)
            if bar is None:
                self._gesture = Range(self.axis, position)
            else:
                self._focus_iteration = bar.iteration
                self._gesture = Hold(self.axis, self._rows, self._content, bar, position)
                self._hold_timer.start()
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position()
        self.axis.set_cursor(self.axis.time(position.x()))
        gesture = self._gesture
        if gesture is None:
            bar = self.bar_at(position)
            self._hover(bar.op if bar else "")
            return
        self._drag(gesture, position)
        moved = (isinstance(gesture, Hold) and gesture.trial) or (isinstance(gesture, Range) and gesture.span)
        if moved and self._beyond(position) != (0, 0):
            self._edge_timer.start()
        else:
            self._edge_timer.stop()

    def _drag(self, gesture: Gesture, position: QPointF) -> None:
        self._last = position
        before = gesture.trial if isinstance(gesture, Hold) else None
        gesture.drag(position, self._scroll)
        if isinstance(gesture, Pan):
            pixels = gesture.take_scroll()
            if pixels:
                self.scroll_requested.emit(pixels)
        elif isinstance(gesture, Hold) and gesture.trial is not None and gesture.trial is not before:
            self.setCursor(Qt.CursorShape.SizeAllCursor)
            self.tried.emit(gesture.trial.schedule)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        gesture = self._gesture
        if gesture is None or event.buttons() != Qt.MouseButton.NoButton:
            return
        self._gesture = None
        self._edge_timer.stop()
        self.unsetCursor()
        toggle = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if isinstance(gesture, Range):
            self._finish_range(gesture, toggle)
        elif isinstance(gesture, Hold):
            self._finish_hold(gesture, toggle)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        bar = self.bar_at(event.position())
        if bar is not None and event.button() == Qt.MouseButton.LeftButton:
            self.op_activated.emit(bar.op)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """A menu for the bar under the mouse, which is selected first, or by the key for the selection."""
        if self._gesture is not None:
            return
        bar = self.bar_at(QPointF(event.pos())) if event.reason() is QContextMenuEvent.Reason.Mouse else None
        if bar is not None and bar.op not in self._selection:
            self.selection_requested.emit(frozenset({bar.op}))
        if bar is not None or event.reason() is not QContextMenuEvent.Reason.Mouse:
            self.menu_requested.emit(event.globalPos())

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.scroll_requested.emit(wheel(self.axis, self.axis.time(event.position().x()), event))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.axis.set_cursor(None)
        self._hover("")

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tooltip(QPointF(event.pos())), self)
            return True
        if isinstance(event, QNativeGestureEvent) and pinch(self.axis, self.axis.time(event.position().x()), event):
            return True
        return super().event(event)

    def _tooltip(self, position: QPointF) -> str:
        if self._gesture is not None or self._content is None:
            return ""
        bar = self.bar_at(position)
        if bar is not None:
            return bar_tooltip(self._content, bar)
        dependence = self.dependence_at(position)
        return "" if dependence is None else wait_tooltip(self._content.wait(dependence))

    def _beyond(self, position: QPointF) -> tuple[int, int]:
        """At which edges the mouse is: -1 at the left or top, 1 at the right or bottom, 0 at neither."""
        x, y = position.x(), position.y()
        across = -1 if x < EDGE_PX else 1 if x > self.width() - EDGE_PX else 0
        along = -1 if y < EDGE_PX else 1 if y > self.height() - EDGE_PX else 0
        return across, along

    def _go_on_at_edge(self) -> None:
        """What is dragged takes the view along while the mouse is held at an edge."""
        gesture = self._gesture
        if gesture is None:
            self._edge_timer.stop()
            return
        across, along = self._beyond(self._last)
        if along:
            self.scroll_requested.emit(along * EDGE_STEP_PX)
        self.axis.pan(across * EDGE_STEP_PX / self.axis.scale)
        self._drag(gesture, self._last)

    def _finish_range(self, gesture: Range, toggle: bool) -> None:
        self._range = gesture.span
        if gesture.span is not None:
            self.range_selected.emit(*gesture.span)
            return
        arrow = self.dependence_at(gesture.press)
        ends = frozenset({arrow.source, arrow.target}) if arrow else frozenset()
        if ends or not toggle:
            self.selection_requested.emit(self._selection | ends if toggle else ends)

    def _finish_hold(self, gesture: Hold, toggle: bool) -> None:
        op, trial = gesture.move.op, gesture.trial
        if trial is None:
            self.selection_requested.emit(self._selection ^ {op} if toggle else frozenset({op}))
            return
        self.tried.emit(None)
        if (trial.start, trial.group) == (gesture.move.origin.start, gesture.move.origin.group):
            return
        if op not in self._selection:
            self.selection_requested.emit(frozenset({op}))  # the keys and the Inspector go on with what was dropped
        self.move_requested.emit(op, trial.start, trial.group)

    def _show_hold(self) -> None:
        if isinstance(self._gesture, Hold):
            self._gesture.shown = True
            self.update()

    def _hover(self, op: str) -> None:
        if op != self._hovered:
            self._hovered = op
            self.hovered.emit(op)
            self.update()
