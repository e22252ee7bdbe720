"""The corner between ruler and headers: one word about what is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from twill_gui.palette import LIGHT, ViewPalette


class Corner(QWidget):
    """A painted word on the header's ground."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = text
        self._palette = LIGHT

    def set_text(self, text: str) -> None:
        """The word."""
        self._text = text
        self.update()

    def set_palette(self, palette: ViewPalette) -> None:
        """Light or dark colours."""
        self._palette = palette
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(self._palette.header))
            painter.setPen(QColor(self._palette.muted_text))
            place = self.rect().adjusted(10, 0, -8, -4)
            painter.drawText(place, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, self._text)
            painter.setPen(QPen(QColor(self._palette.border), 1))
            painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
            painter.drawLine(self.width() - 1, 0, self.width() - 1, self.height())
