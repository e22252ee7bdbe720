"""The docks: where they are at first, how that is remembered, and when they are out of the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from twill_gui.settings import Settings

_LEFT, _RIGHT, _BOTTOM = (
    Qt.DockWidgetArea.LeftDockWidgetArea,
    Qt.DockWidgetArea.RightDockWidgetArea,
    Qt.DockWidgetArea.BottomDockWidgetArea,
)
_PLACES: Mapping[str, tuple[Qt.DockWidgetArea, int]] = {  # area, and share of its height
    "Project": (_LEFT, 470),
    "Jobs": (_LEFT, 380),
    "Inspector": (_RIGHT, 540),
    "Problems": (_RIGHT, 310),
    "Reservation": (_BOTTOM, 200),
    "Liveness": (_BOTTOM, 260),
}
_WIDTHS = {"Project": 290, "Inspector": 320}


class DockLayout:
    """Full-height docks left and right; below the chart those that share its time axis.

    The docks are hidden while no project is open, and come back as they were.
    """

    def __init__(self, window: QMainWindow, views: Mapping[str, QWidget]) -> None:
        self._window = window
        window.setDockNestingEnabled(True)
        window.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        self._docks: dict[str, QDockWidget] = {}
        for title, (area, _) in _PLACES.items():
            dock = QDockWidget(title, window)
            dock.setObjectName(title)
            dock.setWidget(views[title])
            window.addDockWidget(area, dock, Qt.Orientation.Vertical)
            self._docks[title] = dock
        widths = [self._docks[title] for title in _WIDTHS]
        window.resizeDocks(widths, list(_WIDTHS.values()), Qt.Orientation.Horizontal)
        for area in (_LEFT, _RIGHT, _BOTTOM):
            column = [title for title, place in _PLACES.items() if place[0] is area]
            heights = [_PLACES[title][1] for title in column]
            window.resizeDocks([self._docks[title] for title in column], heights, Qt.Orientation.Vertical)
        self._first = window.saveState()
        self._hidden_state: QByteArray | None = None

    @property
    def docks(self) -> Sequence[QDockWidget]:
        """All docks."""
        return tuple(self._docks.values())

    def set_shown(self, shown: bool) -> None:
        """Hides the docks, or brings them back as they were."""
        if shown and self._hidden_state is not None:
            self._window.restoreState(self._hidden_state)
            self._hidden_state = None
        elif not shown and self._hidden_state is None:
            self._hidden_state = self._window.saveState()
            for dock in self._docks.values():
                dock.hide()
        for dock in self._docks.values():
            dock.toggleViewAction().setEnabled(shown)

    def reset(self) -> None:
        """As at the first start."""
        self._apply(self._first)

    def save(self, settings: Settings) -> None:
        """Remembers geometry and docks."""
        state = self._window.saveState() if self._hidden_state is None else self._hidden_state
        settings.set_layout(self._window.saveGeometry(), state)

    def restore(self, settings: Settings) -> None:
        """Geometry and docks as they were remembered."""
        if settings.layout:
            geometry, state = settings.layout
            self._window.restoreGeometry(geometry)
            self._apply(state)

    def _apply(self, state: QByteArray) -> None:
        if self._hidden_state is None:
            self._window.restoreState(state)
        else:
            self._hidden_state = state
