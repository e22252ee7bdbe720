"""Brushes for fills with patterns and for hatches, crisp at any device pixel ratio."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap, QTransform

from twill_gui.palette import Pattern, ViewPalette

TILE = 8
EDGE = 1.0


def pattern_brush(colour: str, pattern: Pattern, pattern_colour: str, ratio: float) -> QBrush:
    """A fill with a pattern on it; `ratio`: device pixels per pixel."""
    if pattern is Pattern.SOLID:
        return QBrush(QColor(colour))
    return _texture(colour, pattern, pattern_colour, 1.0, ratio)


def hatch_brush(palette: ViewPalette, ratio: float) -> QBrush:
    """Broad rising stripes with nothing between them, for what is wrong. They have edges in the colour of the window,
    so that they stand out from a fill of a hue like theirs."""
    return _texture(None, Pattern.RISING, palette.violation, 1.7, ratio, palette.window)


def dimming_brush(colour: str, ratio: float) -> QBrush:
    """Fine falling lines with nothing between them, for what is out of reach."""
    return _texture(None, Pattern.FALLING, colour, 1.0, ratio)


@lru_cache(maxsize=512)
def _texture(
    fill: str | None, pattern: Pattern, colour: str, line: float, ratio: float, edge: str | None = None
) -> QBrush:
    side = round(TILE * ratio)
    tile = QPixmap(side, side)
    tile.fill(QColor(fill) if fill else Qt.GlobalColor.transparent)
    with QPainter(tile) as painter:
        painter.scale(side / TILE, side / TILE)
        if edge is not None:
            _draw_pattern(painter, pattern, QColor(edge), line + EDGE)
        _draw_pattern(painter, pattern, QColor(colour), line)
    brush = QBrush(tile)
    brush.setTransform(QTransform.fromScale(TILE / side, TILE / side))
    return brush


def _draw_pattern(painter: QPainter, pattern: Pattern, colour: QColor, line: float) -> None:
    half, side = TILE / 2, float(TILE)
    if pattern in (Pattern.RISING, Pattern.FALLING, Pattern.CROSSED):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, line * 1.2))
        for shift in (-side, 0.0, side):
            if pattern is not Pattern.FALLING:
                painter.drawLine(QPointF(shift - 1, side + 1), QPointF(shift + side + 1, -1))
            if pattern is not Pattern.RISING:
                painter.drawLine(QPointF(shift - 1, -1), QPointF(shift + side + 1, side + 1))
        return
    if pattern in (Pattern.HORIZONTAL, Pattern.GRID):
        painter.fillRect(QRectF(0, 1, side, line), colour)
        painter.fillRect(QRectF(0, 1 + half, side, line), colour)
    if pattern in (Pattern.VERTICAL, Pattern.GRID):
        painter.fillRect(QRectF(1, 0, line, side), colour)
        painter.fillRect(QRectF(1 + half, 0, line, side), colour)
    if pattern is Pattern.DOTS:
        painter.fillRect(QRectF(1, 1, 2, 2), colour)
        painter.fillRect(QRectF(1 + half, 1 + half, 2, 2), colour)
