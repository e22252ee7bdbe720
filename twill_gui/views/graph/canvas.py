"""Mouse and trackpad on the graph, turned into requests."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from twill_gui.views.graph.describe import edge_tooltip, op_tooltip
from twill_gui.views.graph.layout import Edge
from twill_gui.views.graph.surface import GraphSurface
from twill_gui.views.timeline.axis import ZOOM_STEP
from twill_gui.views.timeline.wheel import NOTCH, SCROLL_PX


class GraphCanvas(GraphSurface):
    """The surface with its mouse: a click selects, dragging pans, the wheel scrolls, with Ctrl it zooms."""

    selection_requested = Signal(object)  # frozenset[str]
    op_activated = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._pressed: QPointF | None = None
        self._panning = False

    def tooltip_at(self, position: QPoint) -> str:
        """The tooltip (HTML) at a point of the widget."""
        under = self._under(QPointF(position))
        if under is None or self._content is None:
            return ""
        return op_tooltip(self._content, under) if isinstance(under, str) else edge_tooltip(self._content, under)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        notches = (delta.y() or delta.x()) / NOTCH
        event.accept()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(ZOOM_STEP**notches, event.position())
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(delta.x()) > abs(delta.y()):
            self.pan(-notches * SCROLL_PX, 0)
        else:
            self.pan(0, -notches * SCROLL_PX)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed, self._panning = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position()
        if self._pressed is None:
            self._hover(self._under(position))
            return
        moved = position - self._pressed
        if self._panning or moved.manhattanLength() >= QApplication.startDragDistance():
            self._panning = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._pressed = position
            self.pan(-moved.x(), -moved.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._pressed is not None and not self._panning and event.button() == Qt.MouseButton.LeftButton
        self._pressed, self._panning = None, False
        self.unsetCursor()
        if clicked and self._shown:
            self._click(event.position(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        under = self._under(event.position())
        if isinstance(under, str) and event.button() == Qt.MouseButton.LeftButton:
            self.op_activated.emit(under)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(None)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tooltip_at(event.pos()), self)
            return True
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.zoom(1 + event.value(), event.position())
            return True
        return super().event(event)

    def _under(self, position: QPointF) -> str | Edge | None:
        if self._shown is None:
            return None
        point = self.camera.to_layout(position)
        return self._shown.op_at(point) or self._shown.edge_at(point)

    def _click(self, position: QPointF, toggle: bool) -> None:
        under = self._under(position)
        if isinstance(under, Edge):
            ends = frozenset({under.source, under.target})
            self.selection_requested.emit(self._selection | ends if toggle else ends)
        elif under is not None:
            self.selection_requested.emit(self._selection ^ {under} if toggle else frozenset({under}))
        elif not toggle:
            self.selection_requested.emit(frozenset())

    def _hover(self, under: str | Edge | None) -> None:
        if under is not self._hovered:
            self._hovered = under
            self.update()
