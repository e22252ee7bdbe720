"""What lies under a row of a plot over time: its tone, the grid of time, and a tint over what is outside the span."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from twill_gui.palette import ViewPalette
from twill_gui.views.timeline.boxes import draw_lines, rows_of
from twill_gui.views.timeline.span import TimeScale, TimeSpan
from twill_gui.views.timeline.ticks import tick_step, ticks

TICK_PX = 90
OUTSIDE_ALPHA = 26


def paint_ground(
    painter: QPainter, box: QRectF, scale: TimeScale, span: TimeSpan, palette: ViewPalette, alternate: bool
) -> None:
    """Fills the box of a row; every other row has the alternate tone."""
    painter.fillRect(box, QColor(palette.lane_alternate if alternate else palette.lane))
    start, end = scale.time(scale.left), scale.time(scale.right)
    painter.setPen(QPen(QColor(palette.grid), 1))
    times = ticks(start, end, tick_step(end - start, box.width() / TICK_PX))
    columns = np.rint(scale.left + (np.array(times) - scale.start) * scale.scale) + 0.5
    draw_lines(painter, rows_of(columns, box.top(), columns, box.bottom()))
    tint = QColor(palette.band)
    tint.setAlpha(OUTSIDE_ALPHA)
    for first, last in ((start, span.start), (span.end, end)):
        if last > first:
            left, right = max(scale.x(first), box.left()), min(scale.x(last), box.right())
            painter.fillRect(QRectF(left, box.top(), right - left, box.height()), tint)
