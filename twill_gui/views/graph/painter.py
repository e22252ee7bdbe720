"""Painting a laid out graph: edges, then boxes with their names."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from core.graph.model import DependenceKind
from twill_gui.palette import GroupStyle, ViewPalette
from twill_gui.views.graph.camera import Camera
from twill_gui.views.graph.content import GraphContent
from twill_gui.views.graph.layout import Edge, Sizes
from twill_gui.views.graph.shapes import EdgeShape, Shapes
from twill_gui.views.timeline.brushes import pattern_brush
from twill_gui.views.timeline.text import TextCutter

TEXT_PX, SMALL_PX, LEAST_TEXT_PX = 12.0, 10.5, 8.0
MOST_NAME_PX = 190.0
STRIPE_PX = 5.0
PAD_PX = 5.0
LABEL_PAD_PX = 6.0
CORNER_PX = 3.0
PLAIN_PX, STRONG_PX, CRITICAL_PX = 1.1, 2.0, 3.0
LEAST_LINE_SCALE = 0.75  # lines do not get thinner than this, however small the graph
_TEXT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine


class Fonts:
    """Names, captions and labels at one scale. Texts grow and shrink with the boxes but stay readable; where two lines
    would not fit there is the name alone."""

    def __init__(self, font: QFont, scale: float) -> None:
        self.name = TextCutter(_sized(font, TEXT_PX * scale, QFont.Weight.DemiBold))
        self.small = TextCutter(_sized(font, SMALL_PX * scale, QFont.Weight.Normal))
        self.two_lines = SMALL_PX * scale >= LEAST_TEXT_PX
        self._kind = self._kind_of(scale)

    def fits(self, scale: float) -> bool:
        """Whether texts look the same at another scale: fonts have whole pixels."""
        return self._kind == self._kind_of(scale)

    @staticmethod
    def _kind_of(scale: float) -> tuple[int, int, bool]:
        return _pixels(TEXT_PX * scale), _pixels(SMALL_PX * scale), SMALL_PX * scale >= LEAST_TEXT_PX


@dataclass(frozen=True, slots=True)
class GraphFrame:
    """All that a frame is painted from. `view`: what can be seen of the layout."""

    content: GraphContent
    shapes: Shapes
    camera: Camera
    selection: frozenset[str]
    palette: ViewPalette
    fonts: Fonts
    ratio: float
    view: QRectF

    def shows(self, box: QRectF) -> bool:
        """Whether any of a box of the layout can be seen, or of a line along its edge."""
        margin = CRITICAL_PX + 1 / self.camera.scale
        return self.view.intersects(box.adjusted(-margin, -margin, margin, margin))


def box_size(font: QFont, content: GraphContent) -> Sizes:
    """Pixels of boxes that hold the ops' names and captions, before any zoom."""
    fonts = Fonts(font, 1.0)
    names = max((fonts.name.width(op) for op in content.graph.ops), default=0.0)
    captions = max((fonts.small.width(content.caption(op)) for op in content.graph.ops), default=0.0)
    width = min(max(names, captions), MOST_NAME_PX) + STRIPE_PX + 2 * PAD_PX + 4
    height = fonts.name.height + fonts.small.height + 4
    return Sizes(round(width), round(height), fonts.small.width("δ 10") + LABEL_PAD_PX, fonts.small.height)


def paint_graph(painter: QPainter, frame: GraphFrame) -> None:
    """Paints edges and boxes; the critical recurrence is thick, what touches the selection is strong."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    seen = [shape for shape in frame.shapes.edges if frame.shows(shape.bounds)]
    for shape in sorted(seen, key=lambda shape: _rank(frame, shape.edge)):
        paint_edge(painter, frame, shape, _is_strong(frame, shape.edge))
    for op, box in frame.shapes.boxes.items():
        if frame.shows(box):
            _paint_op(painter, frame, op)
    _paint_labels(painter, frame)


def paint_edge(painter: QPainter, frame: GraphFrame, shape: EdgeShape, strong: bool) -> None:
    """One edge: dashed if it only orders its ends in time, and in a colour of its own if it runs apart."""
    edge, camera = shape.edge, frame.camera
    colour = QColor(_edge_colour(frame, edge, strong))
    critical = _is_critical(frame, edge)
    width = CRITICAL_PX if critical else STRONG_PX if strong else PLAIN_PX
    pen = QPen(colour, max(width, width * LEAST_LINE_SCALE / camera.scale))
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if all(dependence.kind is not DependenceKind.FLOW for dependence in edge.dependences):
        pen.setDashPattern([5.0, 3.0])
    painter.save()
    painter.translate(camera.origin)
    painter.scale(camera.scale, camera.scale)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(shape.line)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPolygon(shape.head)
    painter.restore()


def paint_outline(painter: QPainter, frame: GraphFrame, op: str, colour: str, width: float) -> None:
    """A frame around an op's box."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(colour), width))
    margin = width / 2 + 1
    box = frame.camera.to_widget(frame.shapes.boxes[op]).adjusted(-margin, -margin, margin, margin)
    painter.drawRoundedRect(box, CORNER_PX + margin, CORNER_PX + margin)


def _rank(frame: GraphFrame, edge: Edge) -> tuple[bool, bool]:
    """What is painted later, over the rest."""
    return _is_critical(frame, edge), _is_strong(frame, edge)


def _is_strong(frame: GraphFrame, edge: Edge) -> bool:
    return edge.source in frame.selection or edge.target in frame.selection


def _is_critical(frame: GraphFrame, edge: Edge) -> bool:
    return any(dependence in frame.content.critical for dependence in edge.dependences)


def _edge_colour(frame: GraphFrame, edge: Edge, strong: bool) -> str:
    palette = frame.palette
    if _is_critical(frame, edge):
        return palette.critical
    if edge.apart:
        return palette.carried_arrow
    return palette.arrow if strong else palette.boundary


def _paint_op(painter: QPainter, frame: GraphFrame, op: str) -> None:
    content, palette = frame.content, frame.palette
    style = palette.group_style(content.group_number(op))
    scale = frame.camera.scale
    box = frame.camera.to_widget(frame.shapes.boxes[op])
    corner = CORNER_PX * min(scale, 1.0)
    critical = content.is_critical(op)
    _paint_box(painter, box, style, corner, STRIPE_PX * scale, frame.ratio)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(palette.critical if critical else style.border), 2.0 if critical else 1.0))
    painter.drawRoundedRect(box, corner, corner)
    left, pad = (STRIPE_PX + PAD_PX) * scale, PAD_PX * scale
    _paint_texts(painter, frame, op, box.adjusted(left, 0, -pad, 0), style.text)


def _paint_box(painter: QPainter, box: QRectF, style: GroupStyle, corner: float, stripe: float, ratio: float) -> None:
    """The fill with a stripe of the full hue at its left."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(style.border))
    painter.drawRoundedRect(box, corner, corner)
    painter.setBrush(pattern_brush(style.fill, style.pattern, style.pattern_colour, ratio))
    painter.drawRoundedRect(box.adjusted(stripe, 0, 0, 0), corner, corner)


def _paint_texts(painter: QPainter, frame: GraphFrame, op: str, room: QRectF, colour: str) -> None:
    name, small = frame.fonts.name, frame.fonts.small
    painter.setPen(QColor(colour))
    painter.setFont(name.font)
    if not frame.fonts.two_lines:
        painter.drawText(room, _TEXT, _cut_name(name, op, room.width()))
        return
    top = room.center().y() - (name.height + small.height) / 2
    painter.drawText(QRectF(room.left(), top, room.width(), name.height), _TEXT, _cut_name(name, op, room.width()))
    painter.setFont(small.font)
    below = QRectF(room.left(), top + name.height, room.width(), small.height)
    painter.drawText(below, _TEXT, small.cut(frame.content.caption(op), room.width()))


def _cut_name(cutter: TextCutter, op: str, room: float) -> str:
    """The name, elided before its ordinal, by which ops of one kind are told apart."""
    if cutter.width(op) <= room:
        return op
    stem, dot, ordinal = op.rpartition(".")
    tail = dot + ordinal if stem else ""
    return cutter.cut(stem or op, room - cutter.width(tail)) + tail


def _paint_labels(painter: QPainter, frame: GraphFrame) -> None:
    """The distances, in boxes on their lines; none over an op or another label."""
    small = frame.fonts.small
    painter.setFont(small.font)
    taken = [frame.camera.to_widget(box) for box in frame.shapes.boxes.values()]
    view = frame.camera.to_widget(frame.view)
    for edge in (shape.edge for shape in frame.shapes.edges):
        if edge.label_at is None:
            continue
        middle = frame.camera.to_widget(QRectF(edge.label_at.x, edge.label_at.y, 0, 0)).topLeft()
        size = QSizeF(small.width(edge.label) + LABEL_PAD_PX, small.height)
        box = QRectF(middle - QPointF(size.width(), size.height()) / 2, size)
        if any(box.intersects(other) for other in taken):
            continue
        taken.append(box)
        if not view.intersects(box):
            continue
        colour = QColor(_edge_colour(frame, edge, strong=False))
        painter.setPen(QPen(colour, 1))
        painter.setBrush(QColor(frame.palette.window))
        painter.drawRoundedRect(box, 3, 3)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, edge.label)


def _sized(font: QFont, pixels: float, weight: QFont.Weight) -> QFont:
    sized = QFont(font)
    sized.setPixelSize(_pixels(pixels))
    sized.setWeight(weight)
    return sized


def _pixels(pixels: float) -> int:
    return int(max(pixels, LEAST_TEXT_PX))
