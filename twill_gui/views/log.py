"""The Log dock: what has happened, line by line, to be read and copied."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtGui import QColor, QFontDatabase, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from core.diagnostics import Severity
from twill_gui.theme import Colors

MOST_LINES = 5000


class LogView(QPlainTextEdit):
    """Time, severity where it is not a note, source and text. The newest line stays in view unless the user reads
    an older one."""

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = colors
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setMaximumBlockCount(MOST_LINES)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setAccessibleName("Log")
        self.setAccessibleDescription("What has happened, the newest line last")
        self.setPlaceholderText("Nothing has happened yet")

    def set_colors(self, colors: Colors) -> None:
        """Colours for the lines to come; those that are there are drawn in the colour of text."""
        self._colors = colors
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.setCharFormat(QTextCharFormat())

    def add(self, severity: Severity, source: str, text: str) -> None:
        """One entry; its further lines are indented."""
        grave = "" if severity is Severity.NOTE else f"{severity.value}: "
        lines = text.splitlines() or [""]
        written = f"{datetime.now():%H:%M:%S}  {source:<8} {grave}" + "\n                   ".join(lines)
        bar = self.verticalScrollBar()
        at_end = bar.value() == bar.maximum()
        look = QTextCharFormat()
        if severity is not Severity.NOTE:
            look.setForeground(QColor(self._colors.error if severity is Severity.ERROR else self._colors.warning))
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not self.document().isEmpty():
            cursor.insertBlock()
        cursor.insertText(written, look)
        if at_end:
            bar.setValue(bar.maximum())
