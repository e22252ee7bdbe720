"""Program text that cannot be edited: line numbers, colours, lines linked with ops. Made for texts of any size.

A long text is taken in piece by piece between other events, and only the lines in view are coloured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextLayout,
)
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit, QToolTip, QWidget

from twill_gui.views.code.colors import SYNTAX_LIGHT, Kind, SyntaxColors
from twill_gui.views.code.gutter import Gutter, Mark, VisibleLine

TAKEN_AT_ONCE = 100_000  # characters of a long text


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a line that has a colour of its own."""

    start: int
    length: int
    kind: Kind


class CodeView(QPlainTextEdit):
    """Lines count from 1. A click on a line, or Enter, asks for what it belongs to; dragging selects text."""

    line_requested = Signal(int, bool)  # the line, and whether Ctrl was held
    loaded = Signal()

    def __init__(self, name: str, pieces: Callable[[str], Iterable[Piece]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pieces = pieces
        self._colors = SYNTAX_LIGHT
        self._formats: Mapping[Kind, QTextCharFormat] = {}
        self._generation = 0  # the state of a block whose colours are right
        self._coloring = False
        self._text, self._taken = "", 0
        self._kept_in_view: int | None = None  # revealed last, as long as the user has not moved on
        self._linked: Mapping[int, str] = {}
        self._strong: frozenset[int] = frozenset()
        self._weak: frozenset[int] = frozenset()
        self._pressed: QPoint | None = None
        self._loader = QTimer(self, interval=0)
        self.setAccessibleName(name)
        self.setAccessibleDescription("Enter or a click on a line selects the operations it belongs to")
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setUndoRedoEnabled(False)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._gutter = Gutter(self._visible_lines, self)
        self._gutter.clicked.connect(lambda place, ctrl: self.line_requested.emit(self.line_at(place), ctrl))
        self._loader.timeout.connect(self._take_more)
        self.verticalScrollBar().actionTriggered.connect(self._move_on)
        self.updateRequest.connect(self._on_update_request)
        self.blockCountChanged.connect(self._fit_gutter)
        self.cursorPositionChanged.connect(self._gutter.update)
        self.set_colors(SYNTAX_LIGHT)
        self._fit_gutter()

    # What is shown

    @property
    def loading(self) -> bool:
        """Whether a part of the text is still to come."""
        return self._loader.isActive()

    def set_text(self, text: str) -> None:
        """Replaces the text. A long one appears piece by piece; `loaded` tells when it is complete."""
        self._text, self._taken, self._kept_in_view = text, 0, None
        self._strong = self._weak = frozenset()
        self._linked = {}
        self.setPlainText(self._next_part())
        self._show_marks()
        if self._taken < len(text):
            self._loader.start()
        else:
            self._finish_loading()

    def set_linked(self, tips: Mapping[int, str]) -> None:
        """The lines that belong to something, and a tool tip (plain text) for each."""
        self._linked = tips
        self._gutter.update()

    def set_marked(self, strong: frozenset[int], weak: frozenset[int]) -> None:
        """The lines to be marked, strongly and weakly."""
        self._strong, self._weak = strong, weak
        self._show_marks()

    def set_colors(self, colors: SyntaxColors) -> None:
        """Light or dark colours."""
        self._colors = colors
        self._formats = {kind: _format(color, kind) for kind, color in colors.kinds.items()}
        self._generation += 1
        self._gutter.set_colors(colors)
        self._show_marks()
        self._color_visible()

    def reveal(self, line: int, cursor: bool = False) -> None:
        """Scrolls to a line if it is not in view, and puts the text cursor there if that is asked for.

        The line stays in view while the widget's size changes or the text grows, until the user moves on.
        """
        self._kept_in_view = line
        block = self.document().findBlockByNumber(line - 1)
        if cursor and block.isValid():
            self.setTextCursor(QTextCursor(block))
        if not self.in_view(line):
            self.verticalScrollBar().setValue(max(line - 1 - self._room() // 3, 0))

    def in_view(self, line: int) -> bool:
        """Whether all of a line's height can be seen."""
        first = self.firstVisibleBlock().blockNumber() + 1
        return first <= line < first + self._room()

    def line_at(self, place: QPoint) -> int:
        """The line at a height of the widget."""
        return self.cursorForPosition(QPoint(0, place.y())).blockNumber() + 1

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), self.viewportMargins().left(), inside.height()))
        self._keep_in_view()
        self._color_visible()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_gutter"):
            self._fit_gutter()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._move_on()
        self._pressed = event.position().toPoint() if event.button() == Qt.MouseButton.LeftButton else None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        near = self._pressed and (place - self._pressed).manhattanLength() < QApplication.startDragDistance()
        self._pressed = None
        if near and not self.textCursor().hasSelection():
            ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self.line_requested.emit(self.line_at(place), ctrl)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self.line_requested.emit(self.textCursor().blockNumber() + 1, ctrl)
        else:
            self._move_on()
            super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._linked.get(self.line_at(event.pos()), ""), self.viewport())
            return True
        return super().viewportEvent(event)

    # Inside

    def _keep_in_view(self) -> None:
        if self._kept_in_view is not None:
            self.reveal(self._kept_in_view)

    def _move_on(self) -> None:
        self._kept_in_view = None

    def _next_part(self) -> str:
        """The next lines of the text, whole ones."""
        end = self._text.find("\n", self._taken + TAKEN_AT_ONCE)
        part = self._text[self._taken : end + 1 if end >= 0 else None]
        self._taken += len(part)
        return part

    def _take_more(self) -> None:
        end = QTextCursor(self.document())
        end.movePosition(QTextCursor.MoveOperation.End)
        end.insertText(self._next_part())
        self._keep_in_view()
        if self._taken == len(self._text):
            self._loader.stop()
            self._finish_loading()

    def _finish_loading(self) -> None:
        self._text, self._taken = "", 0
        self._show_marks()
        self._color_visible()
        self.loaded.emit()

    def _show_marks(self) -> None:
        selections = []
        for lines, ground in ((self._weak, self._colors.weak), (self._strong, self._colors.strong)):
            for line in sorted(lines):
                block = self.document().findBlockByNumber(line - 1)
                if block.isValid():
                    selections.append(_marked(block, ground))
        self.setExtraSelections(selections)
        self._gutter.update()

    def _on_update_request(self, area: QRect, scrolled: int) -> None:
        if scrolled:
            self._gutter.scroll(0, scrolled)
        else:
            self._gutter.update(0, area.y(), self._gutter.width(), area.height())
        self._color_visible()

    def _color_visible(self) -> None:
        """Colours the lines in view that are not coloured yet."""
        if self._coloring:  # a coloured line asks for an update itself
            return
        self._coloring = True
        for block, _, _ in self._visible_blocks():
            if block.userState() != self._generation:
                block.setUserState(self._generation)
                block.layout().setFormats([self._range(piece) for piece in self._pieces(block.text())])
                self.document().markContentsDirty(block.position(), block.length())
        self._coloring = False

    def _range(self, piece: Piece) -> QTextLayout.FormatRange:
        formatted = QTextLayout.FormatRange()
        formatted.start, formatted.length, formatted.format = piece.start, piece.length, self._formats[piece.kind]  # type: ignore[attr-defined]
        return formatted

    def _visible_blocks(self) -> Iterator[tuple[QTextBlock, float, float]]:
        """The lines in view with their places from top to bottom."""
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top < self.viewport().height():
            height = self.blockBoundingRect(block).height()
            yield block, top, height
            block, top = block.next(), top + height

    def _visible_lines(self) -> Iterator[VisibleLine]:
        current = self.textCursor().blockNumber() + 1
        for block, top, height in self._visible_blocks():
            line = block.blockNumber() + 1
            linked = Mark.LINKED if line in self._linked else Mark.NONE
            yield VisibleLine(line, top, height, Mark.SELECTED if line in self._strong else linked, line == current)

    def _room(self) -> int:
        """How many whole lines there is room for."""
        return max(int(self.viewport().height() / self.blockBoundingRect(self.firstVisibleBlock()).height()), 1)

    def _fit_gutter(self) -> None:
        self.setViewportMargins(self._gutter.width_for(self.blockCount()), 0, 0, 0)


def _format(color: str, kind: Kind) -> QTextCharFormat:
    text = QTextCharFormat()
    text.setForeground(QColor(color))
    text.setFontItalic(kind is Kind.COMMENT)
    return text


def _marked(block: QTextBlock, ground: str) -> QTextEdit.ExtraSelection:
    selection = QTextEdit.ExtraSelection()
    selection.cursor = QTextCursor(block)  # type: ignore[attr-defined]
    line = QTextCharFormat()
    line.setBackground(QColor(ground))
    line.setProperty(QTextFormat.Property.FullWidthSelection, True)
    selection.format = line  # type: ignore[attr-defined]
    return selection
