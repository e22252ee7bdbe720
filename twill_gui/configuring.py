"""Answers what the Settings and Machine docks ask for: an edit of the document, or why it cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from core.diagnostics import InputError, Severity
from twill_gui.document import settings
from twill_gui.document.document import Document
from twill_gui.views.machine import MachineView
from twill_gui.views.message_bar import Message
from twill_gui.views.settings import SettingsView

_TOPIC = "settings"
_MACHINE_FILTER = "Machines (*.yaml *.yml *.json);;All files (*)"


class Configuring(QObject):
    """Carries out the edits of machine, groups, rules, transform and loop; says which schedules they leave out."""

    message = Signal(object)  # Message

    def __init__(self, document: Document, form: SettingsView, machine: MachineView, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._form = form
        self._machine = machine
        self._window = window
        form.loop_requested.connect(lambda loop: self._edit(form, lambda: settings.show_loop(document, loop)))
        form.groups_requested.connect(lambda groups: self._edit(form, lambda: settings.set_groups(document, groups)))
        form.rules_requested.connect(lambda rules: self._edit(form, lambda: settings.set_rules(document, rules)))
        form.transform_requested.connect(
            lambda transform: self._edit(form, lambda: settings.set_transform(document, transform))
        )
        form.limit_requested.connect(lambda seconds: self._edit(form, lambda: settings.set_limit(document, seconds)))
        machine.number_requested.connect(
            lambda path, number: self._edit(machine, lambda: settings.set_machine_number(document, path, number))
        )
        machine.machine_requested.connect(self.choose_machine)
        machine.file_requested.connect(self.choose_machine_file)

    def choose_machine(self, machine: str | Path) -> None:
        """Another machine, by name or file."""
        self._edit(self._machine, lambda: settings.choose_machine(self._document, machine))

    def choose_machine_file(self) -> None:
        """Asks for a machine file."""
        name, _ = QFileDialog.getOpenFileName(self._window, "Machine file", str(Path.cwd()), _MACHINE_FILTER)
        if name:
            self.choose_machine(Path(name))

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
