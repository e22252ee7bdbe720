"""The Machine dock: the machine file as a form. A changed number is judged at once; solving again is a button."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from core.diagnostics import InputError
from twill_gui.document.document import Document
from twill_gui.document.settings import machine_text
from twill_gui.document.state import Change
from twill_gui.models.machine_entries import machine_entries
from twill_gui.theme import Colors
from twill_gui.views.machine.tree import MachineTree

_OTHER = "From file\N{HORIZONTAL ELLIPSIS}"


class MachineView(QWidget):
    """Emits what the user asks for; what was refused is said with `show_fault`. The file is read once it is seen."""

    number_requested = Signal(object, object)  # KeyPath, int or float
    machine_requested = Signal(str)
    file_requested = Signal()
    solve_requested = Signal()

    def __init__(self, document: Document, names: Sequence[str], colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._active: str | None = None
        self._names = tuple(names)
        self._colors = colors
        self._outdated = True
        self._behind = False  # the selection has changed since its rule was shown
        self._found: tuple[str, str] | None = None
        self._fill_timer = QTimer(self, interval=0, singleShot=True)
        self._fill_timer.timeout.connect(self._catch_up)
        self.choice = QComboBox()
        self.choice.setAccessibleName("Machine")
        self.choice.setToolTip("The machine that the loop is for: one of the program's, or a file")
        self.choice.activated.connect(self._choose)
        self.solve_button = QPushButton("Solve again")
        self.solve_button.setToolTip("Search the least initiation interval with these numbers")
        self.solve_button.clicked.connect(self.solve_requested)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter keys and operations")
        self.filter.setAccessibleName("Filter of the machine's keys")
        self.filter.setClearButtonEnabled(True)
        self.tree = MachineTree(colors)
        self.filter.textChanged.connect(self.tree.set_filter)
        # Later, since the answer makes the tree anew while it still takes the number in.
        self.tree.number_requested.connect(self._ask, Qt.ConnectionType.QueuedConnection)
        self.fault = QLabel()
        self.fault.setWordWrap(True)
        self.fault.setContentsMargins(8, 4, 8, 4)
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 0)
        row.addWidget(self.choice, 1)
        row.addWidget(self.solve_button)
        filter_row = QHBoxLayout()
        filter_row.setContentsMargins(8, 2, 8, 2)
        filter_row.addWidget(self.filter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(row)
        layout.addLayout(filter_row)
        layout.addWidget(self.fault)
        layout.addWidget(self.tree, 1)
        document.changed.connect(self._on_changed)
        document.located.connect(self._show)
        document.selection_changed.connect(self._reveal)
        self._show()

    def show_fault(self, text: str) -> None:
        """Says why the last change was refused, and shows the numbers as they are."""
        self.tree.restore()
        self._say(text)

    def set_busy(self, busy: bool) -> None:
        """A solve is running, or not any more."""
        self.solve_button.setEnabled(not busy)

    def set_colors(self, colors: Colors) -> None:
        """Colours the texts for the theme in use."""
        self._colors = colors
        self.tree.set_colors(colors)
        self._say(self.fault.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        """A tab behind another is visible to Qt but never painted: so the file is read once it is looked at."""
        super().paintEvent(event)
        if self._outdated or self._behind:
            self._fill_timer.start()

    def _on_changed(self, change: Change) -> None:
        """Edits of the schedule change nothing here, and come many a second."""
        state = self._document.state
        active = state.active if state else None
        if not change.of_schedules_only or active != self._active:
            self._active = active
            self._show()

    def _show(self) -> None:
        state = self._document.state
        machine = state.variant.opened.machine if state else None
        with QSignalBlocker(self.choice):
            self.choice.clear()
            file = state.project.machine if state else None
            own = [file.name] if isinstance(file, Path) else []
            self.choice.addItems([*own, *self._names, _OTHER])
            name = own[0] if own else Path(machine.file).stem if machine else ""
            self.choice.setCurrentIndex(self.choice.findText(name))
        self._outdated = True
        self.update()

    def _catch_up(self) -> None:
        if self._outdated:
            self._fill()
        if self._behind:
            self._reveal(self._document.selection)

    def _fill(self) -> None:
        """Reads the machine's file into the tree."""
        self._outdated = False
        state = self._document.state
        try:
            found = machine_text(state) if state else None
            if found != self._found:
                self.tree.set_entries(machine_entries(*found) if found else ())
                self._found = found
        except InputError as fault:
            self._say(str(fault))
            return
        self.tree.setVisible(found is not None)
        self.filter.setEnabled(found is not None)
        if state is not None and found is None:
            self._say("This project is a graph file, whose operations have their costs already.", warning=False)
        else:
            self._say("")

    def _ask(self, path: object, number: float) -> None:
        self._found = None  # the tree shows what was typed, which may never come to be
        self.number_requested.emit(path, number)

    def _say(self, text: str, *, warning: bool = True) -> None:
        self.fault.setText(text)
        self.fault.setVisible(bool(text))
        self.fault.setStyleSheet(f"color: {self._colors.error if warning else self._colors.muted}")

    def _choose(self) -> None:
        name = self.choice.currentText()
        if name == _OTHER:
            self.file_requested.emit()
            self._show()
        elif name in self._names:
            self.machine_requested.emit(name)

    def _reveal(self, selection: frozenset[str]) -> None:
        """Shows the rule that costs the selected op, once the view is looked at."""
        self._behind = self._outdated or not self.isVisible()
        state = self._document.state
        if self._behind or state is None or len(selection) != 1:
            return
        source = state.variant.opened.sources.get(next(iter(selection)))
        if source is not None and source.rule is not None and source.rule.line is not None:
            self.tree.reveal_line(source.rule.line)
