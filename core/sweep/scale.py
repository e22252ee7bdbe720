"""From values to places on a plot's axis, and where its ticks are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.sweep.setting import Value, written


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis with its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps [low, high] linearly to [begin, end], in pixels."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value; the middle if all values are one."""
        if self.high == self.low:
            return (self.begin + self.end) / 2
        return self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin)


def is_numeric(values: Sequence[Value]) -> bool:
    """Whether the values of an axis are numbers, so that their distances mean something."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def value_ticks(values: Sequence[Value], scale: Scale, apart: float) -> list[Tick]:
    """A tick at each value that stands `apart` pixels or more from the one before; words stand in their order."""
    numeric = is_numeric(values)
    ticks: list[Tick] = []
    for position, value in sorted((float(value) if numeric else i, value) for i, value in enumerate(values)):
        at = scale.at(position)
        if not ticks or at - ticks[-1].at >= apart:
            ticks.append(Tick(at, written(value)))
    return ticks


def round_ticks(low: float, high: float, count: int) -> list[int]:
    """About `count` multiples of 1, 2 or 5 times a power of ten, from at most `low` to at least `high`; a single value
    has one on each side."""
    rough = max((high - low) / count, 1)
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    if first == last:
        first, last = first - 1, last + 1
    return [step * i for i in range(first, last + 1)]
