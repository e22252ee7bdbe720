"""How the docks' tables look."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QTableView


def compact_table(model: QAbstractItemModel, name: str, description: str) -> QTableView:
    """A read-only table of whole rows, as high as its font needs; columns as wide as their content, the last one taking
    the rest. `description`: for a screen reader, what the rows are or what can be done with them."""
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
    table.setAccessibleDescription(description)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setAlternatingRowColors(True)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    vertical = table.verticalHeader()
    vertical.hide()
    vertical.setDefaultSectionSize(table.fontMetrics().height() + 6)
    horizontal = table.horizontalHeader()
    horizontal.setHighlightSections(False)

    def fit() -> None:
        table.resizeColumnsToContents()
        horizontal.setStretchLastSection(True)

    model.modelReset.connect(fit)
    model.rowsInserted.connect(fit)
    fit()
    return table
