"""A field and a list that narrows down as one types: the command palette, and finding an operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QTableView, QVBoxLayout, QWidget

from twill_gui.models.table import Column, TableModel
from twill_gui.views.tables import compact_table

_WIDTH, _HEIGHT = 680, 380
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True, slots=True)
class Choice:
    """A line: what is looked for first, more about it, its key or place, and what it stands for."""

    text: str
    detail: str
    note: str
    value: Any


_COLUMNS = (
    Column[Choice]("Name", lambda choice: choice.text),
    Column[Choice]("Key", lambda choice: choice.note),
    Column[Choice]("About", lambda choice: choice.detail),
)


def narrowed(choices: Sequence[Choice], query: str) -> list[Choice]:
    """The choices that have every word of the query, best first: at the beginning of the name, in the name, in the
    rest; then those whose name has the query's letters in order."""
    words = query.lower().split()
    if not words:
        return list(choices)
    ranked = [(rank, number, choice) for number, choice in enumerate(choices) if (rank := _rank(choice, words)) < _NONE]
    return [choice for _, _, choice in sorted(ranked, key=lambda entry: entry[:2])]


_NONE = 4


def _rank(choice: Choice, words: Sequence[str]) -> int:
    name, rest = choice.text.lower(), f"{choice.detail} {choice.note}".lower()
    if all(word in name for word in words):
        return 0 if name.startswith(words[0]) else 1
    if all(word in name or word in rest for word in words):
        return 2
    letters = iter(name)
    return 3 if all(letter in letters for letter in "".join(words)) else _NONE


class Chooser(QDialog):
    """Emits `moved_to` for the line that is marked, also while typing, and `chosen` at Enter or a click."""

    moved_to = Signal(object)
    chosen = Signal(object)

    def __init__(self, title: str, hint: str, choices: Sequence[Choice], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(_WIDTH, _HEIGHT)
        self._choices = tuple(choices)
        self.field = QLineEdit()
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(title)
        self.field.installEventFilter(self)
        self._model = TableModel[Choice](_COLUMNS, self)
        self.list = compact_table(self._model, title, "What fits the words in the field")
        self.list.horizontalHeader().hide()
        self.list.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._nothing = QLabel("Nothing has this name")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setEnabled(False)
        layout = QVBoxLayout(self)
        layout.addWidget(self.field)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._nothing, 1)
        self.field.textChanged.connect(self._narrow)
        self.list.clicked.connect(self._choose)
        self.list.selectionModel().currentRowChanged.connect(lambda index: self._move_to(index.row()))
        self._narrow("")

    @property
    def shown(self) -> tuple[Choice, ...]:
        """The lines that the query leaves."""
        return self._model.rows

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The field has the focus; the keys that move go to the list."""
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in _MOVES:
                self._step(Qt.Key(event.key()))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose()
                return True
        return super().eventFilter(watched, event)

    def _step(self, key: Qt.Key) -> None:
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}[key]
        rows = len(self._model.rows)
        if rows:
            self.list.selectRow(min(max(self.list.currentIndex().row() + by, 0), rows - 1))

    def _narrow(self, query: str) -> None:
        found = narrowed(self._choices, query)
        self._model.set_rows(found)
        self.list.setVisible(bool(found))
        self._nothing.setVisible(not found)
        if found:
            self.list.selectRow(0)

    def _move_to(self, row: int) -> None:
        if 0 <= row < len(self._model.rows) and self.field.text():
            self.moved_to.emit(self._model.rows[row].value)

    def _choose(self) -> None:
        row = self.list.currentIndex().row()
        if 0 <= row < len(self._model.rows):
            value = self._model.rows[row].value
            self.accept()
            self.chosen.emit(value)
