"""The docks around the schedule: Settings, Machine, Compare, Measured, Sweep, CUDA, and what answers them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from core.diagnostics import InputError, Severity
from core.machine.load import SUFFIXES, machine_names
from core.schedule.read import load_schedule
from core.yaml_source import parse_yaml, read_text, written_schema
from twill_gui.configuring import Configuring
from twill_gui.jobs.solver import Solver
from twill_gui.jobs.supervisor import Work
from twill_gui.measuring import Measuring, is_run
from twill_gui.sweeping import Sweeping
from twill_gui.theme import Colors
from twill_gui.views.compare import CompareView
from twill_gui.views.cuda_text import CudaTextView
from twill_gui.views.machine import MachineView
from twill_gui.views.measured import MeasuredView
from twill_gui.views.message_bar import Message
from twill_gui.views.settings import SettingsView
from twill_gui.views.sweep import SweepView

if TYPE_CHECKING:
    from twill_gui.main_window import MainWindow

_SCHEDULE_FILTER = "Schedules (*.yaml *.yml *.json);;All files (*)"


class ToolDocks(QObject):
    """Makes the docks, and connects them with the window they belong to."""

    message = Signal(object)  # Message

    def __init__(self, window: MainWindow, colors: Colors, work: Work) -> None:
        super().__init__(window)
        self._window = window
        document = window.document
        self.settings = SettingsView(document, colors)
        self.machine = MachineView(document, machine_names(), colors)
        self.compare = CompareView(document, window.files.saved_schedule)
        self.configuring = Configuring(document, self.settings, self.machine, window)
        self.configuring.message.connect(self.message)
        self.compare.other_changed.connect(window.gantt.set_ghost)
        self.compare.selection_requested.connect(document.select)
        self.compare.file_requested.connect(self._choose_other)
        self.measured = MeasuredView(colors)
        self.measuring = Measuring(document, self.measured, window)
        self.measuring.message.connect(self.message)
        self.measuring.seen_changed.connect(window.gantt.set_seen)
        self.cuda = CudaTextView(document, colors)
        self.cuda.selection_requested.connect(document.select)
        self.sweep = SweepView(colors)
        self.sweeping = Sweeping(document, Solver(self, work), self.sweep, window)
        for view in (self.settings, self.machine):
            view.solve_requested.connect(window.solving.solve)
        window.solving.busy_changed.connect(self._on_busy_changed)

    @property
    def docks(self) -> Mapping[str, QWidget]:
        """The views by the titles of their docks."""
        return {
            "Settings": self.settings,
            "Machine": self.machine,
            "Compare": self.compare,
            "Measured": self.measured,
            "Sweep": self.sweep,
            "CUDA": self.cuda,
        }

    def take(self, file: Path) -> bool:
        """Uses a file that belongs to the open project: a machine for it, a schedule to compare with, a measured run.
        False for any other file, and while nothing is open."""
        if self._window.document.state is not None and is_run(file):
            self._show_run(file)
            return True
        schema = _schema(file) if self._window.document.state is not None else ""
        if schema.startswith("twill.machine/"):
            self.configuring.choose_machine(file)
            self._window.dock_layout.bring_forward("Machine")
            return True
        if schema.startswith("twill.schedule/"):
            self._compare_with(file)
            return True
        return False

    def set_colors(self, colors: Colors) -> None:
        """Colours them for the theme in use."""
        for view in (self.settings, self.machine, self.measured, self.sweep, self.cuda):
            view.set_colors(colors)

    def shut_down(self) -> None:
        """Ends what works in the background, and waits for it."""
        self.configuring.shut_down()
        self.sweeping.shut_down()
        self.cuda.shut_down()

    def _on_busy_changed(self) -> None:
        for view in (self.settings, self.machine):
            view.set_busy(self._window.solving.searching)

    def open_run(self) -> None:
        """Asks for the file of a measured run."""
        self._window.dock_layout.bring_forward("Measured")
        self.measuring.choose()

    def _show_run(self, file: Path) -> None:
        if self.measuring.open(file):
            self._window.dock_layout.bring_forward("Measured")

    def _choose_other(self) -> None:
        """Asks for a schedule file to compare with."""
        name, _ = QFileDialog.getOpenFileName(self._window, "Compare with", str(Path.cwd()), _SCHEDULE_FILTER)
        if name:
            self._compare_with(Path(name))

    def _compare_with(self, file: Path) -> None:
        graph = self._window.document.graph
        if graph is None:
            return
        try:
            self.compare.compare_with_file(file.name, load_schedule(file, graph))
        except InputError as fault:
            text = f"Cannot compare with {file.name}: {fault.diagnostics[0].format()}"
            self.message.emit(Message("compare", Severity.ERROR, text))
            return
        self._window.dock_layout.bring_forward("Compare")


def _schema(file: Path) -> str:
    """What a YAML file says it is; "" for anything else."""
    if file.suffix not in SUFFIXES:
        return ""
    try:
        return written_schema(parse_yaml(read_text(file), str(file))) or ""
    except InputError:
        return ""
