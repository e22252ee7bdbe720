"""Asks which of several equal loops of a file to schedule."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QTableView, QVBoxLayout, QWidget

from core.ir.model import Loop
from twill_gui.models.table import Column, TableModel
from twill_gui.views.tables import compact_table

_COLUMNS = (
    Column[Loop]("Loop", lambda loop: str(loop.index), numeric=True),
    Column[Loop]("Line", lambda loop: str(loop.operation.name_span.line), numeric=True),
    Column[Loop]("Depth", lambda loop: str(loop.depth), numeric=True),
    Column[Loop]("Operations", lambda loop: str(len(loop.body.operations)), numeric=True),
    Column[Loop]("Carried values", lambda loop: str(len(loop.arguments)), numeric=True),
)


class LoopDialog(QDialog):
    """A table of the candidates; the first is chosen unless the user takes another."""

    def __init__(self, file: str, loops: Sequence[Loop], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Choose a loop")
        self.resize(520, 320)
        self._loops = tuple(loops)
        text = QLabel(f"{file} has {len(loops)} loops that could be scheduled. Which one?")
        text.setWordWrap(True)
        model = TableModel[Loop](_COLUMNS, self)
        model.set_rows(self._loops)
        self.table = compact_table(model, "Loops", "Enter or a double click opens the marked one")
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.selectRow(0)
        self.table.doubleClicked.connect(self.accept)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(text)
        layout.addWidget(self.table)
        layout.addWidget(buttons)
        self.table.setFocus()

    @property
    def loop(self) -> Loop:
        """The chosen one."""
        return self._loops[self.table.currentIndex().row()]
