"""A layout as Qt shapes, made once for many frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath, QPainterPathStroker, QPolygonF

from twill_gui.views.graph.layout import Box, Direction, Edge, GraphLayout, Point

HEAD_PX = 7.0
CORNER_PX = 7.0
REACH_PX = 8.0


@dataclass(frozen=True, slots=True)
class EdgeShape:
    """An edge: its line, its head, the area in which the mouse is on it, and the box around all of them."""

    edge: Edge
    line: QPainterPath
    head: QPolygonF
    reach: QPainterPath
    bounds: QRectF


class Shapes:
    """The boxes and edges of a layout."""

    def __init__(self, layout: GraphLayout) -> None:
        self.layout = layout
        self.size = QRectF(0, 0, layout.width, layout.height).size()
        self.boxes = {op: rectangle(box) for op, box in layout.boxes.items()}
        self.edges = [_edge_shape(edge, layout.direction) for edge in layout.edges]

    def shape_of(self, edge: Edge) -> EdgeShape:
        """The shape of an edge of the layout."""
        return next(shape for shape in self.edges if shape.edge is edge)

    def op_at(self, point: QPointF) -> str | None:
        """The op whose box holds a point of the layout."""
        return next((op for op, box in self.boxes.items() if box.contains(point)), None)

    def edge_at(self, point: QPointF) -> Edge | None:
        """The edge that runs near a point of the layout."""
        return next((shape.edge for shape in self.edges if shape.reach.contains(point)), None)


def rectangle(box: Box) -> QRectF:
    """The box as Qt has it."""
    return QRectF(box.left, box.top, box.width, box.height)


def _edge_shape(edge: Edge, direction: Direction) -> EdgeShape:
    points = [_qpoint(point) for point in edge.points]
    line = _with_round_corners(points) if edge.apart else _smooth(points, direction)
    stroker = QPainterPathStroker()
    stroker.setWidth(REACH_PX)
    head, reach = _head(line), stroker.createStroke(line)
    return EdgeShape(edge, line, head, reach, reach.boundingRect().united(head.boundingRect()))


def _smooth(points: list[QPointF], direction: Direction) -> QPainterPath:
    """A curve that leaves and enters every point in the direction of the layers."""
    path = QPainterPath(points[0])
    for first, last in pairwise(points):
        middle = (first + last) / 2
        if direction is Direction.DOWN:
            path.cubicTo(QPointF(first.x(), middle.y()), QPointF(last.x(), middle.y()), last)
        else:
            path.cubicTo(QPointF(middle.x(), first.y()), QPointF(middle.x(), last.y()), last)
    return path


def _with_round_corners(points: list[QPointF]) -> QPainterPath:
    path = QPainterPath(points[0])
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        into, out = before - corner, after - corner
        radius = min(CORNER_PX, math.hypot(into.x(), into.y()) / 2, math.hypot(out.x(), out.y()) / 2)
        path.lineTo(corner + _unit(into) * radius)
        path.quadTo(corner, corner + _unit(out) * radius)
    path.lineTo(points[-1])
    return path


def _head(line: QPainterPath) -> QPolygonF:
    tip = line.currentPosition()
    before = line.pointAtPercent(line.percentAtLength(max(line.length() - HEAD_PX, 0)))
    along = _unit(tip - before)
    back, side = tip - along * HEAD_PX, QPointF(-along.y(), along.x()) * (HEAD_PX * 0.45)
    return QPolygonF([tip, back + side, back - side])


def _unit(vector: QPointF) -> QPointF:
    length = math.hypot(vector.x(), vector.y())
    return vector / length if length > 1e-6 else QPointF(0, 1)


def _qpoint(point: Point) -> QPointF:
    return QPointF(point.x, point.y)
