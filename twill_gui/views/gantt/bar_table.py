"""Bars and tails as arrays: culling, pixel boxes and hit tests for thousands of them within a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twill_gui.palette import LEVELS
from twill_gui.views.gantt.layout import Bar, Layout, Tail
from twill_gui.views.gantt.rows import Rows
from twill_gui.views.timeline.axis import TimeAxis

LEAST_BAR_PX = 3
TAIL_PX = 3
# Boxes are cut off so many pixels outside the view: far ones would overflow, and borders must not show.
_OUTSIDE_PX = 8.0


class Boxes(NamedTuple):
    """Pixel boxes of spans, given by number. `style` counts in `SpanTable.styles`."""

    number: NDArray[np.intp]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    top: NDArray[np.float64]
    height: NDArray[np.float64]
    style: NDArray[np.intp]

    def gaps(self, width: int) -> NDArray[np.float64]:
        """Free pixels behind each box, up to the next box of its row or the end of the view; none or less than none
        where another one lies over its end, as narrow ones do that are widened."""
        order = np.lexsort((self.right, self.top))
        top, right = self.top[order], self.right[order]
        # Rows follow one another on one long axis: then what ends later is what comes later.
        row = np.cumsum(np.append([False], top[1:] != top[:-1])) * (width + 4 * _OUTSIDE_PX)
        first = np.minimum.accumulate((self.left[order] + row)[::-1])[::-1]
        after = np.append(first[1:], np.inf) - row
        gaps = np.empty(len(order))
        gaps[order] = np.minimum(after, width) - right
        return gaps


class SpanTable:
    """Spans of time with a top, a height and a style (unit and lightness level)."""

    def __init__(self, spans: Sequence[Bar | Tail], tops: Sequence[int], heights: Sequence[int]) -> None:
        count = len(spans)
        self._start = np.fromiter((span.start for span in spans), np.float64, count)
        self._end = np.fromiter((span.end for span in spans), np.float64, count)
        self._top = np.array(tops, np.float64)
        self._height = np.array(heights, np.float64)
        keys = [(span.unit, span.iteration % LEVELS) for span in spans]
        self.styles = tuple(dict.fromkeys(keys))
        numbers = {key: number for number, key in enumerate(self.styles)}
        self._style = np.fromiter((numbers[key] for key in keys), np.intp, count)

    def boxes(
        self, axis: TimeAxis, scroll: float, height: float, ratio: float, only: Sequence[int] | None = None
    ) -> Boxes:
        """The boxes of the spans (or of some) that can be seen in `height` pixels below `scroll`, on the grid of
        device pixels (`ratio` of them per pixel), the narrow ones widened to LEAST_BAR_PX."""
        start, end, top = self._start, self._end, self._top - scroll
        margin = LEAST_BAR_PX / axis.scale
        seen = (end >= axis.start - margin) & (start <= axis.end) & (top + self._height > 0) & (top < height)
        number = np.flatnonzero(seen) if only is None else np.array([n for n in only if seen[n]], np.intp)
        left = np.rint((start[number] - axis.start) * axis.scale * ratio) / ratio
        right = np.rint((end[number] - axis.start) * axis.scale * ratio) / ratio
        right = np.maximum(right, left + LEAST_BAR_PX)
        return Boxes(
            number,
            np.maximum(left, -_OUTSIDE_PX),
            np.minimum(right, axis.width + _OUTSIDE_PX),
            top[number],
            self._height[number],
            self._style[number],
        )

    def at(self, axis: TimeAxis, x: float, y: float) -> int | None:
        """The number of the span at a point, `y` counted from the top of the first lane; the shortest if several."""
        left = (self._start - axis.start) * axis.scale
        right = np.maximum((self._end - axis.start) * axis.scale, left + LEAST_BAR_PX)
        hit = np.flatnonzero((left <= x) & (x < right) & (self._top <= y) & (y < self._top + self._height))
        if not hit.size:
            return None
        return int(hit[np.argmin((self._end - self._start)[hit])])


class BarTable(SpanTable):
    """The bars of a layout, by number in its order."""

    def __init__(self, layout: Layout, rows: Rows) -> None:
        self.bars = layout.bars
        tops = [rows.bar_top(bar) for bar in layout.bars]
        super().__init__(layout.bars, tops, [rows.lanes[bar.lane].bar for bar in layout.bars])
        self._by_op: dict[str, list[int]] = {}
        for number, bar in enumerate(layout.bars):
            self._by_op.setdefault(bar.op, []).append(number)

    def of_op(self, op: str) -> list[int]:
        """The numbers of an op's bars."""
        return self._by_op.get(op, [])

    def bars_of(self, op: str) -> list[Bar]:
        """An op's bars."""
        return [self.bars[number] for number in self.of_op(op)]


class TailTable(SpanTable):
    """The tails of a layout, by number in its order; `ends` says where a latency is over."""

    def __init__(self, layout: Layout, rows: Rows) -> None:
        tops = [rows.tail_top(tail) for tail in layout.tails]
        super().__init__(layout.tails, tops, [TAIL_PX] * len(tops))
        self.ends = np.fromiter((tail.ends for tail in layout.tails), np.bool_, len(tops))
