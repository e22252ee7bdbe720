"""Widths and elided forms of texts, remembered, since a chart asks for the same ones in every frame."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetricsF


class TextCutter:
    """Measures and cuts texts in one font."""

    def __init__(self, font: QFont) -> None:
        self.font = font
        self._metrics = QFontMetricsF(font)
        self._widths: dict[str, float] = {}
        self.height = self._metrics.height()

    def width(self, text: str) -> float:
        """The text's width in pixels."""
        width = self._widths.get(text)
        if width is None:
            width = self._widths[text] = self._metrics.horizontalAdvance(text)
        return width

    def cut(self, text: str, room: float) -> str:
        """The text, elided to `room` pixels; empty where not even two letters fit."""
        if self.width(text) <= room:
            return text
        letters = len(text)
        ellipsis = self.width("…")
        while letters > 1 and self.width(text[:letters]) + ellipsis > room:
            letters -= 1
        return f"{text[:letters]}…" if letters > 1 else ""


def small_font(font: QFont) -> QFont:
    """The font of stage numbers and of labels on arrows and curves: smaller and bold."""
    small = QFont(font)
    small.setPointSizeF(max(small.pointSizeF() - 1.5, 5.0))
    small.setBold(True)
    return small


def title_font(font: QFont) -> QFont:
    """The font of the titles of rows."""
    title = QFont(font)
    title.setWeight(QFont.Weight.DemiBold)
    return title
