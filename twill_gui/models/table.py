"""A read-only table of values: one row a value, one column a function of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from twill_gui.theme import Colors

RowT = TypeVar("RowT")
Index = QModelIndex | QPersistentModelIndex


class Tone(Enum):
    """What a text means; its colour follows from the theme. Never said by colour alone."""

    PLAIN = "plain"
    MUTED = "muted"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"

    def color(self, colors: Colors) -> str:
        """The colour of text of this tone."""
        return {
            Tone.PLAIN: colors.text,
            Tone.MUTED: colors.muted,
            Tone.GOOD: colors.good,
            Tone.WARNING: colors.warning,
            Tone.BAD: colors.error,
        }[self]


@dataclass(frozen=True)  # without slots: Python 3.11 cannot call Column[Row](...) on a slotted frozen class
class Column(Generic[RowT]):
    """A column: its title, its text for a row, and optionally a tone and a tool tip."""

    title: str
    text: Callable[[RowT], str]
    numeric: bool = False
    tone: Callable[[RowT], Tone] | None = None
    tip: Callable[[RowT], str] | None = None


class TableModel(QAbstractTableModel, Generic[RowT]):
    """Rows are replaced as a whole or appended. Without colours, tones are not shown."""

    def __init__(self, columns: Sequence[Column[RowT]], parent: QObject, colors: Colors | None = None) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._colors = colors
        self._rows: list[RowT] = []

    @property
    def rows(self) -> tuple[RowT, ...]:
        """The values shown."""
        return tuple(self._rows)

    def set_colors(self, colors: Colors) -> None:
        """Colours the texts for the theme in use."""
        self.beginResetModel()
        self._colors = colors
        self.endResetModel()

    def set_columns(self, columns: Sequence[Column[RowT]]) -> None:
        """Other columns, and no rows yet."""
        self.beginResetModel()
        self._columns, self._rows = tuple(columns), []
        self.endResetModel()

    def set_rows(self, rows: Sequence[RowT]) -> None:
        """Replaces all rows."""
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def append(self, row: RowT) -> None:
        """Adds a row at the end."""
        self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows))
        self._rows.append(row)
        self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        return self._alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole and column.tone and self._colors:
            return QColor(column.tone(row).color(self._colors))
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip(row) if column.tip else None
        return None

    @staticmethod
    def _alignment(column: Column[RowT]) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if column.numeric else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
