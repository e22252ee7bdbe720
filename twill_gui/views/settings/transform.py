"""What is done to the loop before it is scheduled: fusion, sub-tiles, branches."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from core.ir.subtile import SplitAxis
from core.project.model import Branches, Fuse, Subtile, Transform

_AXES: tuple[tuple[str, SplitAxis | None], ...] = (
    ("whole tiles", None),
    ("parts of rows (m)", "m"),
    ("parts of columns (n)", "n"),
)
_ALL = "all"


class TransformEditor(QWidget):
    """Emits the transform as a whole with every change."""

    changed = Signal(object)  # Transform

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._transform = Transform()
        self.fuse = QCheckBox("Fuse chains of small operations")
        self.fuse.setToolTip("Where a loop has many operations; what is proved holds with them fused")
        self.branches = QCheckBox("Each scf.if as one operation")
        self.branches.setToolTip("It takes what its sides take at most")
        self.axis = QComboBox()
        self.axis.addItems([text for text, _ in _AXES])
        self.axis.setAccessibleName("Sub-tiles")
        self.axis.setToolTip("Along which axis tiles are split, if at all")
        self.parts = QSpinBox()
        self.parts.setRange(2, 16)
        self.parts.setKeyboardTracking(False)
        self.parts.setAccessibleName("Parts of each tile")
        self.parts.setToolTip("Into how many parts each tile is split")
        self.ops = QLineEdit(_ALL)
        self.ops.setAccessibleName("Operations to split")
        self.ops.setToolTip("'all', or the ids of the operations to split, with commas between them")
        row = QHBoxLayout()
        for widget in (QLabel("Tiles:"), self.axis, self.parts):
            row.addWidget(widget)
        row.addStretch(1)
        ops_row = QHBoxLayout()
        ops_row.addWidget(QLabel("of"))
        ops_row.addWidget(self.ops, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for part in (self.fuse, self.branches):
            layout.addWidget(part)
        layout.addLayout(row)
        layout.addLayout(ops_row)
        self.fuse.toggled.connect(self._emit)
        self.branches.toggled.connect(self._emit)
        self.axis.activated.connect(self._emit)
        self.parts.valueChanged.connect(self._emit)
        self.ops.editingFinished.connect(self._emit)
        self.set_transform(self._transform)

    def set_transform(self, transform: Transform) -> None:
        """Shows the transform."""
        self._transform = transform
        subtile = transform.subtile
        blockers = [QSignalBlocker(widget) for widget in (self.fuse, self.branches, self.axis, self.parts, self.ops)]
        self.fuse.setChecked(transform.fuse is Fuse.AUTO)
        self.branches.setChecked(transform.branches is Branches.REDUCE)
        self.axis.setCurrentIndex([axis for _, axis in _AXES].index(subtile.axis if subtile else None))
        self.parts.setValue(subtile.parts if subtile else 2)
        self.ops.setText(_ALL if subtile is None or subtile.ops is None else ", ".join(subtile.ops))
        del blockers
        self.parts.setEnabled(subtile is not None)
        self.ops.setEnabled(subtile is not None)

    def restore(self) -> None:
        """Shows the transform as it is, after a change that was refused."""
        self.set_transform(self._transform)

    def _emit(self) -> None:
        axis = _AXES[self.axis.currentIndex()][1]
        names = tuple(name for word in self.ops.text().split(",") if (name := word.strip()))
        subtile = None
        if axis is not None:
            subtile = Subtile(axis, self.parts.value(), None if names in ((), (_ALL,)) else names)
        transform = Transform(
            Fuse.AUTO if self.fuse.isChecked() else Fuse.OFF,
            subtile,
            Branches.REDUCE if self.branches.isChecked() else Branches.REFUSE,
        )
        if transform != self._transform:
            self.changed.emit(transform)
