"""The least initiation interval: arithmetic bound, bracket, bisection, and the proof that one less is impossible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from core.graph.model import Graph
from core.schedule.model import Schedule
from core.solve.decide import CP_SAT, Decider, Decision
from core.solve.events import Event, Incumbent, SolveOptions, Step, TrailEntry, Verdict
from core.solve.problem import make_problem

QUICK_WORK = 8.0
"""Deterministic work of one run where a wrong "no" costs only time."""
PROOF_WORK = 1e6
"""Deterministic work of one run that has to prove: the clock is the limit."""


@dataclass(slots=True)
class Search:
    """What is known of II: `lower` is proved, `schedule` (at `upper`) accepted by the judge; `greatest` is the last II
    that is asked for."""

    decider: Decider
    options: SolveOptions
    emit: Callable[[Event], None]
    greatest: int = 0
    lower: int = 1
    upper: int | None = None
    schedule: Schedule | None = None
    trail: list[TrailEntry] = field(default_factory=list[TrailEntry])

    def run(self) -> None:
        """Narrows `lower` and `upper` until they meet, no II is left up to the greatest asked, or time is over."""
        bounds = self.decider.arithmetic.bounds()
        self.greatest = self.options.max_ii or 4 * (bounds.min_ii or 1)
        if self.options.ii is not None:
            self.greatest = self.options.ii
            self._take(self.decider.thorough(self.options.ii, PROOF_WORK))
            return
        self.lower = self.greatest + 1 if bounds.lower_bound is None else max(1, bounds.lower_bound)
        if bounds.certificates:
            refuted = min(self.lower - 1, self.greatest)
            by = bounds.certificates[0].family.value
            self._record(TrailEntry(refuted, Verdict.INFEASIBLE, self.decider.clock.seconds(), by))
        self._bracket()
        if monotone(self.decider.problem.graph):
            self._close()
        else:
            self._step()

    def _step(self) -> None:
        """Where a wider interval may be impossible although this one is not, every one below the best is decided.

        All of those that a monotone relaxation excludes are excluded at once.
        """
        self._relax()
        for ii in range(self.lower, self.upper or self.greatest + 1):
            decision = self.decider.thorough(ii, PROOF_WORK)
            self._take(decision, raises_bound=self.lower == ii)
            if decision.schedule is not None or self.decider.clock.left() <= 0:
                return

    def _relax(self) -> None:
        graph = relaxed(self.decider.problem.graph)
        top = (self.upper or self.greatest + 1) - 1
        if not monotone(graph) or top < self.lower:
            return
        began, clock = self.decider.clock.seconds(), self.decider.clock
        relaxation = Search(
            Decider(make_problem(graph), clock, self.options.seed), replace(self.options, max_ii=top), lambda _: None
        )
        relaxation.run()
        if relaxation.lower > self.lower:
            self.lower = relaxation.lower
            horizon = relaxation.trail[-1].horizon
            self._record(
                TrailEntry(self.lower - 1, Verdict.INFEASIBLE, clock.seconds() - began, CP_SAT, horizon=horizon)
            )

    def _bracket(self) -> None:
        """Finds some feasible II quickly, from the bound upwards in growing steps."""
        for ii in _climb(self.lower, self.greatest):
            if ii < self.lower:
                continue
            self._take(self.decider.quick(ii, QUICK_WORK))
            if self.schedule is not None or self.decider.clock.left() <= 0:
                return

    def _close(self) -> None:
        """Bisects below the least feasible II found, then proves; what the proof finds feasible starts it anew."""
        below = self.lower
        while self.decider.clock.left() > 0 and self.lower < (self.upper or self.greatest + 1):
            upper = self.upper or self.greatest + 1
            if below < upper - 1 and self.upper is not None:
                middle = (below + upper - 1) // 2
                decision = self.decider.quick(middle, QUICK_WORK)
                self._take(decision)
                below = max(self.lower, below if decision.schedule is not None else middle + 1)
                continue
            decision = self.decider.thorough(upper - 1, PROOF_WORK)
            self._take(decision)
            if decision.schedule is None:
                return
            below = self.lower

    def _take(self, decision: Decision, *, raises_bound: bool = True) -> None:
        entry = decision.entry
        if decision.schedule is not None:
            self.upper, self.schedule = entry.ii, decision.schedule
        elif decision.proved and raises_bound:
            self.lower = max(self.lower, entry.ii + 1)
        self._record(entry)
        if decision.schedule is not None:
            self.emit(Incumbent(decision.schedule, self.decider.clock.seconds()))

    def _record(self, entry: TrailEntry) -> None:
        self.trail.append(entry)
        self.emit(Step(entry, self.lower, self.upper))


def _climb(lower: int, greatest: int) -> Iterator[int]:
    """lower, then steps of about 2 % that double, and `greatest` last."""
    ii, step = lower, max(1, lower // 50)
    while ii < greatest:
        yield ii
        ii, step = ii + step, 2 * step
    if lower <= greatest:
        yield greatest


def monotone(graph: Graph) -> bool:
    """Whether a schedule for one II gives one for the next (same stages and slots): with pinned starts, blocks that
    begin after their op, or delays it need not."""
    pinned = any(pin.start is not None for pin in graph.pins.values())
    late = any(op.queue or any(block.offset for block in op.blocks) for op in graph.ops.values())
    return not pinned and not late


def relaxed(graph: Graph) -> Graph:
    """The graph without pinned starts and without blocks that begin after their op: what it excludes, all exclude."""
    pins = {name: replace(pin, start=None) for name, pin in graph.pins.items()}
    ops = {
        name: replace(op, blocks=tuple(block for block in op.blocks if not block.offset))
        for name, op in graph.ops.items()
    }
    return replace(graph, ops=ops, pins=pins)
