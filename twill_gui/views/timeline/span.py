"""Which time a view covers, and where it is in pixels. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """[start, end) in cycles; `iterations` of the loop run in it, None for the steady state without end."""

    start: int
    end: int
    iterations: int | None = None


@dataclass(frozen=True, slots=True)
class TimeScale:
    """The plot from pixel `left` to `right`, with time `start` at its left edge and `scale` pixels per cycle."""

    left: float
    right: float
    start: float
    scale: float

    def x(self, time: float) -> float:
        """The pixel column of a time."""
        return self.left + (time - self.start) * self.scale

    def columns(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """The whole pixel columns of times; a little outside the plot for everything beyond its edges."""
        columns = np.rint(self.left + (times - self.start) * self.scale)
        return np.minimum(np.maximum(columns, round(self.left) - 4), round(self.right) + 4)

    def time(self, x: float) -> float:
        """The time at a pixel column."""
        return self.start + (x - self.left) / self.scale
