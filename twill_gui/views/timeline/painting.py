"""Painting on the screen and into files."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize
from PySide6.QtGui import QPaintEngine, QPainter, QPixmap

_SHAPE_ENGINES = (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf, QPaintEngine.Type.Picture)


def paints_shapes(painter: QPainter) -> bool:
    """Whether the painter writes a file of shapes (SVG, PDF), into which no picture of pixels belongs."""
    return painter.paintEngine().type() in _SHAPE_ENGINES


class StillPicture:
    """A picture of what holds still in a view, kept until it is out of date."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._current = False

    def outdate(self) -> None:
        """It has to be painted anew."""
        self._current = False

    def mend(self, paint: Callable[[QPainter], None]) -> None:
        """Paints over parts of the picture that have changed. `paint` is not asked where all of it is painted anew
        next: because it is out of date, or because a part may begin within a device pixel that it shares."""
        if not self._pixmap.devicePixelRatio().is_integer():
            self._current = False
        elif self._current:
            with QPainter(self._pixmap) as painter:
                paint(painter)

    def get(self, size: QSize, ratio: float, paint: Callable[[QPainter], None]) -> QPixmap:
        """The picture in `size` pixels of `ratio` device pixels each; `paint` covers all of it if need be."""
        device_size = QSize(round(size.width() * ratio), round(size.height() * ratio))
        if self._pixmap.size() != device_size or self._pixmap.devicePixelRatio() != ratio:
            self._pixmap = QPixmap(device_size)
            self._pixmap.setDevicePixelRatio(ratio)
            self._current = False
        if not self._current:
            with QPainter(self._pixmap) as painter:
                paint(painter)
            self._current = True
        return self._pixmap
