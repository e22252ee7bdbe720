"""Drives a shown chart with mouse and keys, as the window would answer it."""

from __future__ import annotations

from chart_cases import HOPPER, case
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from core.schedule.check import check
from core.schedule.edits import move_op
from twill_gui.views.gantt import GanttMode, GanttView
from twill_gui.views.gantt.canvas import Canvas

NO_MODIFIER = Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton


class Chart:
    """A GanttView that gets its selection and its moves back, as the window does it, and what it asked for."""

    def __init__(self, view: GanttView) -> None:
        self.view = view
        self.canvas: Canvas = view.canvas
        self.selections: list[frozenset[str]] = []
        self.moves: list[tuple[str, int, str]] = []
        view.selection_requested.connect(self._select)
        view.move_requested.connect(lambda *move: self.moves.append(move))

    def _select(self, ops: frozenset[str]) -> None:
        self.selections.append(ops)
        self.view.set_selection(ops)

    def show(self, name: str, mode: GanttMode = GanttMode.FOLDED) -> None:
        """Shows a case."""
        self.view.set_mode(mode)
        graph, schedule = case(name)
        self.view.set_content(graph, schedule, check(graph, schedule))

    def show_moved(self, op: str, start: int, group: str) -> None:
        """Shows the case with an op moved."""
        graph, schedule = case(HOPPER)
        moved = move_op(schedule, op, start, group)
        self.view.set_content(graph, moved, check(graph, moved))

    def point(self, op: str, into: int = 3, number: int = 0) -> QPoint:
        """A few pixels into a bar on the op's group lane."""
        content, rows = self.view.content, self.canvas.rows
        assert content and rows
        bar = [bar for bar in content.layout.bars if bar.op == op and bar.block is None][number]
        return QPoint(round(self.view.axis.x(bar.start)) + into, rows.bar_top(bar) + 6)

    def lane_y(self, name: str) -> int:
        """The middle of a lane."""
        content, rows = self.view.content, self.canvas.rows
        assert content and rows
        box = rows.lanes[[lane.name for lane in content.layout.lanes].index(name)]
        return (box.top + box.bottom) // 2

    def empty(self) -> QPoint:
        """A place without any bar: below the lanes."""
        assert self.canvas.rows
        return QPoint(400, self.canvas.rows.height + 20)

    def click(self, point: QPoint, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> None:
        """Presses and releases the left button."""
        QTest.mouseClick(self.canvas, LEFT, modifiers, point)

    def press(self, point: QPoint, button: Qt.MouseButton = LEFT, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> None:
        """Presses a button."""
        QTest.mouseMove(self.canvas, point)
        QTest.mousePress(self.canvas, button, modifiers, point)

    def move(self, point: QPoint) -> None:
        """Moves the mouse, and lets the linked views follow."""
        QTest.mouseMove(self.canvas, point)
        QApplication.processEvents()

    def release(
        self, point: QPoint, button: Qt.MouseButton = LEFT, modifiers: Qt.KeyboardModifier = NO_MODIFIER
    ) -> None:
        """Releases a button."""
        QTest.mouseRelease(self.canvas, button, modifiers, point)

    def drag(
        self,
        start: QPoint,
        end: QPoint,
        button: Qt.MouseButton = LEFT,
        modifiers: Qt.KeyboardModifier = NO_MODIFIER,
    ) -> None:
        """Presses, moves in four steps, releases."""
        self.press(start, button, modifiers)
        for step in (1, 2, 3, 4):
            self.move(start + (end - start) * (step / 4))
        self.release(end, button, modifiers)

    def wheel(
        self,
        point: QPoint,
        notches: int,
        modifiers: Qt.KeyboardModifier = NO_MODIFIER,
        widget: QWidget | None = None,
    ) -> None:
        """Turns the wheel over the canvas or another widget, away from the user for positive notches."""
        widget = widget or self.canvas
        event = QWheelEvent(
            QPointF(point),
            QPointF(widget.mapToGlobal(point)),
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(widget, event)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NO_MODIFIER) -> None:
        """Presses a key in the chart, and lets the linked views follow."""
        QTest.keyClick(self.canvas, key, modifiers)
        QApplication.processEvents()
