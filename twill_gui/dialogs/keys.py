"""The list of all keys, made from the table of actions."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from twill_gui.action_table import ACTIONS, ActionSpec
from twill_gui.actions import key_text
from twill_gui.models.table import Column, TableModel
from twill_gui.views.tables import compact_table

_COLUMNS = (
    Column[ActionSpec]("Menu", lambda spec: spec.menu.value.replace("&", "")),
    Column[ActionSpec]("Action", lambda spec: spec.text.replace("&", "").rstrip("\N{HORIZONTAL ELLIPSIS}")),
    Column[ActionSpec]("Keys", key_text),
    Column[ActionSpec]("What it does", lambda spec: spec.tip),
)


class KeysDialog(QDialog):
    """Every action that has a key."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("All keys")
        self.resize(940, 680)
        model = TableModel[ActionSpec](_COLUMNS, self)
        model.set_rows([spec for spec in ACTIONS if spec.keys])
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(compact_table(model, "All keys", "Each with its menu and what it does"))
        layout.addWidget(buttons)
