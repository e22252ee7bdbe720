"""The kinds of warp groups as a small table that can be edited."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
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
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(4)
        self._grid.setColumnStretch(0, 1)
        self.add_button = QPushButton("Add a kind")
        self.add_button.clicked.connect(self._add)
        row = QHBoxLayout()
        row.addWidget(self.add_button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._grid)
        layout.addLayout(row)

    def set_groups(self, groups: Sequence[GroupKind]) -> None:
        """Shows the kinds; nothing moves if they are the same."""
        if tuple(groups) != self._groups or self._grid.count() == 0:
            self._groups = tuple(groups)
            self._fill()

    def restore(self) -> None:
        """Shows the kinds as they are, after a change that was refused."""
        self._fill()

    def _fill(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for column, head in enumerate(_HEADS):
            self._grid.addWidget(QLabel(head), 0, column)
        for number, group in enumerate(self._groups):
            self._add_row(number, group)

    def _add_row(self, number: int, group: GroupKind) -> None:
        kind = QLineEdit(group.kind)
        kind.setMinimumWidth(60)
        warps = QComboBox()
        warps.addItems([str(count) for count in sorted({*_WARPS, group.warps})])
        warps.setCurrentText(str(group.warps))
        count = QSpinBox()
        count.setRange(1, _MOST_GROUPS)
        count.setValue(group.count)
        count.setKeyboardTracking(False)
        variable = QCheckBox()
        variable.setChecked(group.variable_latency)
        variable.setToolTip("For operations of variable latency (loads), and for them alone")
        gone = QToolButton()
        gone.setText("\N{MULTIPLICATION SIGN}")
        gone.setToolTip(f"Remove {group.kind}")
        gone.setEnabled(len(self._groups) > 1)
        names = ("Kind", "Warps of", "Count of", "Variable latency of", "Remove")
        for column, (widget, name) in enumerate(zip((kind, warps, count, variable, gone), names, strict=True)):
            widget.setAccessibleName(f"{name} {group.kind}")
            self._grid.addWidget(widget, number + 1, column, Qt.AlignmentFlag.AlignVCenter)

        def read() -> GroupKind:
            return GroupKind(
                kind.text().strip() or group.kind, int(warps.currentText()), count.value(), variable.isChecked()
            )

        kind.editingFinished.connect(lambda: self._set(number, read()))
        warps.activated.connect(lambda: self._set(number, read()))
        count.valueChanged.connect(lambda: self._set(number, read()))
        variable.toggled.connect(lambda: self._set(number, read()))
        gone.clicked.connect(lambda: self._emit((*self._groups[:number], *self._groups[number + 1 :])))

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
