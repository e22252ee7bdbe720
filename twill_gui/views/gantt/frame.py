"""What every painter of the chart needs to know of the picture it paints into."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF

from twill_gui.palette import ViewPalette
from twill_gui.views.gantt.layout import Layout
from twill_gui.views.gantt.rows import Rows
from twill_gui.views.timeline.axis import TimeAxis
from twill_gui.views.timeline.text import TextCutter


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: axis, rows, scroll position, size, colours, fonts, and device pixels per pixel."""

    layout: Layout
    rows: Rows
    axis: TimeAxis
    scroll: int
    width: int
    height: int
    palette: ViewPalette
    label: TextCutter
    small: TextCutter
    ratio: float

    def x(self, time: float) -> float:
        """The pixel column of a time, on the grid of device pixels."""
        return round(self.axis.x(time) * self.ratio) / self.ratio

    def span(self, start: float, end: float, top: float, height: float) -> QRectF:
        """The box of [start, end), clipped a little outside the picture."""
        left = min(max(self.x(start), -8.0), self.width + 8.0)
        right = min(max(self.x(end), -8.0), self.width + 8.0)
        return QRectF(left, top, right - left, height)

    def lane_box(self, lane: int) -> QRectF:
        """A whole lane."""
        box = self.rows.lanes[lane]
        return QRectF(0, box.top - self.scroll, self.width, box.height)
