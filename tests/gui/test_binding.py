"""Guards the Qt binding: PySide6 6.12.0 loses one reference of None per void call, which kills CPython 3.11."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot


def test_void_calls_keep_the_references_of_none(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    before = sys.getrefcount(None)
    for _ in range(10_000):
        widget.setToolTip("x")
    assert abs(sys.getrefcount(None) - before) < 1_000
