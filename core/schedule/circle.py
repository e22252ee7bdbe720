"""Ranges of cycles seen modulo the initiation interval.

A range [begin, end) repeats every II cycles; its copies at slot r are the integers k with
begin <= r + k * II < end, so a range longer than II overlaps itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Step(NamedTuple):
    """From `slot` up to the next step's slot (or II), `level` is in use."""

    slot: int
    level: int


class Stretch(NamedTuple):
    """A stretch of slots, `first` up to `last` (excluded; beyond II if it wraps around); most in use is `peak`,
    first at slot `at`."""

    first: int
    last: int
    peak: int
    at: int


def profile(ranges: Iterable[tuple[int, int, int]], ii: int) -> list[Step]:
    """The sum of amount times copies at each slot, as steps from slot 0 on. `ranges` are (begin, end, amount);
    an empty one (end <= begin) counts for nothing."""
    base = 0
    change: dict[int, int] = {0: 0}
    for begin, end, amount in ranges:
        if end <= begin:
            continue
        rounds, rest = divmod(end - begin, ii)
        base += rounds * amount
        if not rest:
            continue
        first = begin % ii
        last = first + rest
        change[first] = change.get(first, 0) + amount
        if last >= ii:
            base += amount
            last -= ii
        change[last] = change.get(last, 0) - amount
    steps: list[Step] = []
    level = base
    for slot in sorted(change):
        level += change[slot]
        steps.append(Step(slot, level))
    return steps


def peak(steps: Sequence[Step]) -> Step:
    """The step of the greatest level, the first one if there are several."""
    return max(steps, key=lambda step: step.level)


def stretches_above(steps: Sequence[Step], limit: int, ii: int) -> list[Stretch]:
    """The maximal stretches of slots, around the circle, where more than `limit` is in use."""
    found: list[Stretch] = []
    for index, step in enumerate(steps):
        if step.level <= limit:
            continue
        last = steps[index + 1].slot if index + 1 < len(steps) else ii
        if found and found[-1].last == step.slot:
            previous = found.pop()
            best, at = (step.level, step.slot) if step.level > previous.peak else (previous.peak, previous.at)
            found.append(Stretch(previous.first, last, best, at))
        else:
            found.append(Stretch(step.slot, last, step.level, step.slot))
    if len(found) > 1 and found[0].first == 0 and found[-1].last == ii:
        head, tail = found[0], found.pop()
        best, at = (head.peak, head.at) if head.peak > tail.peak else (tail.peak, tail.at)
        found[0] = Stretch(tail.first, head.last + ii, best, at)
    return found


def meets(begin: int, end: int, stretch: Stretch, ii: int) -> bool:
    """Whether [begin, end) covers, modulo II, a slot of the stretch."""
    if end <= begin:
        return False
    return (begin - stretch.first) % ii < stretch.last - stretch.first or (stretch.first - begin) % ii < end - begin
