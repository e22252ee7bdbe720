"""Every key that the design of the window names is there, and means one thing; the list of keys has them all."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QTableView, QWidget
from pytestqt.qtbot import QtBot

from twill_gui.action_table import ACTIONS
from twill_gui.dialogs.keys import KeysDialog

KEYS = {
    "W": "zoom_in",
    "S": "zoom_out",
    "A": "pan_left",
    "D": "pan_right",
    "Home": "fit",
    "F": "center",
    ".": "next",
    ",": "previous",
    "[": "predecessor",
    "]": "successor",
    "Alt+Left": "nudge_left",
    "Alt+Right": "nudge_right",
    "Alt+Shift+Left": "nudge_left_far",
    "Alt+Shift+Right": "nudge_right_far",
    "Alt+Up": "group_up",
    "Alt+Down": "group_down",
    "P": "pin",
    "U": "unrolled",
    "E": "explain_op",
    "Esc": "clear",
    "Ctrl+R": "solve",
    "Ctrl+.": "cancel",
    "Ctrl+E": "why_not_ii",
    "Ctrl+F": "find",
    "Ctrl+Shift+P": "palette",
    "Ctrl+Z": "undo",
    "Ctrl+Shift+Z": "redo",
    "?": "keys",
}


@pytest.mark.parametrize("key", KEYS)
def test_the_key_is_of_its_action_alone(key: str) -> None:
    assert [spec.name for spec in ACTIONS if key in spec.keys] == [KEYS[key]]


def test_the_list_has_every_key(bot: QtBot) -> None:
    owner = QWidget()
    bot.addWidget(owner)
    table = KeysDialog(owner).findChild(QTableView)
    assert table is not None
    model = table.model()
    texts = {
        str(model.index(row, column).data()) for row in range(model.rowCount()) for column in range(model.columnCount())
    }
    for spec in ACTIONS:
        assert all(any(key in text.split(", ") for text in texts) for key in spec.keys), spec.name
