"""From the wish to solve to a schedule in the document: jobs, their progress, and what becomes of their results."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from core.diagnostics import Severity
from core.graph.model import Graph
from core.schedule.fit import misfits
from core.schedule.model import Schedule
from core.solve.events import Event, Incumbent, Solved, SolveOptions, SolveResult
from twill_gui.document.document import Document
from twill_gui.document.records import Record
from twill_gui.document.state import Change, with_schedule
from twill_gui.jobs.solver import Job, JobState, Solver
from twill_gui.jobs.supervisor import Ending, Outcome
from twill_gui.models.solve_progress import SolveProgress, describe
from twill_gui.models.table import Tone
from twill_gui.views.message_bar import Message

_TOPIC = "solve"


class Solving(QObject):
    """Starts and cancels solves of the shown graph.

    A result of the document's present revision becomes an undo step as soon as it is there; any other, and what a
    cancelled solve had found, is offered in a message and applied only if the user says so. Second opinions join the
    record when they come; nobody has to wait for them.
    """

    message = Signal(object)  # Message
    busy_changed = Signal()

    def __init__(self, document: Document, solver: Solver, progress: SolveProgress, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._solver = solver
        self._progress = progress
        self._job: Job | None = None
        self._options = SolveOptions()  # of the job
        self._graph: Graph | None = None  # that the progress is about
        self._incumbent: Schedule | None = None
        self._answer: Record | None = None  # of the running solve, once only second opinions are missing
        self._again = False
        document.changed.connect(self._on_document_changed)

    @property
    def busy(self) -> bool:
        """Whether a solve runs."""
        return self._job is not None and self._job.state is not JobState.ENDED

    @property
    def searching(self) -> bool:
        """Whether a solve runs that has no answer yet."""
        return self.busy and self._answer is None

    def solve(self) -> None:
        """Solves the shown graph in the background, for the schedule shown. Second opinions that are still asked for
        are given up."""
        state = self._document.state
        if state is None or self.searching:
            return
        if self.busy:
            self._again = True
            self.cancel()
            return
        self._incumbent = self._answer = None
        self._progress.start(state.active)
        self._options, self._graph = state.project.solve, state.variant.graph
        job = self._solver.start(self._graph, self._options, self._document.revision, state.active)
        self._job = job
        job.progressed.connect(lambda event: self._on_event(job, event))
        job.state_changed.connect(lambda: self._on_state_changed(job))
        job.ended.connect(lambda ending: self._on_ended(job, ending))
        self.busy_changed.emit()

    def cancel(self) -> None:
        """Stops the running solve; the best so far is offered."""
        self._solver.cancel()

    def _on_document_changed(self, change: Change) -> None:
        if Change.PROJECT in change:
            self._job = self._answer = None  # what it may still report is about another project
            self._again = False
            self._solver.shut_down()
            self._progress.clear()
            self.busy_changed.emit()
        state = self._document.state
        if state is None or self.busy:
            return
        if state.variant.result is None:
            self._tell_of_which_graph()
        elif change & (Change.SCHEDULE | Change.GRAPH):
            self._graph = state.variant.graph
            self._progress.show(state.variant.result)

    def _tell_of_which_graph(self) -> None:
        """What a solve has proved of another graph than the one shown is not said as if it were of this."""
        if self._graph is not self._document.graph:
            self._progress.set_outdated()

    def _on_event(self, job: Job, event: Event) -> None:
        if job is not self._job:
            return
        if isinstance(event, Incumbent):
            self._incumbent = event.schedule
        self._progress.add(event)
        if isinstance(event, Solved) and job.state is JobState.RUNNING:
            self._answer = self._record(event.result)
            if event.result.schedule:
                self._apply_or_offer(job, event.result.schedule, self._answer)
            self.busy_changed.emit()

    def _on_state_changed(self, job: Job) -> None:
        if job.state is JobState.STOPPING:
            self._progress.stop()

    def _on_ended(self, job: Job, ending: Ending) -> None:
        if job is not self._job:
            return
        whole = self._record(ending.result) if ending.result else None
        if self._answer is not None:
            self._complete(self._answer, whole, ending)
        elif ending.outcome is Outcome.DONE and whole:
            self._progress.finish(*describe(whole.result), whole.result)
            if whole.result.schedule:
                self._apply_or_offer(job, whole.result.schedule, whole)
        elif ending.outcome is Outcome.CANCELLED:
            self._progress.finish("Cancelled", Tone.MUTED, ending.result)
            best = (ending.result and ending.result.schedule) or self._incumbent
            if best:
                self._offer(job, best, whole, f"The cancelled solve had found a schedule with II {best.ii}.")
        else:
            self._progress.finish("Solver failed", Tone.BAD)
            self._tell_failure("The solve ended with an internal error", ending)
        self._answer = None
        self._tell_of_which_graph()
        self.busy_changed.emit()
        if self._again:
            self._again = False
            self.solve()

    def _complete(self, answer: Record, whole: Record | None, ending: Ending) -> None:
        """Second opinions have come, are not waited for, or have failed: then the proof is as doubtful as they are."""
        if ending.outcome in (Outcome.DONE, Outcome.CANCELLED):
            last = whole or answer
            self._document.complete_record(answer, last)
            self._progress.finish(*describe(last.result), last.result)
            return
        if ending.outcome is Outcome.FAILED:
            self._document.complete_record(answer, None)
        self._progress.finish("Second opinion failed", Tone.BAD)
        self._tell_failure("The second opinion ended with an internal error", ending)

    def _tell_failure(self, what: str, ending: Ending) -> None:
        details = "\n".join(part for part in (ending.message, ending.traceback) if part)
        copy = ("Copy details", lambda: QGuiApplication.clipboard().setText(details))
        self.message.emit(Message(_TOPIC, Severity.ERROR, f"{what}: {ending.message}", (copy,)))

    def _record(self, result: SolveResult) -> Record:
        return Record(result, self._options, self._graph.pins if self._graph else {})

    def _apply_or_offer(self, job: Job, schedule: Schedule, record: Record) -> None:
        if job.revision == self._document.revision:
            self._apply(job.schedule_name, schedule, record)
        else:
            text = f"The solve has found II {schedule.ii}, for the project as it was before your last changes."
            self._offer(job, schedule, record, text)

    def _offer(self, job: Job, schedule: Schedule, record: Record | None, text: str) -> None:
        use = ("Use it", lambda: self._apply(job.schedule_name, schedule, record))
        self.message.emit(Message(_TOPIC, Severity.NOTE, text, (use,)))

    def _apply(self, name: str, schedule: Schedule, record: Record | None) -> None:
        state = self._document.state
        variant = state.variants.get(name) if state else None
        if variant is None or any(misfits(variant.graph, schedule)):
            text = f"The schedule with II {schedule.ii} does not fit the loop any more."
            self.message.emit(Message(_TOPIC, Severity.WARNING, text))
            return
        self._document.edit(f"Solve: II {schedule.ii}", lambda s: with_schedule(s, name, schedule, record))
