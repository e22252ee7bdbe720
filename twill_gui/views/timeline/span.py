"""Which time a view covers, and where it is in pixels. No Qt."""

from __future__ import annotations

from dataclasses import dataclass


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

    def clipped_x(self, time: float) -> float:
        """As `x`, but a little outside the plot for everything beyond its edges."""
        return min(max(self.x(time), self.left - 4), self.right + 4)

    def time(self, x: float) -> float:
        """The time at a pixel column."""
        return self.start + (x - self.left) / self.scale
