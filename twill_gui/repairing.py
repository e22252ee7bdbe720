"""After an illegal drop: the offer to repair it, to push what depends on it, or to undo; and what becomes of that."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from core.diagnostics import Severity
from core.graph.model import Pin
from core.schedule.check import check
from core.schedule.compact import compact
from core.schedule.model import Placement, Schedule
from core.schedule.push import push
from core.schedule.wording import counted, listed
from core.solve.events import Verdict
from core.solve.repair.request import Repaired
from twill_gui.document.document import Document
from twill_gui.document.dropping import EFFORT_S, Dropped, dropped
from twill_gui.document.state import Change, ProjectState, with_schedule
from twill_gui.jobs.repairer import repair
from twill_gui.jobs.solver import Job, JobState, Solver
from twill_gui.jobs.standby import Standby
from twill_gui.jobs.supervisor import Ending, Outcome, Work
from twill_gui.models.asking import moved_there
from twill_gui.views.message_bar import Message

TOPIC = "repair"
LONGER_S = 30.0
"""Seconds of a repair that the user asks to go on."""


class Repairing(QObject):
    """Offers, while the shown schedule is illegal by an edit, what would make it legal; a repair runs in a process of
    its own and becomes one undo step."""

    message = Signal(object)  # Message
    withdrawn = Signal(str)  # topic of a message that says nothing true any more
    why_asked = Signal(object)  # Asked
    busy_changed = Signal()

    def __init__(
        self, document: Document, parent: QObject, work: Work = repair, standby: Standby | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._standby = standby
        self._solver = Solver(self, work, standby)
        self._job: Job | None = None
        self._answer: Repaired | None = None
        self._legal: dict[str, Schedule] = {}  # the last legal schedule of each variant
        self._offered = False
        document.changed.connect(self._on_document_changed)

    @property
    def busy(self) -> bool:
        """Whether a repair runs."""
        return self._job is not None and self._job.state is not JobState.ENDED

    def repair(self, effort_s: float = EFFORT_S) -> None:
        """Looks for the legal schedule that keeps what was moved where it is and moves the fewest other ops."""
        state, drop = self._document.state, self._dropped()
        if state is None or self.busy:
            return
        if drop is None:
            self._say(Severity.NOTE, "The schedule is legal: there is nothing to repair.")
            return
        self._answer = None
        request = drop.request(effort_s, state.project.solve.seed)
        job = self._solver.start(request, None, self._document.revision, state.active)
        self._job = job
        job.progressed.connect(lambda answer: self._on_answer(job, answer))
        job.ended.connect(lambda ending: self._on_ended(job, drop, ending))
        cancel = ("Cancel", self.cancel)
        self._say(Severity.NOTE, "Looking for the nearest legal schedule\N{HORIZONTAL ELLIPSIS}", cancel)
        self.busy_changed.emit()

    def push(self) -> None:
        """What depends on the ops that were moved, or else on the selected ones, makes room for them."""
        graph, drop = self._document.graph, self._dropped()
        ops = drop.moved if drop is not None and drop.moved else tuple(sorted(self._document.selection))
        if graph is not None and ops:
            text = f"Push what depends on {_named(ops)}"
            self._edit(text, lambda schedule: push(graph, schedule, ops))

    def compact(self) -> None:
        """Every op as early as orders allow."""
        graph = self._document.graph
        if graph is not None:
            self._edit("Compact", lambda schedule: compact(graph, schedule))

    def cancel(self) -> None:
        """Stops the running repair."""
        if self.busy:
            self._solver.cancel()

    def dismiss(self) -> bool:
        """Takes the offer away; False if there is none."""
        offered, self._offered = self._offered, False
        if offered:
            self.withdrawn.emit(TOPIC)
        return offered

    def expect(self, tried: object) -> None:
        """A drag is trying places (None: it is over): it may end where a repair is wanted."""
        if tried is not None and self._standby is not None:
            self._standby.warm_up()

    def shut_down(self) -> None:
        """Returns when no process is left."""
        self._solver.shut_down()

    def _dropped(self) -> Dropped | None:
        """What is illegal, if the shown schedule is."""
        state, report = self._document.state, self._document.report
        if state is None or state.variant.schedule is None or report is None or report.legal:
            return None
        return dropped(state.variant.graph, state.variant.schedule, self._legal.get(state.active))

    def _on_document_changed(self, change: Change) -> None:
        state, report = self._document.state, self._document.report
        if Change.PROJECT in change:
            self._legal.clear()
            self._job = None
            self._solver.shut_down()
            self.busy_changed.emit()
        if not change & (Change.PROJECT | Change.GRAPH | Change.SCHEDULE):
            return
        self.dismiss()
        if state is None or state.variant.schedule is None or report is None:
            return
        if report.legal:
            self._legal[state.active] = state.variant.schedule
        elif Change.PROJECT not in change and state.variant.result is None and not self.busy:
            self._offer()  # a solver's own schedule is legal, or wrong in a way that a repair would hide

    def _offer(self) -> None:
        drop, report = self._dropped(), self._document.report
        if drop is None or report is None:
            return
        self.expect(drop.schedule)
        what = _named(drop.moved) if drop.moved else "The schedule"
        number = len(report.violations)
        broken = "1 rule" if number == 1 else f"{number} rules"
        verb = "break" if len(drop.moved) > 1 else "breaks"
        text = f"{what} {verb} {broken}: {report.violations[0].message}"
        buttons: list[tuple[str, Callable[[], None]]] = [("Repair", self.repair)]
        if drop.moved and check(drop.graph, push(drop.graph, drop.schedule, drop.moved)).legal:
            buttons.append(("Push", self.push))
        buttons.append(("Undo", self._document.undo_stack.undo))
        self._say(Severity.WARNING, text, *buttons)

    def _on_answer(self, job: Job, answer: Repaired) -> None:
        if job is self._job:
            self._answer = answer

    def _on_ended(self, job: Job, drop: Dropped, ending: Ending) -> None:
        if job is not self._job:
            return
        self.dismiss()
        answer = self._answer
        if ending.outcome in (Outcome.FAILED, Outcome.CRASHED):
            details = "\n".join(part for part in (ending.message, ending.traceback) if part)
            copy = ("Copy details", lambda: QGuiApplication.clipboard().setText(details))
            self._say(Severity.ERROR, f"The repair ended with an internal error: {ending.message}", copy)
        elif answer is None or answer.verdict is Verdict.UNKNOWN:
            self._say_unknown(cancelled=ending.outcome is Outcome.CANCELLED)
        elif answer.schedule is None:
            self._say_impossible(drop, answer)
        elif job.revision == self._document.revision:
            self._apply(job.schedule_name, answer)
        else:
            use = ("Use it", lambda: self._apply(job.schedule_name, answer))
            text = f"{_sentence(answer)} This is for the schedule as it was before your last changes."
            self._say(Severity.NOTE, text, use)
        self.busy_changed.emit()

    def _apply(self, name: str, answer: Repaired) -> None:
        """One undo step, and its reasons in a message."""
        schedule = answer.schedule
        state = self._document.state
        if schedule is None or state is None or name not in state.variants:
            return
        moved = f": moves {_named(answer.moved)}" if answer.moved else ""
        text = _sentence(answer) + _grants(state.variants[name].schedule, schedule)
        self._document.edit(f"Repair{moved}", lambda state: with_schedule(state, name, schedule))
        self._say(Severity.NOTE, text, ("Undo", self._document.undo_stack.undo))

    def _say_impossible(self, drop: Dropped, answer: Repaired) -> None:
        pinned = [op for op in drop.moved if _contradicts(drop.graph.pins.get(op), drop.schedule.ops[op])]
        by = "a rule by itself" if answer.stages == 0 else "proved by one solver"
        text = f"Impossible ({by}): no schedule with II {drop.schedule.ii} has {_where(drop)}."
        if pinned:
            text = f"Impossible: {_named(tuple(pinned))} {'are' if len(pinned) > 1 else 'is'} pinned elsewhere."
        self._say(Severity.WARNING, text, ("Undo", self._document.undo_stack.undo))
        if drop.moved and not pinned:
            self.why_asked.emit(moved_there(drop.schedule.ii, drop.places))

    def _say_unknown(self, *, cancelled: bool) -> None:
        text = "The repair was cancelled." if cancelled else "No repair was found in time; there may be one."
        longer = (f"Try for {LONGER_S:.0f} s", lambda: self.repair(LONGER_S))
        self._say(Severity.NOTE, text, longer, ("Undo", self._document.undo_stack.undo))

    def _say(self, severity: Severity, text: str, *buttons: tuple[str, Callable[[], object]]) -> None:
        self._offered = True
        pressed = tuple((label, _without_result(action)) for label, action in buttons)
        self.message.emit(Message(TOPIC, severity, text, pressed))

    def _edit(self, text: str, change: Callable[[Schedule], Schedule]) -> None:
        def changed(state: ProjectState) -> ProjectState:
            old = state.variant.schedule
            new = change(old) if old is not None else None
            return state if new is None or new == old else with_schedule(state, state.active, new)

        self._document.edit(text, changed)


def _without_result(action: Callable[[], object]) -> Callable[[], None]:
    def press() -> None:
        action()

    return press


def _named(ops: tuple[str, ...]) -> str:
    """A few ops by name, and how many others."""
    return listed(list(ops)) if len(ops) <= 3 else f"{', '.join(ops[:3])} and {len(ops) - 3} more"


def _contradicts(pin: Pin | None, place: Placement) -> bool:
    return pin is not None and (pin.start not in (None, place.start) or pin.group not in (None, place.group))


def _grants(before: Schedule | None, after: Schedule) -> str:
    """What else a repair has changed: registers of groups."""
    old = before.groups if before is not None else {}
    changed = [name for name, group in after.groups.items() if name in old and old[name].grant != group.grant]
    words = [
        f"{name} has {after.groups[name].grant} registers a thread instead of {old[name].grant}" for name in changed
    ]
    return f" {listed(words)}." if words else ""


def _where(drop: Dropped) -> str:
    places = drop.schedule.ops
    where = [f"{op} at cycle {places[op].start} on {places[op].group}" for op in drop.moved[:3]]
    return " and ".join(where) or "its groups"


def _sentence(answer: Repaired) -> str:
    """What was moved, and what is proved of it."""
    if not answer.moved:
        return "Repaired: no other operation had to move."
    few = "no fewer would do" if answer.count.proved else "fewer may do"
    text = f"Repaired by moving {listed(list(answer.moved))} ({len(answer.moved)}, {few})"
    text += f", by {counted(answer.movement.value, 'cycle')} in all."
    if answer.later:
        text += f" Everything starts {counted(answer.later, 'interval')} later."
    return text
