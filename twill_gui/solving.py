"""From the wish to solve to a schedule in the document: jobs, their progress, and what becomes of their results."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from core.diagnostics import Severity
from core.schedule.fit import misfits
from core.schedule.model import Schedule
from core.solve.events import Event, Incumbent, SolveResult
from twill_gui.document.document import Document
from twill_gui.document.state import Change, with_schedule
from twill_gui.jobs.solver import Job, JobState, Solver
from twill_gui.jobs.supervisor import Ending, Outcome
from twill_gui.models.solve_progress import SolveProgress, describe
from twill_gui.models.table import Tone
from twill_gui.views.message_bar import Message

_TOPIC = "solve"


class Solving(QObject):
    """Starts and cancels solves of the shown graph.

    A result of the document's present revision becomes an undo step; any other, and what a cancelled solve had found,
    is offered in a message and applied only if the user says so.
    """

    message = Signal(object)  # Message
    busy_changed = Signal()

    def __init__(self, document: Document, solver: Solver, progress: SolveProgress, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._solver = solver
        self._progress = progress
        self._job: Job | None = None
        self._incumbent: Schedule | None = None
        document.changed.connect(self._on_document_changed)

    @property
    def busy(self) -> bool:
        """Whether a solve runs."""
        return self._job is not None and self._job.state is not JobState.ENDED

    def solve(self) -> None:
        """Solves the shown graph in the background, for the schedule shown."""
        state = self._document.state
        if state is None or self.busy:
            return
        self._incumbent = None
        self._progress.start(state.active)
        job = self._solver.start(state.variant.graph, state.project.solve, self._document.revision, state.active)
        self._job = job
        job.progressed.connect(self._on_event)
        job.state_changed.connect(lambda: self._on_state_changed(job))
        job.ended.connect(lambda ending: self._on_ended(job, ending))
        self.busy_changed.emit()

    def cancel(self) -> None:
        """Stops the running solve; the best so far is offered."""
        self._solver.cancel()

    def _on_document_changed(self, change: Change) -> None:
        if Change.PROJECT in change:
            self._job = None  # what it may still report is about another project
            self._solver.shut_down()
            self._progress.clear()
            self.busy_changed.emit()
        state = self._document.state
        if Change.SCHEDULE in change and state and state.variant.result and not self.busy:
            self._progress.show(state.variant.result)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Incumbent):
            self._incumbent = event.schedule
        self._progress.add(event)

    def _on_state_changed(self, job: Job) -> None:
        if job.state is JobState.STOPPING:
            self._progress.stop()

    def _on_ended(self, job: Job, ending: Ending) -> None:
        if job is not self._job:
            return
        if ending.outcome is Outcome.DONE and ending.result:
            self._progress.finish(*describe(ending.result), ending.result)
            if ending.result.schedule:
                self._apply_or_offer(job, ending.result.schedule, ending.result)
        elif ending.outcome is Outcome.CANCELLED:
            self._progress.finish("Cancelled", Tone.MUTED, ending.result)
            best = (ending.result and ending.result.schedule) or self._incumbent
            if best:
                self._offer(job, best, ending.result, f"The cancelled solve had found a schedule with II {best.ii}.")
        else:
            self._progress.finish("Solver failed", Tone.BAD)
            details = "\n".join(part for part in (ending.message, ending.traceback) if part)
            copy = ("Copy details", lambda: QGuiApplication.clipboard().setText(details))
            text = f"The solve ended with an internal error: {ending.message}"
            self.message.emit(Message(_TOPIC, Severity.ERROR, text, (copy,)))
        self.busy_changed.emit()

    def _apply_or_offer(self, job: Job, schedule: Schedule, result: SolveResult) -> None:
        if job.revision == self._document.revision:
            self._apply(job.schedule_name, schedule, result)
        else:
            text = f"The solve has found II {schedule.ii}, for the project as it was before your last changes."
            self._offer(job, schedule, result, text)

    def _offer(self, job: Job, schedule: Schedule, result: SolveResult | None, text: str) -> None:
        use = ("Use it", lambda: self._apply(job.schedule_name, schedule, result))
        self.message.emit(Message(_TOPIC, Severity.NOTE, text, (use,)))

    def _apply(self, name: str, schedule: Schedule, result: SolveResult | None) -> None:
        state = self._document.state
        variant = state.variants.get(name) if state else None
        if variant is None or any(misfits(variant.graph, schedule)):
            text = f"The schedule with II {schedule.ii} does not fit the loop any more."
            self.message.emit(Message(_TOPIC, Severity.WARNING, text))
            return
        self._document.edit(f"Solve: II {schedule.ii}", lambda s: with_schedule(s, name, schedule, result))
