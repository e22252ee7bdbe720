"""Slack: where an op may start while all others stay where they are, on each warp group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.graph.model import Dependence, Graph
from core.schedule.check_groups import check_groups, check_roles, check_variable_latency
from core.schedule.check_timing import check_pins, required_gap
from core.schedule.edits import move_op
from core.schedule.index import GraphIndex
from core.schedule.liveness import index_live_ranges
from core.schedule.model import Schedule
from core.schedule.report import Violation


@dataclass(frozen=True, slots=True)
class Window:
    """Starts of an op on `group` that its dependences allow: `earliest` to `latest` (None: no end).

    `earliest_by` and `latest_by` are the dependences that bind (None: cycle 0, a pinned start, or nothing does).
    `refusals`: why the group cannot hold the op at any start.
    """

    group: str
    earliest: int
    latest: int | None
    earliest_by: Dependence | None
    latest_by: Dependence | None
    refusals: tuple[Violation, ...]

    @property
    def slack(self) -> int | None:
        """Cycles between the ends (negative: no start meets all dependences); None without an end."""
        return None if self.latest is None else self.latest - self.earliest

    @property
    def possible(self) -> bool:
        """Some start on this group breaks neither a dependence nor a rule about groups."""
        return not self.refusals and (self.latest is None or self.earliest <= self.latest)


def windows(graph: Graph, schedule: Schedule, op: str) -> dict[str, Window]:
    """The window of `op` on every group of the schedule. Raises KeyError for an unknown op."""
    index = GraphIndex(graph)
    return {group: _window(index, schedule, op, group) for group in schedule.groups}


def _window(index: GraphIndex, schedule: Schedule, op: str, group: str) -> Window:
    earliest, earliest_by = 0, None
    for dependence in index.incoming[op]:
        if dependence.source != op:
            source = schedule.ops[dependence.source]
            gap = required_gap(index, dependence, source.group, group)
            bound = source.start + source.delay + gap - schedule.ii * dependence.distance
            if bound > earliest:
                earliest, earliest_by = bound, dependence
    latest, latest_by = None, None
    for dependence in index.outgoing[op]:
        if dependence.target != op:
            target = schedule.ops[dependence.target]
            gap = required_gap(index, dependence, group, target.group)
            bound = target.start + schedule.ii * dependence.distance - gap - schedule.ops[op].delay
            if latest is None or bound < latest:
                latest, latest_by = bound, dependence
    pin = index.graph.pins.get(op)
    if pin and pin.start is not None:
        if pin.start >= earliest:
            earliest, earliest_by = pin.start, None
        if latest is None or pin.start <= latest:
            latest, latest_by = pin.start, None
    return Window(group, earliest, latest, earliest_by, latest_by, tuple(_refusals(index, schedule, op, group)))


def _refusals(index: GraphIndex, schedule: Schedule, op: str, group: str) -> Iterator[Violation]:
    """What the judge would say of the op on this group, whatever its start."""
    pin = index.graph.pins.get(op)
    start = schedule.ops[op].start if pin is None or pin.start is None else pin.start
    moved = move_op(schedule, op, start, group)
    live = index_live_ranges(index, moved)
    for violation in (
        *check_variable_latency(index, moved),
        *check_groups(index, moved),
        *check_roles(index, moved, live),
        *check_pins(index, moved),
    ):
        if op in violation.ops:
            yield violation
