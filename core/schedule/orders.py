"""The orders of a schedule as differences of starts: what must hold if they are to stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from core.graph.model import InOrderIssue
from core.schedule.check_timing import required_gap
from core.schedule.index import GraphIndex
from core.schedule.model import Placement, Schedule


class Difference(NamedTuple):
    """start(target) >= start(source) + cycles."""

    source: str
    target: str
    cycles: int


class Busy(NamedTuple):
    """What an op takes for `duration` cycles from `offset` after its start: `amount` of a unit, or (unit None) the
    issue of its group."""

    op: str
    unit: str | None
    offset: int
    duration: int
    amount: int


def order_differences(index: GraphIndex, schedule: Schedule) -> Iterator[Difference]:
    """Dependences between the groups where the ops are; and of any two that may not run together the order that they
    have within the interval, by their middles where they overlap."""
    ii = schedule.ii
    for d in index.graph.dependences:
        source, target = schedule.ops[d.source], schedule.ops[d.target]
        gap = required_gap(index, d, source.group, target.group)
        yield Difference(d.source, d.target, source.delay + gap - ii * d.distance)
    busy = [one for op, place in schedule.ops.items() for one in busy_times(index, op, place)]
    for one, other in combinations(busy, 2):
        if one.op != other.op and exclusive(index, schedule, one, other):
            yield from _in_order(one, other, schedule)


def busy_times(index: GraphIndex, op: str, place: Placement) -> Iterator[Busy]:
    """The blocks of an op, and its issue."""
    for block in index.graph.ops[op].blocks:
        if block.duration and block.amount:
            yield Busy(op, block.unit, place.delay + block.offset, block.duration, block.amount)
    if index.graph.ops[op].issue_cycles:
        yield Busy(op, None, 0, index.graph.ops[op].issue_cycles, 1)


def exclusive(index: GraphIndex, schedule: Schedule, one: Busy, other: Busy) -> bool:
    """Whether rule `unit` or `issue` keeps the two from running together."""
    if one.unit != other.unit:
        return False
    if one.unit is not None:
        return one.amount + other.amount > index.graph.machine.units[one.unit]
    if schedule.ops[one.op].group != schedule.ops[other.op].group:
        return False
    mode = index.graph.rules.in_order_issue
    waits = one.op in index.waiting or other.op in index.waiting
    return mode is InOrderIssue.STRONG or (mode is InOrderIssue.WEAK and waits)


def _in_order(one: Busy, other: Busy, schedule: Schedule) -> Iterator[Difference]:
    """The `other` that comes after `one` next, some intervals earlier or later, stays after it, and the next `one`
    after that."""
    ii = schedule.ii
    begin = schedule.ops[one.op].start + one.offset
    begin_other = schedule.ops[other.op].start + other.offset
    behind = 2 * begin_other + other.duration - 2 * begin - one.duration
    periods = -(behind // (2 * ii))
    yield Difference(one.op, other.op, one.offset + one.duration - other.offset - ii * periods)
    yield Difference(other.op, one.op, other.offset + other.duration - one.offset - ii * (1 - periods))
