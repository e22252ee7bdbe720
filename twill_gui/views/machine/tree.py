"""The entries of a machine file as a tree whose numbers can be typed over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QDoubleValidator
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QTreeWidgetItemIterator,
    QWidget,
)

from core.yaml_source import KeyPath
from twill_gui.models.machine_entries import Entry, all_entries, number_text
from twill_gui.theme import Colors

NAME, VALUE = 0, 1
_VALUE_DIGITS = 12  # as wide is the column of values
_PATH, _ENTRY = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class MachineTree(QTreeWidget):
    """Names and values; the tool tip says the line and the source. Enter, F2 or a double click edits a number."""

    number_requested = Signal(object, object)  # KeyPath, int or float as it was written

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = colors
        self._entries: tuple[Entry, ...] = ()
        self._open: set[KeyPath] = set()
        self._filter = ""
        self.setAccessibleName("Machine")
        self.setAccessibleDescription("Numbers of the machine file; F2 changes the one under the cursor")
        self.setHeaderLabels(["Key", "Value"])
        self.setIndentation(14)
        self.setUniformRowHeights(True)
        self.setItemDelegate(_NumberDelegate(self))
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.header().setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Interactive)
        self.header().resizeSection(VALUE, self.fontMetrics().horizontalAdvance("0") * _VALUE_DIGITS)
        self.header().setStretchLastSection(False)
        self.itemChanged.connect(self._on_item_changed)
        self.itemActivated.connect(self._on_activated)
        self.itemExpanded.connect(lambda item: self._open.add(item.data(NAME, _PATH)))
        self.itemCollapsed.connect(lambda item: self._open.discard(item.data(NAME, _PATH)))

    def set_entries(self, entries: tuple[Entry, ...]) -> None:
        """Shows a file; what was open stays open, and the cursor stays on its key."""
        before, self._entries = self._entries, entries
        if _keys(before) == _keys(entries):
            self._write_values()
        else:
            self._fill()

    def restore(self) -> None:
        """Shows the numbers as they are, after a change that was refused."""
        self._fill()

    def set_filter(self, text: str) -> None:
        """Shows the keys whose path has the text in it, and what is around them."""
        self._filter = text.strip().lower()
        for item in self._top_items():
            self._apply_filter(item, False)

    def set_colors(self, colors: Colors) -> None:
        """Colours the texts for the theme in use."""
        self._colors = colors
        self._fill()

    def reveal_line(self, line: int) -> None:
        """Opens the entry that begins at a line of the file and moves the cursor to it."""
        for item in self._items():
            entry: Entry = item.data(NAME, _ENTRY)
            if entry.line == line and len(entry.path) == 2:
                item.setExpanded(True)
                self.setCurrentItem(item)
                self.scrollToItem(item, QAbstractItemView.ScrollHint.PositionAtTop)
                return

    def item_of(self, path: Sequence[object]) -> QTreeWidgetItem | None:
        """The item of a key path."""
        return next((item for item in self._items() if item.data(NAME, _PATH) == tuple(path)), None)

    def _fill(self) -> None:
        current = self.currentItem()
        path = current.data(NAME, _PATH) if current else None
        place = self.verticalScrollBar().value()
        self.blockSignals(True)
        self.clear()
        for entry in self._entries:
            self._add(self.invisibleRootItem(), entry)
        for item in self._items():
            item.setExpanded(item.data(NAME, _PATH) in self._open)
        self.set_filter(self._filter)
        found = self.item_of(path) if path is not None else None
        if found is not None:
            self.setCurrentItem(found, VALUE)
        self.blockSignals(False)
        self.verticalScrollBar().setValue(place)

    def _write_values(self) -> None:
        """The file has the same keys as before: only what has changed is written, most often one number, and what was
        typed and is not in the file."""
        self.blockSignals(True)
        for item, entry in zip(self._items(), all_entries(self._entries), strict=True):
            if item.data(NAME, _ENTRY) != entry or item.text(VALUE) != _text(entry):
                self._write(item, entry)
        self.blockSignals(False)

    def _write(self, item: QTreeWidgetItem, entry: Entry) -> None:
        item.setText(VALUE, _text(entry))
        item.setData(NAME, _ENTRY, entry)
        tip = "\n".join(filter(None, (entry.name, entry.text, f"line {entry.line}", entry.source)))
        for column in (NAME, VALUE):
            item.setToolTip(column, tip)

    def _add(self, parent: QTreeWidgetItem, entry: Entry) -> None:
        item = QTreeWidgetItem(parent, [entry.name])
        item.setData(NAME, _PATH, entry.path)
        self._write(item, entry)
        item.setTextAlignment(VALUE, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if entry.number is not None:
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            item.setForeground(VALUE, QBrush(QColor(self._colors.link)))
        else:
            item.setForeground(VALUE, QBrush(QColor(self._colors.muted)))
        for child in entry.children:
            self._add(item, child)

    def _on_activated(self, item: QTreeWidgetItem) -> None:
        if item.flags() & Qt.ItemFlag.ItemIsEditable and self.state() != QAbstractItemView.State.EditingState:
            self.editItem(item, VALUE)

    def _on_item_changed(self, item: QTreeWidgetItem, column: int) -> None:
        entry: Entry = item.data(NAME, _ENTRY)
        if column != VALUE or entry.number is None:
            return
        written = item.text(VALUE).strip()
        try:
            number = int(written) if written.lstrip("+-").isdecimal() else float(written)
        except ValueError:
            self.restore()
            return
        if number != entry.number:
            self.number_requested.emit(entry.path, number)
        else:
            self._write_values()  # the same, written in another way

    def _apply_filter(self, item: QTreeWidgetItem, above: bool) -> bool:
        """Whether the item is shown: something of it, above or below it matches."""
        own = above or self._filter in item.text(NAME).lower()
        shown = own
        for child in (item.child(number) for number in range(item.childCount())):
            if child is not None:
                shown |= self._apply_filter(child, own)
        item.setHidden(bool(self._filter) and not shown)
        if self._filter and shown and not own:
            item.setExpanded(True)
        return shown

    def _items(self) -> Iterator[QTreeWidgetItem]:
        iterator = QTreeWidgetItemIterator(self)
        while (item := iterator.value()) is not None:
            yield item
            iterator += 1

    def _top_items(self) -> Iterator[QTreeWidgetItem]:
        return (item for n in range(self.topLevelItemCount()) if (item := self.topLevelItem(n)) is not None)


def _text(entry: Entry) -> str:
    return entry.text if entry.number is None else number_text(entry.number)


def _keys(entries: tuple[Entry, ...]) -> list[tuple[KeyPath, str, bool]]:
    """What an item of each entry is made for: its key, its name, and whether it can be changed."""
    return [(entry.path, entry.name, entry.number is None) for entry in all_entries(entries)]


class _NumberDelegate(QStyledItemDelegate):
    """Edits values only, as numbers."""

    def createEditor(  # type: ignore[override] - without a value for other columns, which Qt takes as "no editor"
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget | None:
        if index.column() != VALUE:
            return None
        editor = QLineEdit(parent)
        editor.setAlignment(Qt.AlignmentFlag.AlignRight)
        validator = QDoubleValidator(editor)
        validator.setLocale(validator.locale().c())
        editor.setValidator(validator)
        editor.setMinimumWidth(90)
        return editor
