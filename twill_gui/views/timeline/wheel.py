"""What the wheel and the trackpad do over any view with a time axis."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QNativeGestureEvent, QWheelEvent

from twill_gui.views.timeline.axis import ZOOM_STEP, TimeAxis

NOTCH = 120
SCROLL_PX = 60


def wheel(axis: TimeAxis, time: float, event: QWheelEvent) -> int:
    """Ctrl zooms at `time`, Shift or a sideways movement pans; else returns the pixels to scroll down."""
    delta = event.angleDelta()
    notches = (delta.y() or delta.x()) / NOTCH
    event.accept()
    if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
        axis.zoom(ZOOM_STEP**notches, time)
    elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(delta.x()) > abs(delta.y()):
        axis.pan(-notches * SCROLL_PX / axis.scale)
    else:
        return round(-notches * SCROLL_PX)
    return 0


def pinch(axis: TimeAxis, time: float, event: QNativeGestureEvent) -> bool:
    """Zooms at `time` if the gesture is a pinch; says whether it is."""
    if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
        return False
    axis.zoom(1 + event.value(), time)
    return True
