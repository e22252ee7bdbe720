"""Messages that do not interrupt: a stack of bars above the chart, each with its buttons, closed by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from core.diagnostics import Severity
from twill_gui.icons import icon
from twill_gui.theme import Colors

MAX_MESSAGES = 4
_ICONS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "info"}


@dataclass(frozen=True, slots=True)
class Message:
    """What a bar says. A message replaces an earlier one of the same `topic`; a button closes its bar when pressed."""

    topic: str
    severity: Severity
    text: str
    buttons: tuple[tuple[str, Callable[[], None]], ...] = ()


class MessageBar(QWidget):
    """The stack of messages, the newest on top; hidden while there is none."""

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Messages")
        self._colors = colors
        self._rows: list[_Row] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self.hide()

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is shown, the newest first."""
        return tuple(row.message for row in self._rows)

    def show_message(self, message: Message) -> None:
        """Shows a message on top; the oldest one gives way when there are too many."""
        self.close_topic(message.topic)
        row = _Row(message, self._colors, self)
        row.close_button.clicked.connect(lambda: self._remove(row))
        for button, (_, action) in zip(row.action_buttons, message.buttons, strict=True):
            button.clicked.connect(lambda _=False, action=action: self._press(row, action))
        self._rows.insert(0, row)
        self._layout.insertWidget(0, row)
        for old in self._rows[MAX_MESSAGES:]:
            self._remove(old)
        self.show()

    def close_topic(self, topic: str) -> None:
        """Removes the message of a topic, if it is there."""
        for row in [row for row in self._rows if row.message.topic == topic]:
            self._remove(row)

    def set_colors(self, colors: Colors) -> None:
        """Redraws the messages for the theme in use."""
        self._colors = colors
        for row in self._rows:
            row.set_colors(colors)

    def _press(self, row: _Row, action: Callable[[], None]) -> None:
        self._remove(row)
        action()

    def _remove(self, row: _Row) -> None:
        self._rows.remove(row)
        self._layout.removeWidget(row)
        row.hide()
        row.deleteLater()
        self.setVisible(bool(self._rows))


class _Row(QFrame):
    """One message: icon, text, its buttons, and the cross that closes it."""

    def __init__(self, message: Message, colors: Colors, parent: QWidget) -> None:
        super().__init__(parent)
        self.message = message
        self._icon = QLabel()
        self._text = QLabel(message.text)
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.action_buttons = [QPushButton(label) for label, _ in message.buttons]
        self.close_button = QToolButton()
        self.close_button.setAutoRaise(True)
        self.close_button.setAccessibleName("Close this message")
        self.close_button.setToolTip("Close this message")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(10, 6, 6, 6)
        layout.setSpacing(8)
        layout.addWidget(self._icon)
        layout.addWidget(self._text, 1)
        for button in self.action_buttons:
            layout.addWidget(button)
        layout.addWidget(self.close_button)
        self.set_colors(colors)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setMinimumHeight(self.heightForWidth(self.width()))  # a layout would rather cut wrapped text

    def set_colors(self, colors: Colors) -> None:
        tint = {
            Severity.ERROR: colors.error,
            Severity.WARNING: colors.warning,
            Severity.NOTE: colors.link,
        }[self.message.severity]
        self._icon.setPixmap(icon(_ICONS[self.message.severity], colors, tint).pixmap(QSize(20, 20)))
        self.close_button.setIcon(icon("close", colors))
        self.setStyleSheet(
            f"_Row {{ background: {colors.panel}; border: 0; border-left: 3px solid {tint};"
            f" border-bottom: 1px solid {colors.line}; }}"
        )
