"""From the wish to know why to an answer in the Explain dock: jobs, their answers, and what is done with them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from core.diagnostics import InputError, Severity
from core.explain.answer import Explanation, Relaxation
from core.explain.options import ExplainOptions
from twill_gui.command_lines import explain_command, moves_command
from twill_gui.document.document import Document
from twill_gui.document.relaxing import applicable, apply
from twill_gui.document.state import Change
from twill_gui.jobs.solver import Job, JobState, Solver
from twill_gui.jobs.supervisor import Ending, Outcome
from twill_gui.models.arithmetic import arithmetic
from twill_gui.models.asking import Asked, as_options, elsewhere, first_answer, question, smaller_ii
from twill_gui.views.explain import ExplainView, Facts, Nouns, Stage
from twill_gui.views.message_bar import Message

_TOPIC = "explain"


class Explaining(QObject):
    """Asks about the shown graph and schedule, one question at a time; a new one ends the one before."""

    message = Signal(object)  # Message
    shown = Signal()  # there is something to read
    busy_changed = Signal()
    told = Signal(str)  # what an explanation has come to, in one line

    def __init__(self, document: Document, explainer: Solver, view: ExplainView, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._explainer = explainer
        self._view = view
        self._job: Job | None = None
        self._asked: Asked | None = None
        document.changed.connect(self._on_document_changed)
        view.asked.connect(self.ask)
        view.cancel_requested.connect(self.cancel)
        view.apply_requested.connect(self._apply)
        view.command_requested.connect(self._copy_command)

    @property
    def busy(self) -> bool:
        """Whether an answer is being worked out."""
        return self._job is not None and self._job.state is not JobState.ENDED

    def ask_smaller_ii(self) -> None:
        """Why is there no smaller II?"""
        bounds = self._document.bounds
        if bounds is not None:
            self.ask(smaller_ii(self._document.schedule, bounds))

    def ask_about(self, op: str) -> None:
        """Why can the op not be elsewhere, or where it is?"""
        graph, schedule, report = self._document.graph, self._document.schedule, self._document.report
        if graph is None or schedule is None or report is None:
            return
        self.ask(elsewhere(graph, schedule, op, any(op in violation.ops for violation in report.violations)))

    def ask_about_group(self, op: str, group: str) -> None:
        """Why can the op not be on this group of the schedule?"""
        if self._document.schedule is not None:
            self.ask(Asked(self._document.schedule.ii, op, group))

    def ask(self, asked: Asked) -> None:
        """Answers by arithmetic at once, and starts the search for all that it cannot tell."""
        state, graph, schedule = self._document.state, self._document.graph, self._document.schedule
        if state is None or graph is None:
            return
        self._stop()
        try:
            wanted = question(asked, graph, schedule)
        except LookupError as fault:
            self.message.emit(Message(_TOPIC, Severity.WARNING, f"There is no {fault} to ask about."))
            return
        self._asked = asked
        first = arithmetic(wanted.graph, asked.ii)
        answer = first_answer(wanted, first.certificates)
        facts = Facts(wanted.title, first, answer, Stage.RUNNING, None, self._applicable)
        self._view.start(asked, facts, Nouns(graph, schedule))
        self.shown.emit()
        options = ExplainOptions(seed=state.project.solve.seed, sensitivity=asked.sensitivity)
        job = self._explainer.start(wanted, options, self._document.revision, state.active)
        self._job = job
        job.progressed.connect(lambda answer: self._on_answer(job, answer))
        job.ended.connect(lambda ending: self._on_ended(job, ending))
        self.busy_changed.emit()

    def cancel(self) -> None:
        """Stops; what is known stays."""
        if self.busy:
            self._explainer.cancel()

    def _stop(self) -> None:
        """Ends the job before, whose answer nobody waits for any more."""
        if self.busy:
            self._job = None
            self._explainer.shut_down()

    def _on_document_changed(self, change: Change) -> None:
        if Change.PROJECT in change:
            self._stop()
            self._asked = None
            self._view.clear()
            self.busy_changed.emit()
        elif change & (Change.GRAPH | Change.SCHEDULE):
            self._view.set_outdated()
        self._view.set_context(self._document.graph, self._document.schedule)

    def _applicable(self, relaxation: Relaxation) -> bool:
        state = self._document.state
        return state is not None and applicable(state, relaxation)

    def _on_answer(self, job: Job, answer: Explanation) -> None:
        if job is self._job:
            self._view.show_answer(answer)

    def _on_ended(self, job: Job, ending: Ending) -> None:
        if job is not self._job:
            return
        stages = {Outcome.DONE: Stage.DONE, Outcome.CANCELLED: Stage.CANCELLED}
        self._view.finish(stages.get(ending.outcome, Stage.FAILED))
        self.told.emit(self._view.headline)
        if ending.outcome not in stages:
            details = "\n".join(part for part in (ending.message, ending.traceback) if part)
            copy = ("Copy details", lambda: QGuiApplication.clipboard().setText(details))
            text = f"The explanation ended with an internal error: {ending.message}"
            self.message.emit(Message(_TOPIC, Severity.ERROR, text, (copy,)))
        self.busy_changed.emit()

    def _apply(self, relaxation: Relaxation) -> None:
        """One undo step: the project with the change that would help."""
        try:
            apply(self._document, relaxation)
        except InputError as fault:
            text = f"The project cannot be changed: {fault.diagnostics[0].format()}"
            self.message.emit(Message(_TOPIC, Severity.ERROR, text))

    def _copy_command(self) -> None:
        state = self._document.state
        if state is None or self._asked is None:
            return
        moves = self._asked.moves
        command = moves_command(state, dict(moves)) if moves else explain_command(state, *as_options(self._asked))
        QGuiApplication.clipboard().setText(command)
