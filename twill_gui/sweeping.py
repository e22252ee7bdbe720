"""Sweeps in the window: the points one after another, each in a solver process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from core.diagnostics import InputError
from core.files import is_file, write_atomically
from core.sweep.axes import Axis, parse_axes
from core.sweep.outcome import outcome
from core.sweep.plot import plot_svg
from core.sweep.points import Point, sweep_points
from core.sweep.rows import Row, csv_text
from core.sweep.setting import AxisError
from core.yaml_source import read_text
from twill_gui.command_lines import sweep_command
from twill_gui.document.document import Document
from twill_gui.document.state import Change, ProjectState
from twill_gui.jobs.solver import Job, JobState, Solver
from twill_gui.jobs.supervisor import Ending, Outcome
from twill_gui.views.sweep import SweepView

_MOST_POINTS = 1000
_FILTERS = "Plot (*.svg);;Table (*.csv)"


class Sweeping(QObject):
    """Answers the Sweep dock. A cancelled sweep keeps the points that are done."""

    _prepared = Signal(object)  # from the pool thread: the points, or the error

    def __init__(self, document: Document, solver: Solver, view: SweepView, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._solver = solver
        self._view = view
        self._window = window
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._state: ProjectState | None = None
        self._axes: tuple[Axis, ...] = ()
        self._points: Sequence[Point] = ()
        self._rows: list[Row] = []
        self._running = False
        self._job: Job | None = None
        view.run_requested.connect(self.run)
        view.cancel_requested.connect(self.cancel)
        view.save_requested.connect(self._save)
        view.command_requested.connect(self._copy_command)
        self._prepared.connect(self._on_prepared, Qt.ConnectionType.QueuedConnection)
        document.changed.connect(self._on_document_changed)

    @property
    def rows(self) -> Sequence[Row]:
        """The points that are done."""
        return tuple(self._rows)

    @property
    def running(self) -> bool:
        """Whether a sweep runs."""
        return self._running

    def run(self, text: str) -> None:
        """Solves at every combination of the values in `text`, written as on the command line."""
        state = self._document.state
        if state is None or self._running:
            return
        if self._job is not None and self._job.state is not JobState.ENDED:
            self._view.say("The cancelled point is still ending.", fault=True)
            return
        if _machine_is_edited(state):
            self._view.say("A sweep reads the machine's file: save your changes to it first.", fault=True)
            return
        try:
            self._axes = parse_axes(text.split())
            if not self._axes:
                raise AxisError("give an axis and its values, such as registers=160,200,240")
        except AxisError as fault:
            self._view.say(str(fault), fault=True)
            return
        self._state, self._rows, self._running = state, [], True
        self._view.set_running(True)
        self._view.say("Reading the points\N{HORIZONTAL ELLIPSIS}")
        self._pool.start(lambda: self._prepare(state, self._axes))

    def cancel(self) -> None:
        """Ends the sweep; what is done stays."""
        if self._running:
            self._finish(f"Cancelled after {len(self._rows)} of {len(self._points)} points.")
            self._solver.cancel()

    def shut_down(self) -> None:
        """Ends everything and waits for it."""
        self._running = False
        self._pool.waitForDone()
        self._solver.shut_down()

    def _prepare(self, state: ProjectState, axes: Sequence[Axis]) -> None:
        """On the pool thread: every point's graph."""
        project = state.project
        if state.active in project.schedules:
            project = project.for_schedule(state.active)
        try:
            points, _ = sweep_points(project, axes, project.solve)
            self._prepared.emit(points)
        except AxisError as fault:
            self._prepared.emit(str(fault))
        except InputError as fault:
            self._prepared.emit(fault.diagnostics[0].format())

    def _on_prepared(self, found: Sequence[Point] | str) -> None:
        if not self._running:
            return
        if isinstance(found, str):
            self._finish(found, fault=True)
        elif len(found) > _MOST_POINTS:
            self._finish(f"{len(found)} points are too many for the window: use 'twill sweep'.", fault=True)
        else:
            self._points = found
            self._next()

    def _next(self) -> None:
        done, state = len(self._rows), self._state
        self._view.show_progress(done, len(self._points))
        if done == len(self._points) or state is None:
            self._finish(f"{done} points done.")
            return
        self._view.say(f"Point {done + 1} of {len(self._points)}\N{HORIZONTAL ELLIPSIS}")
        options = replace(
            state.project.solve, second_opinions=False
        )  # as on the command line: rows say nothing of them
        self._job = job = self._solver.start(self._points[done].graph, options, self._document.revision, "")
        job.ended.connect(lambda ending: self._on_ended(job, ending))

    def _on_ended(self, job: Job, ending: Ending) -> None:
        if not self._running or ending.outcome is Outcome.CANCELLED:
            return
        point = self._points[len(self._rows)]
        found = outcome(point.graph, ending.result) if ending.result is not None else None
        self._rows.append(Row(point.values, found))
        keys = [axis.key for axis in self._axes]
        self._view.show_rows(keys, self._rows, self._plot())
        self._next()

    def _plot(self) -> str:
        name = self._state.project.name if self._state else ""
        return plot_svg(name, [axis.key for axis in self._axes], self._rows)

    def _finish(self, text: str, *, fault: bool = False) -> None:
        self._running = False
        self._view.set_running(False)
        self._view.say(text, fault=fault)

    def _on_document_changed(self, change: Change) -> None:
        if Change.PROJECT in change:
            self.shut_down()
            self._rows, self._points = [], ()
            self._view.set_running(False)
            self._view.show_rows((), (), "")
            self._view.say("")

    def _save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self._window, "Save sweep", str(Path.cwd() / "sweep.svg"), _FILTERS)
        if not name:
            return
        file = Path(name)
        keys = [axis.key for axis in self._axes]
        try:
            write_atomically(file, csv_text(keys, self._rows) if file.suffix == ".csv" else self._plot())
        except OSError as fault:
            self._view.say(f"Cannot write {file}: {fault.strerror or fault}", fault=True)
            return
        self._view.say(f"Written: {file}")

    def _copy_command(self, text: str) -> None:
        state = self._document.state
        if state is not None:
            QGuiApplication.clipboard().setText(sweep_command(state, text.split()))
            self._view.say("Copied: the command that runs this sweep on all cores, or on a cluster.")


def _machine_is_edited(state: ProjectState) -> bool:
    machine, text = state.project.machine, state.machine_text
    if text is None:
        return False
    return not isinstance(machine, Path) or not is_file(machine) or read_text(machine) != text
