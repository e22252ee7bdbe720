"""What would make possible what is asked: single changes with their size, and the fewest pins to give up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from core.explain.answer import Highlight, Relaxation
from core.explain.axes import Axis, axis_of, latency_axes, queue_axis
from core.explain.clock import Clock, Solver
from core.explain.constraints import Constraint, Topic, may_hold
from core.explain.cores import Found
from core.explain.decisions import Decisions
from core.explain.minimal import minimal_subset
from core.explain.prober import Prober
from core.explain.question import Question
from core.graph.model import InOrderIssue
from core.schedule.bounds import SEARCH_FACTOR
from core.schedule.wording import listed
from core.solve.events import Status, Verdict

_LATENCIES = 4
"""Ops whose latency is tried."""


@dataclass(frozen=True, slots=True)
class Relaxations:
    """Looks for changes that make one question possible. What can help at all follows from the cores: a change that
    leaves one of them as it is does not.

    `cores` are those found so far, `change_s` the seconds for one change.
    """

    question: Question
    decisions: Decisions
    cores: Sequence[Found]
    solver: Solver
    clock: Clock
    change_s: float

    def find(self) -> Iterator[Relaxation]:
        """The changes as they are found, latencies aside."""
        yield from self._interval()
        for constraint in dict.fromkeys(c for core in self.cores for c in core.constraints):
            if constraint.topic not in (Topic.PIN, Topic.DEPENDENCES):
                yield from self._of(constraint)
        yield from self._pins()
        yield from self._queue()

    def latencies(self) -> Iterator[Relaxation]:
        """Shorter latencies of single ops, if dependences are part of every core: of those along them that take
        longest."""
        if not self._always(Topic.DEPENDENCES):
            return
        found = [c for core in self.cores for c in core.constraints if c.topic is Topic.DEPENDENCES]
        ops, graph = dict.fromkeys(d.source for c in found for d in c.dependences), self.question.graph
        longest = sorted((op for op in ops if graph.ops[op].latency), key=lambda op: -graph.ops[op].latency)
        for axis in latency_axes(graph, longest[:_LATENCIES]):
            yield from (relaxation for relaxation in self._along(axis) if relaxation.new is not None)

    def _interval(self) -> Iterator[Relaxation]:
        ii, greatest = self.question.ii, SEARCH_FACTOR * self.question.ii
        result = self.solver.least_ii(self.question.graph, self.clock.part(self.change_s), greatest)
        if result is None or result.status is Status.UNKNOWN:
            return
        if result.ii is None:
            yield Relaxation("ii", None, ii, None, True, f"no II from {ii} to {greatest} is possible")
        elif result.ii > ii:
            # With pinned starts a smaller interval may be possible where a larger one is not.
            least = result.proved_lower_bound >= result.ii
            yield Relaxation("ii", None, ii, result.ii, least, f"II {result.ii} instead of {ii}")

    def _of(self, constraint: Constraint) -> Iterator[Relaxation]:
        """What the constraint's number, or else the rule itself, would have to be."""
        without = self.decisions.verdict(self.decisions.without([constraint]), self.clock)
        axis = axis_of(self.question.graph, constraint, self.question.ii)
        if axis is not None and without is Verdict.INFEASIBLE:
            yield _not_enough(axis)
        elif axis is not None and without is Verdict.FEASIBLE:
            yield from self._along(axis)
        elif without is Verdict.FEASIBLE:
            yield from self._rule(constraint)

    def _rule(self, constraint: Constraint) -> Iterator[Relaxation]:
        match constraint.topic:
            case Topic.ISSUE:
                old = self.question.graph.rules.in_order_issue.value
                off = InOrderIssue.OFF.value
                yield Relaxation(
                    "issue rule",
                    None,
                    old,
                    off,
                    True,
                    f"ops of one group issued at the same time (rule in_order_issue: {off} instead of {old})",
                )
            case Topic.NO_HAND_OFF:
                yield Relaxation("hand-offs", None, "forbidden", "allowed", True, "register values may cross groups")
            case Topic.MATRIX_ROLE:
                sentence = "matrix ops and synchronous ones may share a group"
                yield Relaxation("matrix issue", None, "isolated", "shared", True, sentence)
            case _:
                return

    def _along(self, axis: Axis) -> Iterator[Relaxation]:
        """The least number of steps that is enough, by bisection: 0 steps are not."""
        clock = self.clock.part(self.change_s)
        low, high, proved = 0, axis.steps + 1, True
        probe = axis.steps if axis.first is None else min(axis.first, axis.steps)
        while high - low > 1 and clock.left():
            verdict, schedule = self.solver.ask(axis.apply(probe), self.question.ii, clock)
            if schedule is not None:
                high = probe if axis.enough is None else min(probe, max(low + 1, axis.enough(schedule)))
            else:
                low = probe
                proved = proved and verdict is Verdict.INFEASIBLE
            probe = (low + high) // 2 if high <= axis.steps else min(max(2 * low, 1), axis.steps)
        if high <= axis.steps:
            yield _enough(axis, high, proved and high - low == 1)
        elif proved and low == axis.steps:
            yield _not_enough(axis)

    def _queue(self) -> Iterator[Relaxation]:
        """Asynchronous ops may be issued before their unit is free: where that alone helps, the model of whole tiles
        is too strict rather than the machine too small."""
        axis = queue_axis(self.question.graph, self.question.ii)
        if axis is not None and any(c.topic is Topic.UNIT for core in self.cores for c in core.constraints):
            yield from (found for found in self._along(axis) if found.new is not None)

    def _always(self, topic: Topic) -> bool:
        """Whether every core has a constraint of this kind: else changing some of these is not enough."""
        return all(any(c.topic is topic for c in core.constraints) for core in self.cores)

    def _pins(self) -> Iterator[Relaxation]:
        """The fewest pins to give up: a set that meets every core, found one core after the other."""
        pins = [c for c in self.decisions.constraints if c.topic is Topic.PIN]
        if not pins or not self._always(Topic.PIN):
            return
        clock = self.clock.part(self.change_s)
        others = self.decisions.without(pins)
        if self.decisions.verdict(others, clock) is not Verdict.FEASIBLE:
            return
        to_meet = [[c for c in core.constraints if c.topic is Topic.PIN] for core in self.cores]
        while clock.left():
            given_up = _fewest(to_meet)
            verdict = self.decisions.verdict(self.decisions.without(given_up), clock)
            if verdict is Verdict.FEASIBLE:
                yield self._unpinned(given_up)
                return
            if verdict is Verdict.UNKNOWN:
                return
            left = [pin for pin in pins if pin not in given_up]
            to_meet.append(minimal_subset(others, left, lambda kept: self.decisions.excludes(kept, clock)))

    def _unpinned(self, pins: Sequence[Constraint]) -> Relaxation:
        ops = [pin.subject for pin in pins]
        staying = all(op in self.question.staying for op in ops)
        sentence = f"{listed(ops)} on another group" if staying else f"{listed(ops)} without a pin"
        return Relaxation("pins", listed(ops), "pinned", "free", True, sentence, Highlight(tuple(ops)))


def other_groups(question: Question, prober: Prober, clock: Clock) -> Iterator[Relaxation]:
    """Kinds of groups that may hold the op asked about, instead of the one that is asked for, where that is possible
    with all else as it is asked."""
    assert question.group is not None
    (name,), (asked, _) = question.asked, question.group
    op, pins = question.graph.ops[name], question.graph.pins
    for kind in question.graph.groups:
        if not may_hold(kind, op):
            continue
        # A group of this kind only: one of at least its warps.
        placed = {**question.graph.ops, name: replace(op, needs_warps=max(op.needs_warps, kind.warps))}
        graph = replace(question.graph, ops=placed, pins={**pins, name: replace(pins[name], group=None)})
        if prober.verdict(graph, clock) is Verdict.FEASIBLE:
            sentence = f"{name} on a {kind.kind} group instead of {asked}"
            yield Relaxation("group", name, asked, kind.kind, True, sentence, Highlight((name,), groups=(kind.kind,)))


def _fewest(sets: Iterable[Sequence[Constraint]]) -> tuple[Constraint, ...]:
    """A smallest set that meets all of these."""
    wanted = [set(one) for one in sets]
    items = list(dict.fromkeys(item for one in sets for item in one))
    return next(
        chosen
        for size in range(len(items) + 1)
        for chosen in combinations(items, size)
        if all(one & set(chosen) for one in wanted)
    )


def _enough(axis: Axis, k: int, least: bool) -> Relaxation:
    value = axis.value(k)
    words = axis.change.format(value, axis.subject)
    return Relaxation(axis.what, axis.subject, axis.old, value, least, f"{words} instead of {axis.old}", axis.highlight)


def _not_enough(axis: Axis) -> Relaxation:
    return Relaxation(axis.what, axis.subject, axis.old, None, True, axis.never, axis.highlight)


def by_size(relaxation: Relaxation) -> tuple[bool, float]:
    """Sorts the smallest change relative to what is there first, rules after numbers, what is not enough last."""
    old, new = relaxation.old, relaxation.new
    if isinstance(old, int) and isinstance(new, int):
        return False, abs(new - old) / max(old, 1)
    return new is None, float("inf")
