"""A schedule in small cycles brought to raw ones: groups and every order stay as they are, the times follow.

Rounded costs say nothing of raw cycles, but they have decided which group runs an op and what comes before what, on
the group and on each unit. That is what a kernel is made of; the hardware finds the times by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from core.graph.model import DependenceKind, Graph, InOrderIssue, Space
from core.schedule.index import GraphIndex
from core.schedule.model import Placement, Schedule
from core.schedule.paths import Arc
from core.solve.paper.result import with_least_grants


@dataclass(frozen=True, slots=True)
class _Interval:
    """What the op with this number keeps busy: begin and rank order it in small cycles, offset and duration are raw."""

    op: int
    begin: int
    rank: int
    offset: int
    duration: int


def retimed(graph: Graph, small: Graph, schedule: Schedule, at_least: int) -> Schedule | None:
    """The schedule of `small` with the cycles of `graph`, at the least II >= `at_least` that its order allows.

    None if none does: small cycles of 0 can hide an order that contradicts itself, or the schedule breaks a
    dependence. Starts stay near to where stretching puts them, never before. What the order does not fix, registers
    and memory, is for the judge.
    """
    index = GraphIndex(graph)
    ranks = _ranks(index)
    arcs = [
        *_dependence_arcs(index, schedule),
        *_unit_arcs(index, small, schedule, ranks),
        *_issue_arcs(index, schedule, ranks),
    ]
    low, high = at_least, max(at_least, sum(max(arc.latency, 0) for arc in arcs))
    if _starts(arcs, [0] * len(graph.ops), high) is None:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _starts(arcs, [0] * len(graph.ops), middle) is None else (low, middle)
    stretched = [schedule.ops[op].start * high // schedule.ii for op in graph.ops]
    starts = _starts(arcs, stretched, high) or stretched
    first = min(starts)
    ops = {op: Placement(starts[n] - first, schedule.ops[op].group) for n, op in enumerate(graph.ops)}
    return with_least_grants(graph, Schedule(high, schedule.groups, ops, origin=schedule.origin))


def _starts(arcs: Sequence[Arc], not_before: Sequence[int], ii: int) -> list[int] | None:
    """The least starts that satisfy the arcs at this II; None if there are none (Bellman and Ford)."""
    starts = list(not_before)
    for _ in range(len(starts) + 1):
        changed = False
        for source, target, latency, distance in arcs:
            reached = starts[source] + latency - ii * distance
            if reached > starts[target]:
                starts[target], changed = reached, True
        if not changed:
            return starts
    return None


def _dependence_arcs(index: GraphIndex, schedule: Schedule) -> Iterator[Arc]:
    for d in index.graph.dependences:
        source = index.graph.ops[d.source]
        crosses = schedule.ops[d.source].group != schedule.ops[d.target].group
        hands_off = crosses and d.kind is DependenceKind.FLOW and source.result.space is Space.REGISTERS
        latency = d.latency + (source.hand_off_cycles if hands_off else 0)
        yield Arc(index.numbers[d.source], index.numbers[d.target], latency, d.distance)


def _unit_arcs(index: GraphIndex, small: Graph, schedule: Schedule, ranks: Sequence[int]) -> Iterator[Arc]:
    """What excludes one another on a unit stays in the order that it has."""
    graph = index.graph
    for unit, capacity in graph.machine.units.items():
        blocks = [
            (
                block.amount,
                _Interval(n, schedule.ops[name].start + before.offset, ranks[n], block.offset, block.duration),
            )
            for n, name in enumerate(graph.ops)
            for block, before in zip(graph.ops[name].blocks, small.ops[name].blocks, strict=True)
            if block.unit == unit
        ]
        yield from (Arc(one.op, one.op, one.duration, 1) for amount, one in blocks if 2 * amount > capacity)
        for (amount, one), (other_amount, other) in combinations(blocks, 2):
            if amount + other_amount > capacity:
                yield from _in_order(one, other, schedule.ii)


def _issue_arcs(index: GraphIndex, schedule: Schedule, ranks: Sequence[int]) -> Iterator[Arc]:
    """The same for what excludes one another on a group."""
    rule = index.graph.rules.in_order_issue
    if rule is InOrderIssue.OFF:
        return
    issues = [
        (name, _Interval(n, schedule.ops[name].start, ranks[n], 0, op.issue_cycles))
        for n, (name, op) in enumerate(index.graph.ops.items())
        if op.issue_cycles
    ]
    for name, one in issues:
        if rule is InOrderIssue.STRONG or name in index.waiting:
            yield Arc(one.op, one.op, one.duration, 1)
    for (name, one), (other_name, other) in combinations(issues, 2):
        excluded = rule is InOrderIssue.STRONG or name in index.waiting or other_name in index.waiting
        if excluded and schedule.ops[name].group == schedule.ops[other_name].group:
            yield from _in_order(one, other, schedule.ii)


def _ranks(index: GraphIndex) -> Sequence[int]:
    """An order for what begins at one small cycle: that of the dependences within an iteration, then the text's."""
    numbers = index.numbers
    arcs = [Arc(numbers[d.source], numbers[d.target], 1, 0) for d in index.graph.dependences if not d.distance]
    depth = _starts(arcs, [0] * len(numbers), 0) or [0] * len(numbers)
    ordered = sorted(range(len(numbers)), key=lambda number: (depth[number], number))
    return [ordered.index(number) for number in range(len(numbers))]


def _in_order(one: _Interval, other: _Interval, ii: int) -> Iterator[Arc]:
    """`other` of the first iteration in which it begins after `one`, and `one` of the next iteration after that."""
    iterations = -((other.begin - one.begin) // ii)
    if other.begin + iterations * ii == one.begin and other.rank < one.rank:
        iterations += 1
    yield Arc(one.op, other.op, one.offset + one.duration - other.offset, iterations)
    yield Arc(other.op, one.op, other.offset + other.duration - one.offset, 1 - iterations)
