"""The window's solver jobs: one at a time, supervised on a pool thread, their events forwarded as Qt signals."""

from __future__ import annotations

import os
from enum import Enum
from multiprocessing.connection import Connection

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal, Slot

from core.graph.model import Graph
from core.solve.events import SolveOptions
from twill_gui.jobs.serving import Task
from twill_gui.jobs.standby import Standby
from twill_gui.jobs.supervisor import Ending, Supervisor, Work

_NICE = 5


class JobState(Enum):
    """What a job is doing. STOPPING from the moment the user cancels until the process is gone."""

    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


def solve(connection: Connection, graph: Graph, options: SolveOptions) -> None:
    """Runs in the solver process, which alone pays for the solvers' imports and gives way to the window."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    from core.solve.worker import work

    work(connection, graph, options)


class Job(QObject):
    """One piece of work on a graph or a question. `revision` is the document's when it was started, `schedule_name`
    what it is for."""

    progressed = Signal(object)  # what the work reports: core.solve.events.Event without Done and Failed, Explanation
    state_changed = Signal()
    ended = Signal(object)  # Ending
    _reported = Signal(object)  # crosses from the pool thread to the window's

    def __init__(self, task: Task, revision: int, schedule_name: str, standby: Standby | None, parent: QObject) -> None:
        super().__init__(parent)
        self.revision = revision
        self.schedule_name = schedule_name
        self.state = JobState.RUNNING
        self.ending: Ending | None = None
        self._supervisor = Supervisor(task, self._reported.emit, standby)
        self._reported.connect(self._on_reported, Qt.ConnectionType.QueuedConnection)

    def run(self) -> None:
        """Supervises the process until it is gone; called on a pool thread."""
        self._reported.emit(self._supervisor.run())

    def cancel(self) -> None:
        """Asks for a stop; the state says so at once, `ended` follows within the cancel ladder's time."""
        if self.state is JobState.RUNNING:
            self._set_state(JobState.STOPPING)
            self._supervisor.cancel()

    def kill(self) -> None:
        """Ends the process at once, for when the window closes."""
        if self.state is not JobState.ENDED:
            self._supervisor.kill()

    def _set_state(self, state: JobState) -> None:
        self.state = state
        self.state_changed.emit()

    @Slot(object)
    def _on_reported(self, report: object) -> None:
        if isinstance(report, Ending):
            self.ending = report
            self._set_state(JobState.ENDED)
            self.ended.emit(report)
        else:
            self.progressed.emit(report)


class Solver(QObject):
    """Starts jobs, one at a time, and ends them with the application. With a `standby` they run in the process that it
    keeps ready, if it has one."""

    def __init__(self, parent: QObject, work: Work = solve, standby: Standby | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._standby = standby
        self._pool = QThreadPool(self)
        self._job: Job | None = None

    def start(self, subject: object, options: object, revision: int, schedule_name: str) -> Job:
        """Starts the work on a subject; what it found comes with the job's signals. The one before must have ended."""
        if self._job is not None:
            self._job.deleteLater()
        job = Job(Task(self._work, subject, options), revision, schedule_name, self._standby, self)
        self._job = job
        self._pool.start(job.run)
        return job

    def cancel(self) -> None:
        """Cancels the running job, if there is one."""
        if self._job is not None:
            self._job.cancel()

    def shut_down(self) -> None:
        """Ends the job and waits until its process is gone."""
        if self._job is not None:
            self._job.kill()
        self._pool.waitForDone()
