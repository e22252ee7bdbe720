"""The kinds of warp groups as a small table that can be edited."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.graph.model import GroupKind

_WARPS = (1, 2, 4, 8)
_MOST_GROUPS = 16
_HEADS = ("Kind", "Warps", "Count", "Loads")


class GroupsEditor(QWidget):
    """A row for each kind of group: name, warps, how many, and whether it is for operations of variable latency."""

    changed = Signal(object)  # tuple[GroupKind, ...]

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._groups: tuple[GroupKind, ...] = ()
        self._rows: list[_Row] = []
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(4)
        self._grid.setColumnStretch(0, 1)
        for column, head in enumerate(_HEADS):
            self._grid.addWidget(QLabel(head), 0, column)
        self.add_button = QPushButton("Add a kind")
        self.add_button.setToolTip("One more kind of warp group")
        self.add_button.clicked.connect(self._add)
        row = QHBoxLayout()
        row.addWidget(self.add_button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._grid)
        layout.addLayout(row)

    def set_groups(self, groups: Sequence[GroupKind]) -> None:
        """Shows the kinds. Rows stay, so that a field keeps the focus while its number grows."""
        self._groups = tuple(groups)
        while len(self._rows) > len(groups):
            self._rows.pop().remove()
        while len(self._rows) < len(groups):
            self._rows.append(self._new_row(len(self._rows)))
        for row, group in zip(self._rows, groups, strict=True):
            row.show(group, removable=len(groups) > 1)

    def restore(self) -> None:
        """Shows the kinds as they are, after a change that was refused."""
        self.set_groups(self._groups)

    def _new_row(self, number: int) -> _Row:
        row = _Row(self._grid, number + 1)
        row.changed.connect(lambda group: self._set(number, group))
        row.removed.connect(lambda: self._emit((*self._groups[:number], *self._groups[number + 1 :])))
        return row

    def _add(self) -> None:
        taken = {group.kind for group in self._groups}
        name = next(
            name for n in range(1, len(taken) + 2) if (name := "compute" if n == 1 else f"group{n}") not in taken
        )
        self._emit((*self._groups, GroupKind(name, 4, 1)))

    def _set(self, number: int, group: GroupKind) -> None:
        if number < len(self._groups):
            self._emit((*self._groups[:number], group, *self._groups[number + 1 :]))

    def _emit(self, groups: tuple[GroupKind, ...]) -> None:
        if groups == self._groups:
            return
        if len({group.kind for group in groups}) < len(groups):
            self.restore()  # a name that is taken
            return
        self.changed.emit(groups)


class _Row(QObject):
    """The fields of one kind, in a row of the grid."""

    changed = Signal(object)  # GroupKind
    removed = Signal()

    def __init__(self, grid: QGridLayout, line: int) -> None:
        super().__init__(grid)
        self._group = GroupKind("")
        self._kind = QLineEdit()
        self._kind.setMinimumWidth(60)
        self._kind.setToolTip("Its name; groups are called by it and a number")
        self._warps = QComboBox()
        self._warps.setToolTip("Warps of each group of this kind")
        self._count = QSpinBox()
        self._count.setToolTip("How many groups of this kind a schedule may use")
        self._count.setRange(1, _MOST_GROUPS)
        self._count.setKeyboardTracking(False)
        self._variable = QCheckBox()
        self._variable.setToolTip("For operations of variable latency (loads), and for them alone")
        self._gone = QToolButton()
        self._gone.setText("\N{MULTIPLICATION SIGN}")
        self._widgets = (self._kind, self._warps, self._count, self._variable, self._gone)
        for column, widget in enumerate(self._widgets):
            grid.addWidget(widget, line, column, Qt.AlignmentFlag.AlignVCenter)
        self._kind.editingFinished.connect(self._emit)
        self._warps.activated.connect(self._emit)
        self._count.valueChanged.connect(self._emit)
        self._variable.toggled.connect(self._emit)
        self._gone.clicked.connect(self.removed)

    def show(self, group: GroupKind, *, removable: bool) -> None:
        """Shows a kind."""
        self._group = group
        blockers = [QSignalBlocker(widget) for widget in self._widgets]
        if self._kind.text() != group.kind:
            self._kind.setText(group.kind)
        self._warps.clear()
        self._warps.addItems([str(count) for count in sorted({*_WARPS, group.warps})])
        self._warps.setCurrentText(str(group.warps))
        self._count.setValue(group.count)
        self._variable.setChecked(group.variable_latency)
        del blockers
        self._gone.setToolTip(f"Remove {group.kind}")
        self._gone.setEnabled(removable)
        names = ("Kind", "Warps of", "Count of", "Variable latency of", "Remove")
        for widget, name in zip(self._widgets, names, strict=True):
            widget.setAccessibleName(f"{name} {group.kind}")

    def remove(self) -> None:
        """Takes the fields away."""
        for widget in self._widgets:
            widget.hide()
            widget.deleteLater()
        self.deleteLater()

    def _emit(self) -> None:
        kind, warps = self._kind.text().strip() or self._group.kind, int(self._warps.currentText())
        self.changed.emit(GroupKind(kind, warps, self._count.value(), self._variable.isChecked()))
