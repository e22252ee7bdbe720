"""What can be chosen of a CUDA kernel before it is written, and the operations it leaves to be written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from core.schedule.wording import counted
from twill_gui.export_formats import Gap

_CASE_FILTER = "Cases (*.yaml *.yml *.json);;All files (*)"
_SHOWN_HOLES = 4


class KernelOptions(QWidget):
    """The options of `twill export --format cuda` with their words, and the list of holes."""

    changed = Signal()
    gap_chosen = Signal(int)  # a line of the kernel's text

    def __init__(self) -> None:
        super().__init__()
        self.persistent_box = QCheckBox("&Persistent: as many blocks as the GPU runs at once, each one program by one")
        self.longest_box = QCheckBox("L&ongest first: programs of large x run first, as a causal mask wants it")
        self.assembly_box = QCheckBox("Pass the text's &inline assembly on: it can do anything")
        self.case_field = QLineEdit()
        self.case_field.setPlaceholderText("none")
        self.case_field.setAccessibleDescription("A call of the kernel for the test program, a twill.case/1 file")
        self.holes = _Holes()
        self.holes.setAccessibleName("Holes")
        self.holes.setAccessibleDescription("Operations without text, whose functions are to be written by hand")
        self.holes_label = QLabel()
        self._build()
        for box in (self.persistent_box, self.longest_box, self.assembly_box):
            box.toggled.connect(self.changed)
        self.holes.itemActivated.connect(self._choose)
        self.holes.itemClicked.connect(self._choose)
        self.show_gaps(None)

    @property
    def case(self) -> Path | None:
        """The file with a call of the kernel, if one is wanted."""
        text = self.case_field.text().strip()
        return Path(text).expanduser() if text else None

    def show_gaps(self, gaps: Sequence[Gap] | None) -> None:
        """The holes of the kernel that is previewed; None: there is no kernel."""
        self.holes.clear()
        self.holes_label.setVisible(gaps is not None)
        for gap in gaps or ():
            item = QListWidgetItem(f"line {gap.ir_line} of the IR, {gap.op}: {gap.reason}")
            item.setData(Qt.ItemDataRole.UserRole, gap.text_line)
            self.holes.addItem(item)
        count = len(gaps or ())
        self.holes_label.setText(
            f"{counted(count, '&hole')}: to be written by hand, the rest is whole"
            if gaps
            else "\N{CHECK MARK} No holes: every operation has its text"
        )
        self.holes.setVisible(bool(gaps))
        row = self.holes.sizeHintForRow(0) if gaps else 0
        self.holes.setFixedHeight(min(count, _SHOWN_HOLES) * row + 2 * self.holes.frameWidth())

    def _build(self) -> None:
        browse = QPushButton("B&rowse\N{HORIZONTAL ELLIPSIS}")
        browse.setAutoDefault(False)
        browse.setAccessibleName("Browse for a case")
        browse.clicked.connect(self._browse)
        label = QLabel("C&ase for the test program")
        label.setBuddy(self.case_field)
        row = QHBoxLayout()
        for widget in (label, self.case_field, browse):
            row.addWidget(widget)
        self.holes_label.setBuddy(self.holes)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget in (self.holes_label, self.holes, self.persistent_box, self.longest_box, self.assembly_box):
            layout.addWidget(widget)
        layout.addLayout(row)

    def _choose(self, item: QListWidgetItem) -> None:
        self.gap_chosen.emit(item.data(Qt.ItemDataRole.UserRole))

    def _browse(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Case", self.case_field.text(), _CASE_FILTER)
        if name:
            self.case_field.setText(name)


class _Holes(QListWidget):
    """Enter goes to the text of a hole, and no further: it would export."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
