"""Which part of a laid out graph is shown, and how large."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF

LEAST_SCALE, MOST_SCALE, FITTED_SCALE = 0.1, 4.0, 1.25


class Camera:
    """Maps the layout's pixels to the widget's: x = origin.x + scale * layout x."""

    def __init__(self) -> None:
        self.scale = 1.0
        self.origin = QPointF()

    def to_widget(self, box: QRectF) -> QRectF:
        """A rectangle of the layout in the widget."""
        return QRectF(self.origin + box.topLeft() * self.scale, box.size() * self.scale)

    def to_layout(self, point: QPointF) -> QPointF:
        """A point of the widget in the layout."""
        return (point - self.origin) / self.scale

    def fit(self, room: QSizeF, size: QSizeF) -> None:
        """Shows all of a layout of `size` in the middle of `room`, not larger than is good to read."""
        self.scale = fitting_scale(room, size)
        self.origin = QPointF(room.width() - size.width() * self.scale, room.height() - size.height() * self.scale) / 2

    def zoom(self, factor: float, at: QPointF) -> None:
        """Larger or smaller; what is at a point of the widget stays there."""
        fixed = self.to_layout(at)
        self.scale = min(max(self.scale * factor, LEAST_SCALE), MOST_SCALE)
        self.origin = at - fixed * self.scale

    def pan(self, right: float, down: float) -> None:
        """Shows what is so many pixels of the widget further right and down."""
        self.origin = self.origin - QPointF(right, down)

    def keep_in(self, room: QSizeF, size: QSizeF) -> None:
        """Moves the layout so that it covers the room, or stays within it where it is smaller."""
        self.origin = QPointF(
            _kept(self.origin.x(), room.width(), size.width() * self.scale),
            _kept(self.origin.y(), room.height(), size.height() * self.scale),
        )

    def center(self, point: QPointF, room: QSizeF) -> None:
        """Shows a point of the layout in the middle of the room."""
        self.origin = QPointF(room.width(), room.height()) / 2 - point * self.scale


def fitting_scale(room: QSizeF, size: QSizeF) -> float:
    """The largest scale at which a layout of `size` fits the room, within limits."""
    scale = min(room.width() / max(size.width(), 1), room.height() / max(size.height(), 1), FITTED_SCALE)
    return max(scale, LEAST_SCALE)


def _kept(origin: float, room: float, size: float) -> float:
    low, high = sorted((0.0, room - size))
    return min(max(origin, low), high)
