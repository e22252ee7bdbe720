"""The painted graph: what is shown, through a camera. What holds still is kept as a picture."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from core.explain.answer import NOTHING, Highlight
from twill_gui.palette import LIGHT, ViewPalette
from twill_gui.views.graph.camera import Camera, fitting_scale
from twill_gui.views.graph.content import GraphContent
from twill_gui.views.graph.layout import Direction, Edge, GraphLayout, Sizes
from twill_gui.views.graph.painter import Fonts, GraphFrame, box_size, paint_edge, paint_graph, paint_outline
from twill_gui.views.graph.shapes import Shapes
from twill_gui.views.timeline.painting import StillPicture, paints_shapes

NOTHING_TO_SHOW = "Nothing to show"


class GraphSurface(QWidget):
    """Until the user moves it the whole graph is shown, in the direction that suits the widget's shape.

    `seen`: the user looks at a graph that is not laid out yet. (A widget on a tab behind another is visible to Qt but
    never painted.)
    """

    seen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.camera = Camera()
        self._content: GraphContent | None = None
        self._shapes: Mapping[Direction, Shapes] = {}
        self._shown: Shapes | None = None
        self._selection: frozenset[str] = frozenset()
        self._hovered: str | Edge | None = None
        self._lit = NOTHING
        self._palette = LIGHT
        self._fitted = True
        self._fonts: Fonts | None = None
        self._still = StillPicture()

    @property
    def content(self) -> GraphContent | None:
        """What is to be shown."""
        return self._content

    @property
    def shapes(self) -> Shapes | None:
        """What is shown; None until it is laid out."""
        return self._shown

    def set_content(self, content: GraphContent | None) -> None:
        """Another schedule of the graph that is laid out, or another graph, whose layout follows."""
        self._content = content
        self.repaint_all()

    def set_layouts(self, layouts: Mapping[Direction, GraphLayout]) -> None:
        """The layouts of the graph in both directions; none: it is not laid out yet."""
        self._shapes = {direction: Shapes(layout) for direction, layout in layouts.items()}
        self._hovered = None
        self.fit()

    def set_selection(self, ops: frozenset[str]) -> None:
        """The selected ops."""
        self._selection = ops
        self._reveal_selection()
        self.repaint_all()

    def set_highlight(self, lit: Highlight) -> None:
        """What is pointed at elsewhere: its ops and dependences stand out."""
        self._lit = lit
        self.update()

    def set_palette(self, palette: ViewPalette) -> None:
        """Light or dark colours."""
        self._palette = palette
        self.repaint_all()

    def sizes_for(self, content: GraphContent) -> Sizes:
        """Pixels of boxes that hold the ops' names and captions, before any zoom."""
        return box_size(self.font(), content)

    # Camera

    def fit(self) -> None:
        """The whole graph."""
        room = QSizeF(self.size())
        self._fitted = True
        self._shown = max(self._shapes.values(), key=lambda shapes: fitting_scale(room, shapes.size), default=None)
        if self._shown:
            self.camera.fit(room, self._shown.size)
        self.repaint_all()

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Larger or smaller, at a point of the widget or else its middle."""
        self.camera.zoom(factor, QPointF(self.rect().center()) if at is None else at)
        self._moved()

    def pan(self, right: float, down: float) -> None:
        """Shows what is so many pixels further right and down."""
        self.camera.pan(right, down)
        self._moved()

    def center_selection(self) -> None:
        """The selection in the middle."""
        boxes = self._selected_boxes()
        if boxes:
            middle = sum((box.center() for box in boxes), QPointF()) / len(boxes)
            self.camera.center(middle, QSizeF(self.size()))
            self._moved()

    def repaint_all(self) -> None:
        """Paints everything anew."""
        self._still.outdate()
        self.update()

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._fitted:
            self.fit()
        else:
            self._moved()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fonts = None
            self.repaint_all()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            if self._content is None or self._shown is None:
                painter.fillRect(self.rect(), QColor(self._palette.window))
                painter.setPen(QColor(self._palette.muted_text))
                text = NOTHING_TO_SHOW if self._content is None else ""
                painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, text)
                if self._content:
                    self.seen.emit()
                return
            frame = self._frame(self._content, self._shown)
            if paints_shapes(painter):
                self._paint_still(painter, frame)
            else:
                still = self._still.get(self.size(), frame.ratio, lambda pixels: self._paint_still(pixels, frame))
                painter.drawPixmap(0, 0, still)
            self._paint_overlay(painter, frame)

    # Inside

    def _moved(self) -> None:
        self._fitted = False
        if self._shown:
            self.camera.keep_in(QSizeF(self.size()), self._shown.size)
        self.repaint_all()

    def _selected_boxes(self) -> list[QRectF]:
        return [self._shown.boxes[op] for op in self._selection & self._shown.boxes.keys()] if self._shown else []

    def _reveal_selection(self) -> None:
        """Moves the camera if nothing of the selection can be seen."""
        view = QRectF(self.rect())
        boxes = self._selected_boxes()
        if boxes and not any(view.intersects(self.camera.to_widget(box)) for box in boxes):
            self.center_selection()

    def _frame(self, content: GraphContent, shapes: Shapes) -> GraphFrame:
        if self._fonts is None or not self._fonts.fits(self.camera.scale):
            self._fonts = Fonts(self.font(), self.camera.scale)
        view = QRectF(self.camera.to_layout(QPointF()), QSizeF(self.size()) / self.camera.scale)
        ratio = self.devicePixelRatioF()
        return GraphFrame(content, shapes, self.camera, self._selection, self._palette, self._fonts, ratio, view)

    def _paint_still(self, painter: QPainter, frame: GraphFrame) -> None:
        painter.fillRect(self.rect(), QColor(self._palette.window))
        painter.setClipRect(self.rect())
        paint_graph(painter, frame)

    def _paint_overlay(self, painter: QPainter, frame: GraphFrame) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(self._hovered, str):
            paint_outline(painter, frame, self._hovered, self._palette.hover, 1)
        elif self._hovered:
            paint_edge(painter, frame, frame.shapes.shape_of(self._hovered), strong=True)
        for op in self._selection & frame.shapes.boxes.keys():
            paint_outline(painter, frame, op, self._palette.selection, 2)
        lit = set(self._lit.dependences)
        for shape in frame.shapes.edges if lit else ():
            if lit & set(shape.edge.dependences):
                paint_edge(painter, frame, shape, strong=True)
        for op in frame.shapes.boxes.keys() & set(self._lit.ops):
            paint_outline(painter, frame, op, self._palette.critical, 3)
