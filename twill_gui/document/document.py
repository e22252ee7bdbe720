"""The open project: its state, the selection, undo, and what the judge says of the shown schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from core.graph.model import Graph
from core.schedule.bounds import Bounds, bounds
from core.schedule.check import Judge, check
from core.schedule.compare import compare
from core.schedule.model import Schedule
from core.schedule.report import Report
from twill_gui.document.records import Record
from twill_gui.document.state import EVERYTHING, Change, Location, ProjectState, difference, with_record

_MERGEABLE = 1


class Document(QObject):
    """Owner of the one ProjectState. It changes by `open`, `close` and `edit` only; views read and listen.

    `revision` grows with every change, so that a job's result can be held against the state it belongs to.
    """

    changed = Signal(object)  # Change
    selection_changed = Signal(object)  # frozenset[str] of op ids
    located = Signal()  # the project was opened, saved or closed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        self._state: ProjectState | None = None
        self._location: Location | None = None
        self._kept: ProjectState | None = None
        self._completed: list[tuple[Record, Record | None]] = []
        self._selection: frozenset[str] = frozenset()
        self._judge: Judge | None = None
        self._report: Report | None = None
        self._others: dict[str, _Judged] = {}
        self._bounds: Bounds | None = None
        self._revision = 0

    @property
    def state(self) -> ProjectState | None:
        """The open project, or None."""
        return self._state

    @property
    def kept(self) -> ProjectState | None:
        """The project as it is on disk: as it was opened or last saved."""
        return self._kept

    @property
    def graph(self) -> Graph | None:
        """The graph shown."""
        return self._state.variant.graph if self._state else None

    @property
    def schedule(self) -> Schedule | None:
        """The schedule shown, None before the first solve."""
        return self._state.variant.schedule if self._state else None

    @property
    def report(self) -> Report | None:
        """The judge's verdict on the schedule shown."""
        return self._report

    @property
    def other_reports(self) -> Mapping[str, Report]:
        """The judge's verdicts on the schedules of the kernel's other loops, by name; empty if there is one loop."""
        return {name: judged.report for name, judged in self._others.items()}

    @property
    def bounds(self) -> Bounds | None:
        """The lower bounds on II of the graph shown."""
        return self._bounds

    @property
    def selection(self) -> frozenset[str]:
        """Ids of the selected ops."""
        return self._selection

    @property
    def revision(self) -> int:
        """Counts the changes; what a solve tells later of itself is none."""
        return self._revision

    @property
    def modified(self) -> bool:
        """Whether there is something to save."""
        return not self.undo_stack.isClean()

    def open(self, state: ProjectState) -> None:
        """Shows another project; nothing of the old one can be undone."""
        self._forget()
        self._location, self._kept = state.location, state
        self._set_state(state, EVERYTHING)
        self.located.emit()

    def close(self) -> None:
        """Shows nothing."""
        self._forget()
        self._location = self._kept = None
        self._set_state(None, EVERYTHING)
        self.located.emit()

    def saved(self, state: ProjectState) -> None:
        """The project has been saved as `state`, which differs from the present one in its location at most."""
        self._location, self._kept = state.location, state
        self._state = state
        self.undo_stack.setClean()
        self.located.emit()

    def edit(self, text: str, change: Callable[[ProjectState], ProjectState], merge: str | None = None) -> None:
        """One undo step, named `text` for the user. Successive edits of the schedule with the same `merge` key become
        one step, and none if they end where they began.

        `change` is a pure function; an edit that changes nothing is no step.
        """
        if self._state is None:
            return
        after = change(self._state)
        if after != self._state:
            self.undo_stack.push(_Edit(self, text, self._state, after, merge))

    def complete_record(self, first: Record, whole: Record | None) -> None:
        """The solve that `first` tells of has ended with more to tell, or (None) has taken its claims back: every state
        of the undo history that has `first` has the other from now on. No undo step; what was saved with `first` counts
        as changed."""
        if self._state is None:
            return
        self._completed.append((first, whole))
        before, self._state = self._state, with_record(self._state, first, whole)
        if self._kept is not None and with_record(self._kept, first, whole) is not self._kept:
            self.undo_stack.resetClean()
        if self._state is not before:
            self.changed.emit(Change.SCHEDULES)

    def select(self, ops: frozenset[str]) -> None:
        """Selects the ops of the graph shown; unknown ids are left out."""
        known = self._known(ops)
        if known != self._selection:
            self._selection = known
            self.selection_changed.emit(known)

    def restore(self, state: ProjectState) -> None:
        """Goes to a state of the undo history; for its commands only."""
        if self._state is None or self._location is None:
            raise RuntimeError("no project is open")
        state = state.at(self._location)
        for first, whole in self._completed:
            state = with_record(state, first, whole)
        self._set_state(state, difference(self._state, state))

    def _forget(self) -> None:
        self.undo_stack.clear()
        self._completed.clear()

    def _known(self, ops: frozenset[str]) -> frozenset[str]:
        return frozenset(op for op in ops if self.graph and op in self.graph.ops)

    def _judged_others(self) -> Iterator[tuple[str, _Judged]]:
        state = self._state
        for name in state.project.kernel_schedules if state else ():
            variant = state.variants[name] if state and name != state.active else None
            if variant is None or variant.schedule is None:
                continue
            known = self._others.get(name)
            if known is None or known.graph is not variant.graph or known.schedule is not variant.schedule:
                known = _Judged(variant.graph, variant.schedule, check(variant.graph, variant.schedule))
            yield name, known

    def _set_state(self, state: ProjectState | None, change: Change) -> None:
        self._state = state
        self._revision += 1
        if Change.GRAPH in change:
            self._judge = Judge(self.graph) if self.graph else None
            self._bounds = bounds(self.graph) if self.graph else None
        self._report = self._judge.check(self.schedule) if self._judge and self.schedule else None
        self._others = dict(self._judged_others())
        before, self._selection = self._selection, self._known(self._selection)
        self.changed.emit(change)  # views ask for the selection: it never holds an op of the graph before
        if self._selection != before:
            self.selection_changed.emit(self._selection)


@dataclass(frozen=True, slots=True)
class _Judged:
    graph: Graph
    schedule: Schedule
    report: Report


class _Edit(QUndoCommand):
    """From one state to the next. Both are frozen values that share what they have in common."""

    def __init__(
        self, document: Document, text: str, before: ProjectState, after: ProjectState, merge: str | None
    ) -> None:
        super().__init__(text)
        self._document = document
        self._before = before
        self._after = after
        self._merge = merge

    def redo(self) -> None:
        self._document.restore(self._after)

    def undo(self) -> None:
        self._document.restore(self._before)

    def id(self) -> int:
        return _MERGEABLE if self._merge else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Edit) or other._merge != self._merge:
            return False
        self._after = other._after
        if _same_schedule(self._before, self._after):
            self._document.restore(self._before)
            self.setObsolete(True)
        return True


def _same_schedule(before: ProjectState, after: ProjectState) -> bool:
    old, new = before.variant.schedule, after.variant.schedule
    return old is not None and new is not None and compare(old, new).empty
