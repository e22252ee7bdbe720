"""The keys of the chart itself, for where no window has taken them as shortcuts."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt

Keys = tuple[Qt.Key, bool, bool]

# Key, with Alt, with Shift: name of the view's method, and its arguments.
CHART_KEYS: Mapping[Keys, tuple[str, tuple[int, ...]]] = {
    (Qt.Key.Key_W, False, False): ("zoom_in", ()),
    (Qt.Key.Key_S, False, False): ("zoom_out", ()),
    (Qt.Key.Key_A, False, False): ("pan_left", ()),
    (Qt.Key.Key_D, False, False): ("pan_right", ()),
    (Qt.Key.Key_Home, False, False): ("fit", ()),
    (Qt.Key.Key_F, False, False): ("center_selection", ()),
    (Qt.Key.Key_Period, False, False): ("select_next", ()),
    (Qt.Key.Key_Comma, False, False): ("select_previous", ()),
    (Qt.Key.Key_BracketLeft, False, False): ("select_predecessor", ()),
    (Qt.Key.Key_BracketRight, False, False): ("select_successor", ()),
    (Qt.Key.Key_Left, True, False): ("nudge", (-1,)),
    (Qt.Key.Key_Right, True, False): ("nudge", (1,)),
    (Qt.Key.Key_Left, True, True): ("nudge", (-10,)),
    (Qt.Key.Key_Right, True, True): ("nudge", (10,)),
    (Qt.Key.Key_Up, True, False): ("move_to_neighbour_group", (-1,)),
    (Qt.Key.Key_Down, True, False): ("move_to_neighbour_group", (1,)),
    (Qt.Key.Key_Escape, False, False): ("cancel", ()),
}
