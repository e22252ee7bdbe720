"""The IR text dock: the TTGIR that the loop comes from, its lines linked with the ops of the graph."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QStackedLayout, QWidget

from core.explain.answer import NOTHING, Highlight
from core.project.opened import OpenProject
from twill_gui.document.document import Document
from twill_gui.models.source_lines import SourceLines, source_lines
from twill_gui.theme import Colors
from twill_gui.views.code import SYNTAX_DARK, SYNTAX_LIGHT, CodeView
from twill_gui.views.code.choice import chosen
from twill_gui.views.ir_text.tokens import pieces

NOTHING_TO_SHOW = "Nothing to show"
NO_TEXT = "This project is a dependence graph: it has no IR text"


class IrTextView(QWidget):
    """Marks the lines of the selected ops and brings them into view; a click on a line asks to select its ops."""

    selection_requested = Signal(object)  # frozenset[str]

    def __init__(self, document: Document, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._shown: OpenProject | None = None
        self._lines: SourceLines | None = None
        self._lit = NOTHING
        self.code = CodeView("IR text", pieces)
        self._nothing = QLabel()
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setWordWrap(True)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.code)
        self.setFocusProxy(self.code)
        self.code.line_requested.connect(self._request)
        document.changed.connect(self._show)
        document.selection_changed.connect(self._mark)
        self.set_colors(colors)
        self._show()

    def set_colors(self, colors: Colors) -> None:
        """Colours the text for the theme in use."""
        self.code.set_colors(SYNTAX_DARK if colors.dark else SYNTAX_LIGHT)
        self._nothing.setStyleSheet(f"color: {colors.muted};")

    def set_highlight(self, lit: Highlight) -> None:
        """Marks the lines of what is pointed at elsewhere, beside those of the selection."""
        if lit.ops != self._lit.ops:
            self._lit = lit
            self._mark()

    def open_line(self, op: str) -> bool:
        """Puts the text cursor on the op's line and brings it into view; False if the op has no line here."""
        lines = self._lines.own.get(op) if self._lines else None
        if lines:
            self.code.reveal(lines[0], cursor=True)
        return bool(lines)

    def _show(self) -> None:
        state = self._document.state
        opened = state.variant.opened if state else None
        before, self._shown = self._shown, opened
        if before and opened and before.tiles is opened.tiles and before.fusion is opened.fusion:
            return
        text = self._lines.text if self._lines else ""
        self._lines = lines = source_lines(opened) if opened else None
        self._nothing.setText(NO_TEXT if opened else NOTHING_TO_SHOW)
        self._stack.setCurrentWidget(self.code if lines else self._nothing)
        if (lines.text if lines else "") != text:
            self.code.set_text(lines.text if lines else "")
        if lines:
            self.code.set_linked({line: ", ".join(ops) for line, ops in lines.ops.items()})
            self.code.setAccessibleDescription(f"{lines.file.name}, the loop begins at line {lines.loop_line}")
            self.code.reveal(lines.loop_line)
        self._mark()

    def _mark(self) -> None:
        if self._lines is None:
            return
        selected = [op for op in self._lines.own if op in self._document.selection]
        own, helping = self._lines.lines(selected)
        lit, _ = self._lines.lines([op for op in self._lines.own if op in self._lit.ops])
        self.code.set_marked(own | lit, helping - lit)
        if own and not any(self.code.in_view(line) for line in own):
            self.code.reveal(self._lines.own[selected[0]][0])

    def _request(self, line: int, toggle: bool) -> None:
        ops = frozenset(self._lines.ops.get(line, ()) if self._lines else ())
        if ops:
            self.selection_requested.emit(chosen(self._document.selection, ops, toggle))
