"""How the docks' tables look."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView


def compact_table(model: QAbstractItemModel, name: str) -> QTableView:
    """A read-only table of whole rows, as high as its font needs, its last column taking the rest of the width."""
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
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
    horizontal.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    horizontal.setStretchLastSection(True)
    horizontal.setHighlightSections(False)
    return table
