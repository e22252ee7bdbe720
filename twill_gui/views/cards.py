"""Cards with a thumbnail, a name and a line more, in as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from twill_gui.theme import Colors

THUMBNAIL = QSize(256, 112)  # in pixels of the screen; the files have two for each
_SPACE, _PADDING = 12, 10


@dataclass(frozen=True, slots=True)
class CardContent:
    """What a card shows and what it opens. `thumbnails`: for the light and the dark theme."""

    path: Path
    name: str
    detail: str
    thumbnails: tuple[Path, Path]


class Card(QPushButton):
    """One card; a click, Space or Enter presses it."""

    def __init__(self, content: CardContent, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.content = content
        self._picture, self._name, self._detail = QLabel(), QLabel(content.name), QLabel(content.detail)
        self._picture.setFixedSize(THUMBNAIL)
        self._detail.setObjectName("detail")
        font = self._name.font()
        font.setBold(True)
        self._name.setFont(font)
        for label in (self._name, self._detail):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for label in (self._picture, self._name, self._detail):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_PADDING, _PADDING, _PADDING, _PADDING)
        layout.setSpacing(4)
        for label in (self._picture, self._name, self._detail):
            layout.addWidget(label)
        layout.addStretch(1)
        self.setAccessibleName(content.name)
        self.setAccessibleDescription(content.detail)
        self.setToolTip(str(content.path))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.setFixedWidth(THUMBNAIL.width() + 2 * _PADDING)
        self.setMinimumHeight(layout.heightForWidth(self.width()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(self.width(), self.minimumHeight())

    def set_dark(self, dark: bool) -> None:
        """The thumbnail for the theme in use."""
        pixels = QPixmap(str(self.content.thumbnails[dark]))
        pixels.setDevicePixelRatio(2)
        self._picture.setPixmap(pixels)


class Cards(QWidget):
    """A grid of cards."""

    opened = Signal(object)  # Path

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards: list[Card] = []
        self._columns = 3
        self._colors: Colors | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(_SPACE)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.set_colors(colors)

    def set_contents(self, contents: Sequence[CardContent]) -> None:
        """The cards, in place of those before."""
        for card in self.cards:
            card.deleteLater()
        self.cards = [Card(content) for content in contents]
        for card in self.cards:
            card.clicked.connect(lambda _=False, card=card: self.opened.emit(card.content.path))
            if self._colors is not None:
                card.set_dark(self._colors.dark)
        self._arrange(self._fitting())

    def set_colors(self, colors: Colors) -> None:
        """Thumbnails, frames and texts for the theme in use."""
        if colors is self._colors:
            return
        self._colors = colors
        for card in self.cards:
            card.set_dark(colors.dark)
        self.setStyleSheet(
            f"Card {{ background: {colors.base}; border: 1px solid {colors.line}; border-radius: 6px; }}"
            f"Card:hover, Card:focus {{ border: 2px solid {colors.accent}; }}"
            f"Card QLabel {{ color: {colors.text}; background: transparent; }}"
            f"Card QLabel#detail {{ color: {colors.muted}; }}"
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._fitting() != self._columns:
            self._arrange(self._fitting())

    def minimumSizeHint(self) -> QSize:
        return QSize(self.cards[0].width() if self.cards else 0, super().minimumSizeHint().height())

    def _fitting(self) -> int:
        """The columns that there is room for."""
        width = self.cards[0].width() if self.cards else self.width()
        return max(1, (self.width() + _SPACE) // (width + _SPACE))

    def _arrange(self, columns: int) -> None:
        self._columns = columns
        for number, card in enumerate(self.cards):
            self._grid.addWidget(card, number // columns, number % columns)
