"""Registers, shared memory and tensor memory over time, as stacked curves against their limits."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from core.graph.model import Graph
from core.schedule.model import Schedule
from twill_gui.views.linked import BuiltRow, LinkedPlot
from twill_gui.views.liveness.curve_painter import CurveLook, CurvePainter, Levels
from twill_gui.views.liveness.curves import Curve, Held, liveness_curves
from twill_gui.views.timeline.boxes import Numbers
from twill_gui.views.timeline.row_header import RowHeader
from twill_gui.views.timeline.span import TimeScale, TimeSpan
from twill_gui.views.timeline.text import TextCutter, small_font
from twill_gui.views.timeline.ticks import grouped

LEAST_ROW_PX, MOST_ROW_PX = 64, 160
LISTED = 12
POINTED_AT = "\N{BLACK RIGHT-POINTING SMALL TRIANGLE}"


class LivenessView(LinkedPlot):
    """One row per warp group that holds registers, then shared memory and tensor memory. What is over the limit has
    a red cap."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Liveness", LEAST_ROW_PX, MOST_ROW_PX, parent)
        self._curves: tuple[Curve, ...] = ()
        self._small = TextCutter(small_font(self.font()))

    @property
    def curves(self) -> tuple[Curve, ...]:
        """What is shown, from top to bottom."""
        return self._curves

    def build_rows(self, graph: Graph, schedule: Schedule, span: TimeSpan) -> Sequence[BuiltRow]:
        before, self._curves = self._curves, liveness_curves(graph, schedule, span)
        return [
            BuiltRow(_header(curve), old is None or not curve.looks_like(old))
            for curve, old in zip_longest(self._curves, before[: len(self._curves)])
        ]

    def clear_rows(self) -> None:
        self._curves = ()

    def paint_row(self, painter: QPainter, row: int, box: QRectF, scale: TimeScale) -> None:
        self._painter_of(row, box, scale).paint(painter, self.selection)

    def lit_boxes(self, row: int, box: QRectF, scale: TimeScale, ops: frozenset[str]) -> Numbers:
        return self._painter_of(row, box, scale).boxes_of(ops)

    def _painter_of(self, row: int, box: QRectF, scale: TimeScale) -> CurvePainter:
        curve = self._curves[row]
        look = CurveLook(self.view_palette, self._small, self.devicePixelRatioF())
        return CurvePainter(curve, Levels(curve, box), scale, look)

    def op_at(self, row: int, box: QRectF, time: float, y: float) -> str | None:
        curve = self._curves[row]
        level = Levels(curve, box).level(y)
        step = curve.step_at(time)
        hit = (curve.bottoms[:, step] <= level) & (level < curve.tops[:, step])
        return next((band.value for band, inside in zip(curve.bands, hit, strict=True) if inside), None)

    def describe_at(self, row: int, time: float, under: str | None) -> str:
        """The value under the mouse comes first, then all that is held."""
        curve = self._curves[row]
        step = curve.step_at(time)
        total = int(curve.total[step])
        used = f"{_short(curve, total)} of {_short(curve, curve.limit)}"
        lines = [f"<b>{escape(curve.name)}</b> at {grouped(int(time))}: {used}"]
        heights = curve.tops[:, step] - curve.bottoms[:, step]
        held = [number for number in range(len(curve.bands)) if heights[number]]
        held.sort(key=lambda number: (curve.bands[number].value != under, -int(heights[number])))
        for number in held[:LISTED]:
            text = _band_text(curve, number, step)
            lines.append(f"<b>{POINTED_AT} {text}</b>" if curve.bands[number].value == under else text)
        if len(held) > LISTED:
            lines.append(f"and {len(held) - LISTED} more")
        if curve.base:
            lines.append(f"{curve.base_name}: {_short(curve, curve.base)}")
        return "<br>".join(lines)


def _header(curve: Curve) -> RowHeader:
    over = curve.peak > curve.limit
    detail = f"peak {_short(curve, curve.peak)} of {_short(curve, curve.limit)}"
    tooltip = f"{curve.name}: at most {grouped(curve.peak)} of {grouped(curve.limit)} {curve.held.value}"
    return RowHeader(curve.name, detail, curve.peak / max(curve.limit, 1), over, tooltip)


def _short(curve: Curve, amount: int) -> str:
    return f"{amount / 1024:.4g} KiB" if curve.held is Held.SHARED_MEMORY else grouped(amount)


def _band_text(curve: Curve, number: int, step: int) -> str:
    band, alive = curve.bands[number], int(curve.counts[number, step])
    height = int(curve.tops[number, step] - curve.bottoms[number, step])
    name = escape(band.value) + (f" (copy for {escape(band.reader)})" if band.reader else "")
    if band.reserved is not None:
        return f"{name}: {_short(curve, height)}, {alive} of {band.reserved} slots alive"
    times = f" ({alive} × {band.amount})" if alive > 1 else ""
    return f"{name}: {grouped(height)}{times}"
