"""Shows the sweep's plot, an SVG text, as large as fits."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

_GROUND = "#ffffff"  # the plot's own, in light and dark, as it is in a file


class SweepPlot(QWidget):
    """Empty until there is a plot."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._renderer = QSvgRenderer(self)
        self.svg = ""
        self.setAccessibleName("II against the first axis")
        self.setMinimumSize(160, 100)

    def set_svg(self, svg: str, description: str) -> None:
        """Another plot, and the same in words."""
        self.svg = svg
        self._renderer.load(QByteArray(svg.encode()))
        self.setAccessibleDescription(description)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(420, 260)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.svg:
            return
        size = self._renderer.viewBoxF().size().scaled(self.size().toSizeF(), Qt.AspectRatioMode.KeepAspectRatio)
        box = QRectF(
            (self.width() - size.width()) / 2, (self.height() - size.height()) / 2, size.width(), size.height()
        )
        with QPainter(self) as painter:
            painter.fillRect(box, QColor(_GROUND))
            self._renderer.render(painter, box)
