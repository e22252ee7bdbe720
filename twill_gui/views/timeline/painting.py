"""Painting on the screen and into files."""

from __future__ import annotations

from PySide6.QtGui import QPaintEngine, QPainter

_SHAPE_ENGINES = (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf, QPaintEngine.Type.Picture)


def paints_shapes(painter: QPainter) -> bool:
    """Whether the painter writes a file of shapes (SVG, PDF), into which no picture of pixels belongs."""
    return painter.paintEngine().type() in _SHAPE_ENGINES
