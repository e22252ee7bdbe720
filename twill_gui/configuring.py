"""Answers what the Settings and Machine docks ask for: an edit of the document, or why it cannot be."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from core.diagnostics import InputError, Severity
from core.yaml_source import KeyPath
from twill_gui.document import settings
from twill_gui.document.document import Document
from twill_gui.document.state import Change, ProjectState
from twill_gui.models.machine_entries import machine_entries
from twill_gui.views.machine import MachineView
from twill_gui.views.message_bar import Message
from twill_gui.views.settings import SettingsView

_TOPIC = "settings"
_MACHINE_FILTER = "Machines (*.yaml *.yml *.json);;All files (*)"
_Ask = tuple[KeyPath, float]


class Configuring(QObject):
    """Carries out the edits of machine, groups, rules, transform and loop; says which schedules they leave out.

    A number of the machine is changed on a pool thread, since it costs every op anew; what follows waits for it.
    """

    message = Signal(object)  # Message
    _computed = Signal(object, object, object)  # from the pool thread: the number, the state it is for, the outcome

    def __init__(self, document: Document, form: SettingsView, machine: MachineView, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._form = form
        self._machine = machine
        self._window = window
        self._asked: deque[_Ask] = deque()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._computed.connect(self._on_computed, Qt.ConnectionType.QueuedConnection)
        document.changed.connect(self._on_changed)
        form.loop_requested.connect(lambda loop: self._edit(form, lambda: settings.show_loop(document, loop)))
        form.groups_requested.connect(lambda groups: self._edit(form, lambda: settings.set_groups(document, groups)))
        form.rules_requested.connect(lambda rules: self._edit(form, lambda: settings.set_rules(document, rules)))
        form.transform_requested.connect(
            lambda transform: self._edit(form, lambda: settings.set_transform(document, transform))
        )
        form.limit_requested.connect(lambda seconds: self._edit(form, lambda: settings.set_limit(document, seconds)))
        machine.number_requested.connect(self._ask_number)
        machine.machine_requested.connect(self.choose_machine)
        machine.file_requested.connect(self.choose_machine_file)

    def finish(self) -> None:
        """Does now what was asked for and is not done yet."""
        while self._asked and self._document.state is not None:
            ask, state = self._asked[0], self._document.state
            self._on_computed(ask, state, _outcome(state, *ask))

    def shut_down(self) -> None:
        """Forgets what is not done yet, and waits for the pool thread."""
        self._asked.clear()
        self._pool.waitForDone()

    def choose_machine(self, machine: str | Path) -> None:
        """Another machine, by name or file."""
        self._edit(self._machine, lambda: settings.choose_machine(self._document, machine))

    def choose_machine_file(self) -> None:
        """Asks for a machine file."""
        name, _ = QFileDialog.getOpenFileName(self._window, "Machine file", str(Path.cwd()), _MACHINE_FILTER)
        if name:
            self.choose_machine(Path(name))

    def _on_changed(self, change: Change) -> None:
        if Change.PROJECT in change:
            self._asked.clear()

    def _ask_number(self, path: KeyPath, number: float) -> None:
        self._asked.append((path, number))
        if len(self._asked) == 1:
            self._compute()

    def _compute(self) -> None:
        """Works on the first number asked for."""
        state, ask = self._document.state, self._asked[0]
        if state is not None:
            self._pool.start(lambda: self._computed.emit(ask, state, _outcome(state, *ask)))

    @Slot(object, object, object)
    def _on_computed(self, ask: _Ask, before: ProjectState, outcome: ProjectState | Exception) -> None:
        if not self._asked or ask is not self._asked[0]:
            return
        if before is not self._document.state:
            self._compute()  # the project was edited meanwhile
            return
        self._asked.popleft()
        try:
            self._edit(self._machine, lambda: self._show(*ask, outcome))
        finally:
            if self._asked:
                self._compute()

    def _show(self, path: KeyPath, number: float, outcome: ProjectState | Exception) -> None:
        if isinstance(outcome, Exception):
            raise outcome
        settings.show_machine_number(self._document, path, number, outcome)

    def _edit(self, view: SettingsView | MachineView, edit: Callable[[], None]) -> None:
        before = self._document.state
        try:
            edit()
        except InputError as fault:
            first, *more = fault.diagnostics
            others = f" (and {len(more)} more)" if more else ""
            hint = f" \N{EN DASH} {first.hint}" if first.hint else ""
            view.show_fault(f"{first.message}{hint}{others}")
            return
        after = self._document.state
        dropped = settings.describe_dropped(before, after) if before and after else ()
        if dropped:
            names = ", ".join(dropped)
            text = (
                f"Does not fit the loop any more and was left out: {names}. Undo brings it back; Solve makes another."
            )
            self.message.emit(Message(_TOPIC, Severity.WARNING, text))


def _outcome(state: ProjectState, path: KeyPath, number: float) -> ProjectState | Exception:
    """The state with the number, or why there is none; raised again on the window's thread."""
    try:
        after = settings.with_machine_number(state, path, number)
        found = settings.machine_text(after)
        if found is not None:
            machine_entries(*found)  # reads them for the view, which asks next
        return after
    except Exception as fault:
        return fault
