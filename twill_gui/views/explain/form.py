"""The question to Explain: what is asked, and the fields that it takes."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QSizePolicy, QSpinBox, QVBoxLayout, QWidget

from core.graph.model import Graph
from core.schedule.model import Schedule
from twill_gui.models.asking import Asked

_MOST = 9_999_999  # cycles; no schedule is longer
_II_WIDTH = 84
_ANYWHERE = "any group"


class Topic(Enum):
    """What can be asked, in the user's words."""

    INTERVAL = "Why is this II impossible?"
    PLACE = "Why can an op not be there?"
    REGISTERS = "Why not with so few registers?"
    GROUPS = "Why not with so many groups?"


class AskForm(QWidget):
    """`asked` is what the fields say; `submitted`: the user has pressed Enter in one of them. `last_row` has room for
    buttons."""

    submitted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._schedule: Schedule | None = None
        self.topic = self._combo("Question", [topic.value for topic in Topic])
        self.ii = _spin("Initiation interval in cycles", 1, _MOST)
        self.ii.setMaximumWidth(_II_WIDTH)
        self.op = self._combo("Operation")
        self.group = self._combo("Warp group")
        self.start = _spin("Cycle at which the operation starts", -1, _MOST)
        self.start.setSpecialValueText("any cycle")
        self.registers = _spin("Registers per thread, at most", 1, 1024)
        self.kind = self._combo("Kind of warp group")
        self.count = _spin("Number of groups of that kind", 0, 64)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.topic)
        self.sensitivity = QCheckBox("and which costs it depends on")
        self.sensitivity.setToolTip("Say too how far each cost may change before the least II does; takes longer")
        self._rows = {
            Topic.INTERVAL: (self.sensitivity,),
            Topic.PLACE: (_row(("&Op", self.op)), _row(("o&n", self.group), ("&at", self.start))),
            Topic.REGISTERS: (_row(("at &most", self.registers)),),
            Topic.GROUPS: (_row(("&kind", self.kind), ("&count", self.count)),),
        }
        for rows in self._rows.values():
            for row in rows:
                layout.addWidget(row)
        self.last_row = QHBoxLayout()  # what is asked about comes first, then the buttons
        self.last_row.setSpacing(4)
        label = QLabel("&II")
        label.setBuddy(self.ii)
        self.last_row.addWidget(label)
        self.last_row.addWidget(self.ii)
        layout.addLayout(self.last_row)
        self.topic.currentIndexChanged.connect(self._show_fields)
        for spin in (self.ii, self.start, self.registers, self.count):
            spin.lineEdit().returnPressed.connect(self.submitted)
        self._show_fields()

    def set_context(self, graph: Graph | None, schedule: Schedule | None) -> None:
        """The ops, groups and limits to choose from; what is chosen stays if it can."""
        self._schedule = schedule
        groups = [_ANYWHERE, *(schedule.groups if schedule else ())]
        _refill(self.op, list(graph.ops) if graph else [])
        _refill(self.group, groups)
        _refill(self.kind, [kind.kind for kind in graph.groups] if graph else [])

    @property
    def asked(self) -> Asked:
        """The question as the fields say it."""
        ii, topic = self.ii.value(), self._topic
        if topic is Topic.PLACE:
            group = None if self.group.currentIndex() <= 0 else self.group.currentText()
            start = None if self.start.value() < 0 else self.start.value()
            return Asked(ii, self.op.currentText(), group, start)
        if topic is Topic.REGISTERS:
            return Asked(ii, registers=self.registers.value())
        if topic is Topic.GROUPS:
            return Asked(ii, groups=((self.kind.currentText(), self.count.value()),))
        return Asked(ii, sensitivity=self.sensitivity.isChecked())

    def set_asked(self, asked: Asked) -> None:
        """Puts a question into the fields."""
        self.ii.setValue(asked.ii)
        topic = Topic.INTERVAL
        if asked.op is not None:
            topic = Topic.PLACE
            self.op.setCurrentText(asked.op)
            self.group.setCurrentText(asked.group or _ANYWHERE)
            self.start.setValue(-1 if asked.start is None else asked.start)
        elif asked.registers is not None:
            topic = Topic.REGISTERS
            self.registers.setValue(asked.registers)
        elif asked.groups:
            topic = Topic.GROUPS
            self.kind.setCurrentText(asked.groups[0][0])
            self.count.setValue(asked.groups[0][1])
        else:
            self.sensitivity.setChecked(asked.sensitivity)
        self.topic.setCurrentIndex(list(Topic).index(topic))

    @property
    def _topic(self) -> Topic:
        return list(Topic)[self.topic.currentIndex()]

    def _show_fields(self) -> None:
        for topic, rows in self._rows.items():
            for row in rows:
                row.setVisible(topic is self._topic)

    def _combo(self, name: str, items: list[str] | None = None) -> QComboBox:
        combo = QComboBox()
        combo.setAccessibleName(name)
        combo.setToolTip(name)
        combo.addItems(items or [])
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(8)
        combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        return combo


def _row(*fields: tuple[str, QWidget]) -> QWidget:
    """Fields side by side, each behind its label."""
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4)
    for text, field in fields:
        label = QLabel(text)
        label.setBuddy(field)
        layout.addWidget(label)
        layout.addWidget(field, 1)
    return row


def _spin(name: str, least: int, most: int) -> QSpinBox:
    spin = QSpinBox()
    spin.setAccessibleName(name)
    spin.setToolTip(name)
    spin.setRange(least, most)
    return spin


def _refill(combo: QComboBox, items: list[str]) -> None:
    """Nothing moves if the items are the same."""
    if items == [combo.itemText(row) for row in range(combo.count())]:
        return
    chosen = combo.currentText()
    combo.clear()
    combo.addItems(items)
    combo.setCurrentIndex(max(combo.findText(chosen), 0))
