"""The least initiation interval: arithmetic bound, bracket, bisection; where feasibility is not monotone, the exclusion
of whole ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from core.graph.model import Graph, Pin
from core.schedule.model import Schedule
from core.solve.decide import Decider, Decision
from core.solve.decompose import LARGE_FROM, SEARCHED_UP_TO, improving
from core.solve.events import Event, Incumbent, SolveOptions, Status, Step, TrailEntry, Verdict
from core.solve.problem import make_problem, monotone

DECOMPOSITION = "decomposition"

WORK_SHARE = 0.5
"""Part of the work left that one interval may take, so that one that is never decided leaves some for others."""

DEFAULT_FACTOR = 4
"""Intervals are asked for up to this multiple of the least lower bound, unless the options say."""


@dataclass(slots=True)
class Search:
    """What is known of II: every one below `lower` is excluded, `schedule` (at `upper`) is accepted by the judge;
    `greatest` is the last II that is asked for."""

    decider: Decider
    options: SolveOptions
    emit: Callable[[Event], None]
    greatest: int = 0
    lower: int = 1
    upper: int | None = None
    schedule: Schedule | None = None
    trail: list[TrailEntry] = field(default_factory=list[TrailEntry])

    @property
    def _open(self) -> bool:
        """Whether an interval below the best is left to be decided, and something to decide it with."""
        return self.lower < (self.upper or self.greatest + 1) and not self.decider.budget.spent

    @property
    def status(self) -> Status:
        """What `lower` and `upper` say of the least II, or the trail of the only one that was asked for."""
        if self.upper is not None:
            return Status.OPTIMAL if self.lower >= self.upper else Status.FEASIBLE
        asked = self.trail[-1].verdict if self.options.ii is not None and self.trail else Verdict.UNKNOWN
        excluded = self.lower > self.greatest or asked is Verdict.INFEASIBLE
        return Status.INFEASIBLE if excluded else Status.UNKNOWN

    def run(self) -> None:
        """Narrows `lower` and `upper` until they meet, no II is left up to the greatest asked, or the budget is
        spent."""
        self._bound()
        if not self._open:
            return
        large = len(self.decider.problem.graph.ops) >= LARGE_FROM
        if self.options.ii is not None:
            if large:
                self._improve(self.options.ii)
            if self._open and self.schedule is None:
                self._take(self.decider.decide(self.options.ii))
                self._exclude_below(self.options.ii)
        elif self.decider.problem.pinned_starts:
            self._step()
        else:
            if large:
                self._improve(self.lower)
            if self.upper is None:
                self._bracket()
            elif len(self.decider.problem.graph.ops) > SEARCHED_UP_TO:
                return
            self._narrow()
            if self._open and self.upper is None and not large:
                self._improve(self.lower)

    def _exclude_below(self, ii: int) -> None:
        """Where feasibility is not monotone, an interval that is excluded says nothing of those below it: tries to
        exclude them with it."""
        if self.trail[-1].verdict is Verdict.INFEASIBLE and self.lower <= ii and not self.decider.problem.pinned_starts:
            entry = self.decider.exclude(self.lower, ii, WORK_SHARE * self.decider.budget.work)
            if entry.verdict is Verdict.INFEASIBLE:
                self.lower = ii + 1
                self._record(entry)

    def _improve(self, lowest: int) -> None:
        """Schedules at smaller and smaller intervals that prove nothing of those below."""
        budget, began = self.decider.budget, self.decider.budget.seconds()
        for schedule in improving(self.decider.problem, lowest, budget, self.decider.seed):
            if schedule.ii <= self.greatest:
                entry = TrailEntry(schedule.ii, Verdict.FEASIBLE, budget.seconds() - began, DECOMPOSITION)
                self._take(Decision(entry, schedule))
            began = budget.seconds()

    def _bound(self) -> None:
        bounds = self.decider.arithmetic.bounds()
        self.greatest = self.options.ii or self.options.max_ii or DEFAULT_FACTOR * (bounds.min_ii or 1)
        self.lower = self.greatest + 1 if bounds.lower_bound is None else max(1, bounds.lower_bound)
        if bounds.certificates:
            by = bounds.certificates[0].family.value
            refuted = min(self.lower - 1, self.greatest)
            self._record(TrailEntry(refuted, Verdict.INFEASIBLE, self.decider.budget.seconds(), by))

    def _bracket(self) -> None:
        """Finds some feasible II: the bound, else the greatest (which often shows that there is none), then from the
        bound upwards in growing steps."""
        for ii in (self.lower, self.greatest, *_climb(self.lower, self.greatest)):
            if not self._open:
                return
            if self.lower <= ii < (self.upper or self.greatest + 1):
                self._probe(ii)
                if self.upper == ii < self.greatest:
                    return

    def _narrow(self) -> None:
        """Bisects; where an interval turns out impossible although those below it could not be excluded with it,
        they are halved until they can."""
        highest = (self.upper or self.greatest + 1) - 1
        while self._open:
            ii, known = (self.lower + highest) // 2, (self.lower, self.upper)
            self._probe(ii)
            if self.trail[-1].verdict is Verdict.UNKNOWN:
                return
            highest = ii if known == (self.lower, self.upper) else (self.upper or self.greatest + 1) - 1

    def _probe(self, ii: int) -> None:
        """Excludes all from `lower` to `ii`, or decides `ii`."""
        decision = None
        if ii > self.lower and not monotone(self.decider.problem.graph):
            if self.upper is None and ii == self.greatest:
                # Mostly possible, and then to decide it is quick; that it cannot be excluded may take long to see.
                decision = self.decider.decide(ii, WORK_SHARE * self.decider.budget.work, guess=True)
            if decision is None or decision.schedule is None:
                entry = self.decider.exclude(self.lower, ii, WORK_SHARE * self.decider.budget.work)
                if entry.verdict is not Verdict.FEASIBLE:
                    if entry.verdict is Verdict.INFEASIBLE:
                        self.lower = ii + 1
                    self._record(entry)
                    return
        if decision is None:
            guess = self.upper is None and ii in (self.lower, self.greatest)
            work = WORK_SHARE * self.decider.budget.work
            decision = self.decider.decide(ii, work, guess=guess, near=self.schedule)
        self._take(decision)

    def _step(self) -> None:
        """With pinned starts: every interval in turn, above those that are impossible even without them."""
        free = make_problem(_without_pinned_starts(self.decider.problem.graph))
        options = replace(self.options, max_ii=self.greatest)
        search = Search(Decider(free, self.decider.budget, self.decider.seed), options, _ignore)
        search.run()
        if search.lower > self.lower:
            self.lower = search.lower
            entry = next(e for e in reversed(search.trail) if e.verdict is Verdict.INFEASIBLE)
            self._record(replace(entry, ii=self.lower - 1))
        while self._open:
            self._skip()
            if not self._open:
                return
            decision = self.decider.decide(self.lower)
            self._take(decision)
            if decision.entry.verdict is not Verdict.INFEASIBLE:
                return

    def _skip(self) -> None:
        """Excludes as many of the next intervals as arithmetic does."""
        began, first, by = self.decider.budget.seconds(), self.lower, ""
        while self._open and (found := self.decider.arithmetic.certificates(self.lower)):
            by = found[0].family.value
            self.lower += 1
        if by:
            seconds = self.decider.budget.seconds() - began
            self._record(TrailEntry(self.lower - 1, Verdict.INFEASIBLE, seconds, by, lowest=first))

    def _take(self, decision: Decision) -> None:
        entry = decision.entry
        if decision.schedule is not None:
            self.upper, self.schedule = entry.ii, decision.schedule
            self.emit(Incumbent(decision.schedule, self.decider.budget.seconds()))
        elif entry.verdict is Verdict.INFEASIBLE and (entry.ii == self.lower or monotone(self.decider.problem.graph)):
            self.lower = entry.ii + 1
        self._record(entry)

    def _record(self, entry: TrailEntry) -> None:
        self.trail.append(entry)
        self.emit(Step(entry, self.lower, self.upper))


def _climb(lower: int, greatest: int) -> Iterator[int]:
    """Above `lower` in steps of about 2 % that double, below `greatest`."""
    step = max(1, lower // 50)
    ii = lower + step
    while ii < greatest:
        yield ii
        step *= 2
        ii += step


def _without_pinned_starts(graph: Graph) -> Graph:
    pins = {op: Pin(group=pin.group) for op, pin in graph.pins.items() if pin.group is not None}
    return replace(graph, pins=pins)


def _ignore(event: Event) -> None:
    """A search within a search speaks for itself."""
