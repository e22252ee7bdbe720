"""Round numbers for axes."""

from __future__ import annotations

import math

_STEPS = (1, 2, 5, 10)


def tick_step(span: float, count: float) -> int:
    """The least of 1, 2, 5, 10, 20, ... that divides `span` into at most `count` parts (or 1)."""
    least = max(span / max(count, 1.0), 1.0)
    power = 10 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least - 1e-9)


def ticks(start: float, end: float, step: int) -> range:
    """The multiples of `step` within [start, end]."""
    return range(math.ceil(start / step) * step, math.floor(end) + 1, step)


def grouped(number: int) -> str:
    """Digits in groups of three, parted by narrow spaces: 12 345."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
