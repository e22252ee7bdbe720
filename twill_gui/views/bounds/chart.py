"""Step lines of the proved bound and the best II, drawn by pyqtgraph; imported when the first solve begins."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from twill_gui.models.solve_progress import CoursePoint
from twill_gui.theme import Colors
from twill_gui.views.timeline.text import small_font
from twill_gui.views.timeline.ticks import grouped, tick_step, ticks

LINE_PX = 2.0
II_TICKS = 5
LEAST_SECONDS = 0.1
AXIS_WIDTH, AXIS_HEIGHT = 52, 20


class BoundChart(pg.GraphicsView):
    """Shows all of a course, without zoom or menus. The two lines differ in dashes, not in colour alone."""

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = pg.GraphicsLayout()
        layout.setContentsMargins(2, 4, 8, 0)
        layout.setSpacing(0)
        self.setCentralItem(layout)
        self._box = pg.ViewBox(enableMenu=False, enableMouse=False)
        self._ii, self._seconds = pg.AxisItem("left"), pg.AxisItem("bottom")
        layout.addItem(self._ii, 0, 0)
        layout.addItem(self._box, 0, 1)
        layout.addItem(self._seconds, 1, 1)
        font = small_font(self.font())
        font.setBold(False)
        for axis in (self._ii, self._seconds):
            axis.linkToView(self._box)
            axis.enableAutoSIPrefix(False)
            axis.setStyle(tickFont=font, tickLength=-4)
        self._ii.setWidth(AXIS_WIDTH)
        self._seconds.setHeight(AXIS_HEIGHT)
        self.bound = pg.PlotCurveItem(stepMode="right")
        self.best = pg.PlotCurveItem(stepMode="right")
        for curve in (self.bound, self.best):
            self._box.addItem(curve)
        self.set_colors(colors)

    def set_course(self, course: Sequence[CoursePoint], seconds: float) -> None:
        """Both lines from their first points to the present."""
        now = max(seconds, course[-1].seconds, LEAST_SECONDS)
        best = [(point.seconds, point.upper) for point in course if point.upper is not None]
        self.bound.setData(*_line([(point.seconds, point.lower) for point in course], now))
        self.best.setData(*_line(best, now))
        values = [point.lower for point in course] + [ii for _, ii in best]
        low, high = min(values), max(values)
        room = max((high - low) * 0.12, 0.5)
        self._box.setRange(xRange=(0, now), yRange=(low - room, high + room), padding=0)
        step = tick_step(high - low + 2 * room, II_TICKS)
        self._ii.setTicks([[(ii, grouped(ii)) for ii in ticks(low - room, high + room, step)]])

    def view_range(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The seconds and the IIs in view."""
        (left, right), (low, high) = self._box.viewRange()
        return (left, right), (low, high)

    def set_colors(self, colors: Colors) -> None:
        """Light or dark colours."""
        self.setBackground(colors.base)
        width = LINE_PX * self.devicePixelRatioF()  # cosmetic pens count device pixels
        self.best.setPen(_pen(colors.link, width, Qt.PenStyle.SolidLine))
        self.bound.setPen(_pen(colors.good, width, Qt.PenStyle.DashLine))
        for axis in (self._ii, self._seconds):
            axis.setPen(QPen(QColor(colors.line), 1))
            axis.setTextPen(QColor(colors.muted))


def _line(points: Sequence[tuple[float, int]], now: float) -> tuple[list[float], list[int]]:
    """Times and values, the last value kept up to now."""
    if not points:
        return [], []
    return [time for time, _ in points] + [now], [ii for _, ii in points] + [points[-1][1]]


def _pen(color: str, width: float, style: Qt.PenStyle) -> QPen:
    pen = QPen(QColor(color), width, style)
    pen.setCosmetic(True)
    return pen
