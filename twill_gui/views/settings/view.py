"""The Settings dock: which loop, groups and rules, what is done to the loop before, and how long to solve."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from core.graph.model import InOrderIssue, Rules
from core.ir.loops import obstacle
from core.project.model import InputKind
from twill_gui.document.document import Document
from twill_gui.document.state import Change, ProjectState
from twill_gui.theme import Colors
from twill_gui.views.settings.groups import GroupsEditor
from twill_gui.views.settings.transform import TransformEditor

_ISSUE = (
    (InOrderIssue.STRONG, "one operation at a time"),
    (InOrderIssue.WEAK, "in order around waits only"),
    (InOrderIssue.OFF, "not considered"),
)
_LONGEST_S = 24 * 3600


class SettingsView(QScrollArea):
    """A form over the project. Emits what the user asks for; what was refused is said with `show_fault`."""

    loop_requested = Signal(int)
    groups_requested = Signal(object)  # tuple[GroupKind, ...]
    rules_requested = Signal(object)  # Rules
    transform_requested = Signal(object)  # Transform
    limit_requested = Signal(float)
    solve_requested = Signal()

    def __init__(self, document: Document, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._active: str | None = None
        self._colors = colors
        self.loop = QComboBox()
        self.loop.setAccessibleName("Loop")
        self.loop.setToolTip("The loop of the text that is shown and scheduled")
        self.loop.activated.connect(lambda: self.loop_requested.emit(self.loop.currentData()))
        self.groups = GroupsEditor()
        self.groups.changed.connect(self.groups_requested)
        self.issue = QComboBox()
        self.issue.addItems([text for _, text in _ISSUE])
        self.issue.setAccessibleName("Issue of a group")
        self.issue.setToolTip("Whether operations of a warp group may be issued at the same time")
        self.issue.activated.connect(self._emit_rules)
        self.isolate = QCheckBox("Matrix operations on groups of their own")
        self.isolate.setToolTip("A warp group runs matrix operations or other work, not both")
        self.isolate.toggled.connect(self._emit_rules)
        self.hand_off = QCheckBox("Values may go from group to group")
        self.hand_off.setToolTip("Through shared memory, at the cost that the machine file gives")
        self.hand_off.toggled.connect(self._emit_rules)
        self.transform = TransformEditor()
        self.transform.changed.connect(self.transform_requested)
        self.limit = QSpinBox()
        self.limit.setRange(1, _LONGEST_S)
        self.limit.setSuffix(" s")
        self.limit.setKeyboardTracking(False)
        self.limit.setAccessibleName("Time limit of a solve")
        self.limit.setToolTip("After so long a solve answers with the best it has")
        self.limit.valueChanged.connect(lambda seconds: self.limit_requested.emit(float(seconds)))
        self.solve_button = QPushButton("Solve again")
        self.solve_button.setToolTip("Search the least initiation interval with these settings")
        self.solve_button.clicked.connect(self.solve_requested)
        self.fault = QLabel()
        self.fault.setWordWrap(True)
        self.fault.hide()
        self._page = QWidget()
        self._build()
        document.changed.connect(self._on_changed)
        document.located.connect(self._show)
        self._show()

    def _build(self) -> None:
        layout = QVBoxLayout(self._page)
        layout.setContentsMargins(8, 6, 8, 8)
        layout.addWidget(self.fault)
        self._loop_label = _heading("Loop")
        for widget in (self._loop_label, self.loop, _heading("Warp groups"), self.groups, _heading("Rules")):
            layout.addWidget(widget)
        row = QHBoxLayout()
        row.addWidget(QLabel("Issue of a group:"))
        row.addWidget(self.issue, 1)
        layout.addLayout(row)
        self._transform_label = _heading("Before scheduling")
        for widget in (self.isolate, self.hand_off, self._transform_label, self.transform, _heading("Solve")):
            layout.addWidget(widget)
        row = QHBoxLayout()
        for widget in (QLabel("at most"), self.limit):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.solve_button)
        layout.addLayout(row)
        layout.addStretch(1)
        self.setAccessibleName("Settings")
        self.setAccessibleDescription("A form: each change is judged at once, and is one undo step")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidget(self._page)

    def show_fault(self, text: str) -> None:
        """Says why the last change was refused, and shows what is."""
        self.groups.restore()
        self.transform.restore()
        self._show()
        self._say(text)

    def set_busy(self, busy: bool) -> None:
        """A solve is running, or not any more."""
        self.solve_button.setEnabled(not busy)

    def set_colors(self, colors: Colors) -> None:
        """Colours the texts for the theme in use."""
        self._colors = colors
        self._say(self.fault.text())

    def _on_changed(self, change: Change) -> None:
        """Edits of the schedule change nothing here, and come many a second."""
        state = self._document.state
        active = state.active if state else None
        if not change.of_schedules_only or active != self._active:
            self._active = active
            self._show()

    def _show(self) -> None:
        self._say("")
        state = self._document.state
        self._page.setEnabled(state is not None)
        if state is None:
            return
        graph = state.variant.graph
        widgets = (self.loop, self.issue, self.isolate, self.hand_off, self.limit)
        blockers = [QSignalBlocker(widget) for widget in widgets]
        self._show_loops(state)
        self.groups.set_groups(graph.groups)
        self.issue.setCurrentIndex([rule for rule, _ in _ISSUE].index(graph.rules.in_order_issue))
        self.isolate.setChecked(graph.rules.isolate_matrix_issue)
        self.hand_off.setChecked(graph.rules.allow_hand_off)
        self.limit.setValue(round(state.project.solve.limit_s))
        del blockers
        entry = state.project.schedules.get(state.active)
        own = entry.transform if entry else None
        self.transform.set_transform(own or state.project.transform)
        of_text = state.project.input.kind is InputKind.TTGIR
        self._transform_label.setVisible(of_text)
        self.transform.setVisible(of_text)

    def _show_loops(self, state: ProjectState) -> None:
        module, shown = state.variant.opened.module, state.variant.opened.loop
        loops = [loop for loop in module.loops if loop is shown or obstacle(loop) is None] if module else []
        self.loop.clear()
        for loop in loops:
            line = loop.operation.name_span.line
            self.loop.addItem(f"{loop.index}: line {line}, {len(loop.body.operations)} operations", loop.index)
        if shown is not None:
            self.loop.setCurrentIndex(self.loop.findData(shown.index))
        for widget in (self._loop_label, self.loop):
            widget.setVisible(len(loops) > 1)

    def _emit_rules(self) -> None:
        graph = self._document.graph
        issue = _ISSUE[self.issue.currentIndex()][0]
        rules = Rules(issue, self.isolate.isChecked(), self.hand_off.isChecked())
        if graph is not None and rules != graph.rules:
            self.rules_requested.emit(rules)

    def _say(self, text: str) -> None:
        self.fault.setText(text)
        self.fault.setVisible(bool(text))
        self.fault.setStyleSheet(f"color: {self._colors.error}")


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    font = label.font()
    font.setBold(True)
    label.setFont(font)
    label.setContentsMargins(0, 6, 0, 0)
    return label
