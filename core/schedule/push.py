"""Push: what depends on an op makes room for it, and nothing else moves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from core.graph.model import Graph
from core.schedule.check_timing import required_gap
from core.schedule.circle import peak, profile
from core.schedule.edits import USER
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule
from core.schedule.orders import Busy, busy_times, exclusive


def push(graph: Graph, schedule: Schedule, ops: Collection[str]) -> Schedule:
    """The schedule, in which `ops` have been put where they are, with the ops that depend on them later by as much as
    dependences need, and past what is in their way on units and in the issue of their groups.

    Pinned starts stay. Other ops stay too, so what else the ops break where they are put stays broken, and live ranges
    may become too long. Raises KeyError for an unknown op.
    """
    index = GraphIndex(graph)
    pinned = {op for op, pin in graph.pins.items() if pin.start is not None}
    movable = _descendants(index, ops) - set(ops) - pinned
    for _ in range(len(graph.ops) + 1):
        pushed = _pushed_once(index, schedule, movable)
        if pushed.ops == schedule.ops:
            break
        schedule = pushed
    return schedule


def _descendants(index: GraphIndex, ops: Collection[str]) -> set[str]:
    found: set[str] = set()
    left = [dependence.target for op in ops for dependence in index.outgoing[op]]
    while left:
        op = left.pop()
        if op not in found:
            found.add(op)
            left += [dependence.target for dependence in index.outgoing[op]]
    return found


def _pushed_once(index: GraphIndex, schedule: Schedule, movable: Collection[str]) -> Schedule:
    """Every movable op in the order of their starts, after its dependences and past those before it in that order."""
    settled = [op for op in schedule.ops if op not in movable]
    for op in sorted(movable, key=lambda op: (schedule.ops[op].start, index.numbers[op])):
        start = max(schedule.ops[op].start, _earliest(index, schedule, op))
        start = next((free for free in _candidates(index, schedule, op, start, settled)), start)
        if start != schedule.ops[op].start:
            place = replace(schedule.ops[op], start=start)
            schedule = replace(schedule, ops={**schedule.ops, op: place}, origin=USER)
        settled.append(op)
    return schedule


def _earliest(index: GraphIndex, schedule: Schedule, op: str) -> int:
    """By the dependences on other ops."""
    earliest = 0
    for d in index.incoming[op]:
        if d.source != op:
            source = schedule.ops[d.source]
            gap = required_gap(index, d, source.group, schedule.ops[op].group)
            earliest = max(earliest, source.start + source.delay + gap - schedule.ii * d.distance)
    return earliest


def _candidates(index: GraphIndex, schedule: Schedule, op: str, start: int, settled: Collection[str]) -> Iterator[int]:
    """Starts from `start` on, within one interval, at which the op is in nobody's way: that one, or right behind
    something settled."""
    own = list(busy_times(index, op, schedule.ops[op]))
    others = [one for other in settled for one in busy_times(index, other, schedule.ops[other])]
    tried = {start}
    for one in others:
        for mine in own:
            if mine.unit == one.unit:
                behind = schedule.ops[one.op].start + one.offset + one.duration - mine.offset
                tried.add(start + (behind - start) % schedule.ii)
    for begin in sorted(tried):
        if all(_free(index, schedule, mine, begin, others) for mine in own):
            yield begin


def _free(index: GraphIndex, schedule: Schedule, mine: Busy, start: int, others: Iterable[Busy]) -> bool:
    """Whether what the op takes is there if it starts so."""
    ii, begin = schedule.ii, start + mine.offset
    ranges = [(begin, begin + mine.duration, mine.amount)]
    for one in others:
        if one.unit == mine.unit:
            taken = schedule.ops[one.op].start + one.offset
            if exclusive(index, schedule, mine, one) and (
                (begin - taken) % ii < one.duration or (taken - begin) % ii < mine.duration
            ):
                return False
            ranges.append((taken, taken + one.duration, one.amount))
    return mine.unit is None or peak(profile(ranges, ii)).level <= index.graph.machine.units[mine.unit]
