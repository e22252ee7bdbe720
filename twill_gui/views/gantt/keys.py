"""The keys of the chart itself, for where no window has taken them as shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from twill_gui.views.gantt.view import GanttView

_K = Qt.Key

# By key, with Alt, with Shift.
CHART_KEYS: Mapping[tuple[Qt.Key, bool, bool], Callable[[GanttView], None]] = {
    (_K.Key_W, False, False): lambda view: view.zoom_in(),
    (_K.Key_S, False, False): lambda view: view.zoom_out(),
    (_K.Key_A, False, False): lambda view: view.pan_left(),
    (_K.Key_D, False, False): lambda view: view.pan_right(),
    (_K.Key_Home, False, False): lambda view: view.fit(),
    (_K.Key_F, False, False): lambda view: view.center_selection(),
    (_K.Key_Period, False, False): lambda view: view.select_next(),
    (_K.Key_Comma, False, False): lambda view: view.select_previous(),
    (_K.Key_BracketLeft, False, False): lambda view: view.select_predecessor(),
    (_K.Key_BracketRight, False, False): lambda view: view.select_successor(),
    (_K.Key_Left, True, False): lambda view: view.nudge(-1),
    (_K.Key_Right, True, False): lambda view: view.nudge(1),
    (_K.Key_Left, True, True): lambda view: view.nudge(-10),
    (_K.Key_Right, True, True): lambda view: view.nudge(10),
    (_K.Key_Up, True, False): lambda view: view.move_to_neighbour_group(-1),
    (_K.Key_Down, True, False): lambda view: view.move_to_neighbour_group(1),
    (_K.Key_Greater, False, True): lambda view: view.extend_next(),
    (_K.Key_Less, False, True): lambda view: view.extend_previous(),
    (_K.Key_R, False, False): lambda view: view.select_range(),
    (_K.Key_PageDown, False, False): lambda view: view.scroll_lanes(1),
    (_K.Key_PageUp, False, False): lambda view: view.scroll_lanes(-1),
    (_K.Key_Escape, False, False): lambda view: view.cancel(),
}
