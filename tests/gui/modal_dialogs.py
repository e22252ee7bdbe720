"""Answers to dialogs that stop everything else until they are answered, given as a user would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

DialogT = TypeVar("DialogT", bound=QDialog)
_LOOK_MS, _LOOKS = 50, 400


def when_shown(kind: type[DialogT], answer: Callable[[DialogT], object], looks: int = _LOOKS) -> None:
    """Calls `answer` with the dialog of that kind that is about to appear, which takes a busy computer a while."""

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, kind):
            answer(dialog)
        elif looks > 0:
            when_shown(kind, answer, looks - 1)

    QTimer.singleShot(_LOOK_MS, look)


def answer_file_dialog(bot: QtBot, path: Path) -> None:
    """Pastes the path into the file dialog that is about to appear, and presses Enter. What is typed letter by letter
    would be completed in the background, at its own pace."""

    def answer(dialog: QFileDialog) -> None:
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        assert field is not None
        QGuiApplication.clipboard().setText(str(path))
        field.selectAll()
        bot.keyClick(field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        bot.keyClick(field, Qt.Key.Key_Return)

    when_shown(QFileDialog, answer)
