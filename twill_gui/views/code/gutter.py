"""The line numbers beside a text, with marks for the lines that belong to ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from twill_gui.views.code.colors import SYNTAX_LIGHT, SyntaxColors

PAD_PX, MARK_PX = 8, 3
LEAST_DIGITS = 3


class Mark(Enum):
    """What a line is to the ops."""

    NONE = "of no op"
    LINKED = "of an op"
    SELECTED = "of a selected op"


@dataclass(frozen=True, slots=True)
class VisibleLine:
    """A line in view: its number, its place in pixels, its mark, and whether the text cursor is in it."""

    number: int
    top: float
    height: float
    mark: Mark
    current: bool


class Gutter(QWidget):
    """Shows the numbers of the lines that `lines` gives. The mark of a selected line is broad, others' narrow."""

    clicked = Signal(QPoint, bool)  # where, and whether Ctrl was held

    def __init__(self, lines: Callable[[], Iterable[VisibleLine]], parent: QWidget) -> None:
        super().__init__(parent)
        self._lines = lines
        self._colors = SYNTAX_LIGHT
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def set_colors(self, colors: SyntaxColors) -> None:
        """Light or dark colours."""
        self._colors = colors
        self.update()

    def width_for(self, line_count: int) -> int:
        """Pixels for the numbers of so many lines."""
        digits = max(len(str(line_count)), LEAST_DIGITS)
        return self.fontMetrics().horizontalAdvance("9") * digits + 2 * PAD_PX + MARK_PX

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(event.position().toPoint(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))

    def paintEvent(self, event: QPaintEvent) -> None:
        colors = self._colors
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), QColor(colors.gutter))
            room = self.width() - MARK_PX - PAD_PX
            for line in self._lines():
                painter.setPen(QColor(colors.text if line.current else colors.number))
                place = QRectF(0, line.top, room, line.height)
                painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line.number))
                selected = line.mark is Mark.SELECTED
                width = MARK_PX if selected else 1 if line.mark is Mark.LINKED else 0
                bar = QRectF(self.width() - width, line.top, width, line.height)
                painter.fillRect(bar, QColor(colors.strong_mark if selected else colors.linked))
