"""Where the rows of a layout are, in pixels from the top of the first lane. No Qt."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from twill_gui.views.gantt.layout import Bar, LaneKind, Layout, Tail


@dataclass(frozen=True, slots=True)
class Metrics:
    """Sizes in pixels. `text` is the height of a line of text; a lane has room for two in its header."""

    text: int = 14

    @property
    def group_bar(self) -> int:
        """Height of a bar on a warp group's lane."""
        return self.text + 7

    @property
    def unit_bar(self) -> int:
        """Height of a bar on a unit's lane."""
        return self.text + 4

    @property
    def least_lane(self) -> int:
        """Two lines of text and some air."""
        return 2 * self.text + 12

    track: int = 5
    row_gap: int = 3
    padding: int = 6


@dataclass(frozen=True, slots=True)
class LaneBox:
    """A lane's top, height, the tops of its bars by sub-row, and their height."""

    top: int
    height: int
    rows: tuple[int, ...]
    bar: int

    @property
    def bottom(self) -> int:
        """The first pixel below the lane."""
        return self.top + self.height


class Rows:
    """The boxes of all lanes of a layout, from top to bottom."""

    def __init__(self, layout: Layout, metrics: Metrics) -> None:
        self.metrics = metrics
        boxes: list[LaneBox] = []
        top = 0
        for lane in layout.lanes:
            bar = metrics.group_bar if lane.kind is LaneKind.GROUP else metrics.unit_bar
            offsets: list[int] = []
            used = metrics.padding
            for tracks in lane.tracks:
                offsets.append(used)
                used += bar + tracks * metrics.track + metrics.row_gap
            used += metrics.padding - metrics.row_gap
            height = max(used, metrics.least_lane)
            shift = top + (height - used) // 2
            boxes.append(LaneBox(top, height, tuple(shift + offset for offset in offsets), bar))
            top += height
        self.lanes = tuple(boxes)
        self.height = top
        self._tops = [box.top for box in boxes]

    def lane_at(self, y: float) -> int | None:
        """The index of the lane at height `y`."""
        if not 0 <= y < self.height:
            return None
        return bisect_right(self._tops, y) - 1

    def bar_top(self, bar: Bar) -> int:
        """The top of a bar."""
        return self.lanes[bar.lane].rows[bar.row]

    def tail_top(self, tail: Tail) -> int:
        """The top of a tail's track, under the bars of its row."""
        box = self.lanes[tail.lane]
        return box.rows[tail.row] + box.bar + 1 + tail.track * self.metrics.track
