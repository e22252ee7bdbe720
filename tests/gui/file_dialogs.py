"""Answers to file dialogs, given as a user would."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot


def answer_file_dialog(bot: QtBot, path: Path) -> None:
    """Types the path into the file dialog that is about to appear, and presses Enter."""

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        assert field is not None
        field.clear()
        bot.keyClicks(field, str(path))
        bot.keyClick(field, Qt.Key.Key_Return)

    QTimer.singleShot(200, answer)
