"""A two-column tree of sections, as the Project and Inspector docks show their facts."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from twill_gui.models.sections import Detail, Section
from twill_gui.theme import Colors

_LEAST_COLUMN = 40


class DetailRole(IntEnum):
    """What activating a line asks for."""

    TARGET = Qt.ItemDataRole.UserRole


class DetailTree(QTreeWidget):
    """Shows sections; keeps which of them the user has closed. A line with a target looks like a link."""

    activated_target = Signal(object)

    def __init__(self, name: str, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = colors
        self._sections: tuple[Section, ...] = ()
        self._closed: set[str] = set()
        self.setAccessibleName(name)
        self.setAccessibleDescription("Names and values; Enter or a click on an underlined name leads to what it names")
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setIndentation(12)
        self.setUniformRowHeights(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.header().setStretchLastSection(True)
        self.header().setMinimumSectionSize(_LEAST_COLUMN)
        self.setHorizontalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )  # texts are cut with an ellipsis instead
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.itemActivated.connect(self._activate)
        self.itemClicked.connect(self._activate)
        self.itemCollapsed.connect(lambda item: self._closed.add(item.text(0)))
        self.itemExpanded.connect(lambda item: self._closed.discard(item.text(0)))

    def set_sections(self, sections: Sequence[Section]) -> None:
        """Replaces the content; nothing moves if it is the same."""
        if tuple(sections) == self._sections:
            return
        self._sections = tuple(sections)
        self._fill()

    def set_colors(self, colors: Colors) -> None:
        """Colours the lines for the theme in use."""
        self._colors = colors
        self._fill()

    def _fill(self) -> None:
        place = self.verticalScrollBar().value()
        self.blockSignals(True)
        self.clear()
        for section in self._sections:
            heading = QTreeWidgetItem(self, [section.title])
            font = heading.font(0)
            font.setBold(True)
            heading.setFont(0, font)
            heading.setToolTip(0, section.title)
            heading.setFirstColumnSpanned(True)
            heading.setBackground(0, QColor(self._colors.alternate))
            for detail in section.details:
                self._add(heading, detail)
            heading.setExpanded(section.title not in self._closed)
        self.blockSignals(False)
        self.verticalScrollBar().setValue(place)

    def _add(self, parent: QTreeWidgetItem, detail: Detail) -> None:
        item = QTreeWidgetItem(parent, [detail.name, detail.value])
        item.setData(0, DetailRole.TARGET, detail.target)
        item.setForeground(0, QBrush(QColor(self._colors.link if detail.target is not None else self._colors.muted)))
        item.setForeground(1, QBrush(QColor(detail.tone.color(self._colors))))
        if detail.target is not None:  # a link is not told by its colour alone
            font = item.font(0)
            font.setUnderline(True)
            item.setFont(0, font)
        for column in (0, 1):
            item.setToolTip(column, detail.tip or f"{detail.name}: {detail.value}")
            if detail.strong:
                font = item.font(column)
                font.setBold(True)
                item.setFont(column, font)
        if not detail.value:
            item.setFirstColumnSpanned(True)

    def _activate(self, item: QTreeWidgetItem) -> None:
        target = item.data(0, DetailRole.TARGET)
        if target is not None:
            self.activated_target.emit(target)
