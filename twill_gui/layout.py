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
    "Inspector": (_RIGHT, 440),
    "Problems": (_RIGHT, 410),
    "Reservation": (_BOTTOM, 200),
    "Liveness": (_BOTTOM, 260),
}
_BESIDE: Mapping[str, str] = {
    "Graph": "Liveness",
    "IR text": "Liveness",
    "CUDA": "Liveness",
    "Explain": "Problems",
    "Log": "Liveness",
    "Compare": "Liveness",
    "Measured": "Liveness",
    "Sweep": "Liveness",
    "Settings": "Project",
    "Machine": "Project",
}  # tabs behind a dock with its own place
_WIDTHS = {"Project": 300, "Inspector": 320}
_LOW = 860
_VERSION = len(_PLACES) + len(_BESIDE)
"""Of what is remembered: in the layout of a program with fewer docks the others would be hidden, each by itself."""


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
        for title in (*_PLACES, *_BESIDE):
            dock = QDockWidget(title, window)
            dock.setObjectName(title)
            dock.setWidget(views[title])
            self._docks[title] = dock
        self._hidden_state: QByteArray | None = None
        self._arrange(as_tabs=False)

    @property
    def docks(self) -> Sequence[QDockWidget]:
        """All docks."""
        return tuple(self._docks.values())

    @property
    def views(self) -> Mapping[str, QWidget]:
        """What is in the docks, by their titles."""
        return {title: dock.widget() for title, dock in self._docks.items()}

    def set_shown(self, shown: bool) -> None:
        """Hides the docks, or brings them back as they were."""
        if shown and self._hidden_state is not None:
            self._take(self._hidden_state)
            self._hidden_state = None
        elif not shown and self._hidden_state is None:
            self._hidden_state = self._window.saveState(_VERSION)
            for dock in self._docks.values():
                dock.hide()
        for dock in self._docks.values():
            dock.toggleViewAction().setEnabled(shown)

    def reset(self) -> None:
        """As at the first start, for the present size of the window."""
        hidden = self._hidden_state is not None
        self._hidden_state = None
        self._arrange(as_tabs=self._window.height() < _LOW)
        self.set_shown(not hidden)

    def bring_forward(self, title: str) -> None:
        """Shows a dock, in front of those it shares its place with."""
        self._docks[title].show()
        self._docks[title].raise_()

    def save(self, settings: Settings) -> None:
        """Remembers geometry and docks."""
        state = self._window.saveState(_VERSION) if self._hidden_state is None else self._hidden_state
        settings.set_layout(self._window.saveGeometry(), state)

    def restore(self, settings: Settings) -> None:
        """Geometry and docks as they were remembered."""
        if settings.layout:
            geometry, state = settings.layout
            self._window.restoreGeometry(geometry)
            self._apply(state)

    def _arrange(self, as_tabs: bool) -> None:
        """One above the other; those below the chart as tabs where the window is low."""
        window, docks = self._window, self._docks
        for title, (area, _) in _PLACES.items():
            window.addDockWidget(area, docks[title], Qt.Orientation.Vertical)
            docks[title].setFloating(False)
            docks[title].show()
        behind = {"Reservation": "Liveness", **_BESIDE} if as_tabs else _BESIDE
        for title, front in behind.items():
            window.tabifyDockWidget(docks[front], docks[title])
            docks[title].setFloating(False)
            docks[title].show()
        for front in behind.values():
            docks[front].raise_()
        window.resizeDocks([docks[title] for title in _WIDTHS], list(_WIDTHS.values()), Qt.Orientation.Horizontal)
        for area in (_LEFT, _RIGHT, _BOTTOM):
            column = [title for title, place in _PLACES.items() if place[0] is area]
            heights = [_PLACES[title][1] for title in column]
            window.resizeDocks([docks[title] for title in column], heights, Qt.Orientation.Vertical)

    def _apply(self, state: QByteArray) -> None:
        if self._hidden_state is None:
            self._take(state)
        else:
            self._hidden_state = state

    def _take(self, state: QByteArray) -> None:
        """Docks as they were, or as at the first start where that was with others."""
        if not self._window.restoreState(state, _VERSION):
            self._arrange(as_tabs=self._window.height() < _LOW)
