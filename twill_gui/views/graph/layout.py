"""Where the boxes and edges of a dependence graph are, in unscaled pixels. No Qt.

What happens within an iteration runs in layers; loop-carried dependences run apart from it, beside the layers.
Everything is laid out downwards and turned on its side at the end if the graph is to run to the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from core.graph.model import Dependence, Graph
from twill_gui.views.graph.layers import Layers, Pitch, acyclic, arrange
from twill_gui.views.graph.routes import plan_routes

MARGIN = 12.0
LAYER_GAP = 30.0
BEND_PITCH = 14.0
LOOP_BULGE = 11.0
PORT_PITCH, PORT_SHARE = 12.0, 0.4
APART_PORT = 0.36  # how far from the middle of its side, in sides, an edge that runs apart leaves and arrives


class Direction(Enum):
    """Where dependences lead."""

    DOWN = "down"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Point:
    """A place, in pixels."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, in pixels."""

    left: float
    top: float
    width: float
    height: float

    @property
    def center(self) -> Point:
        """Its middle."""
        return Point(self.left + self.width / 2, self.top + self.height / 2)


@dataclass(frozen=True, slots=True)
class Edge:
    """All dependences from one op to another that are drawn as one: those within an iteration, or those `apart`.

    The latter are carried by the loop, or close a cycle within an iteration, which no II satisfies.

    `points`: a smooth curve through them, or, apart, straight pieces with round corners. `label_at`: the middle of
    the label.
    """

    source: str
    target: str
    apart: bool
    dependences: tuple[Dependence, ...]
    points: tuple[Point, ...]
    label: str
    label_at: Point | None


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """A laid out graph; its corner is at (0, 0)."""

    direction: Direction
    boxes: Mapping[str, Box]
    edges: tuple[Edge, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """Pixels of every op's box and of the longest label of an edge."""

    width: float
    height: float
    label_width: float
    label_height: float


def lay_out(graph: Graph, sizes: Sizes, direction: Direction) -> GraphLayout:
    """The layout of a graph; the same graph and sizes give the same layout."""
    return _Plan(graph, sizes, direction).layout()


class _Plan:
    """One layout in the making. `across` runs along a layer, `along` from layer to layer."""

    def __init__(self, graph: Graph, sizes: Sizes, direction: Direction) -> None:
        self._direction = direction
        down = direction is Direction.DOWN
        self._breadth, self._depth = (sizes.width, sizes.height) if down else (sizes.height, sizes.width)
        label = sizes.label_width if down else sizes.label_height
        self._loop_width = label + 6
        self._inside, self._apart = _bundled(graph)
        layers = arrange(list(graph.ops), self._inside, Pitch(self._breadth + BEND_PITCH, BEND_PITCH))
        self._ops, self._layers = list(graph.ops), layers
        detours = [edge for edge in self._apart if edge[0] != edge[1]]
        loops = [source for source, target in self._apart if source == target]
        self._routes = plan_routes(layers, detours, loops, label + 6)
        self._tops = self._layer_tops(layers)
        self._left = MARGIN + self._routes.left_width

    def layout(self) -> GraphLayout:
        down = self._direction is Direction.DOWN
        boxes: dict[str, Box] = {}
        for op in self._ops:
            spot = self._layers.spots[op]
            corner = self._point(self._left + spot.across - self._breadth / 2, self._tops[spot.layer])
            size = (self._breadth, self._depth) if down else (self._depth, self._breadth)
            boxes[op] = Box(corner.x, corner.y, *size)
        edges = [*self._inside_edges(), *self._apart_edges()]
        breadth = self._left + self._layers.width + self._routes.right_width + MARGIN
        depth = self._tops[-1] - LAYER_GAP + MARGIN + LOOP_BULGE
        return GraphLayout(self._direction, boxes, tuple(edges), *((breadth, depth) if down else (depth, breadth)))

    def _layer_tops(self, layers: Layers) -> list[float]:
        """Where each layer begins, and where the one after the last would."""
        tops = [MARGIN + self._routes.gaps.get(0, 0.0)]
        for layer in range(layers.count):
            tops.append(tops[-1] + self._depth + LAYER_GAP + self._routes.gaps.get(layer + 1, 0.0))
        return tops

    def _inside_edges(self) -> Iterable[Edge]:
        leaving = _ports(self._layers, self._inside, self._breadth, at_source=True)
        arriving = _ports(self._layers, self._inside, self._breadth, at_source=False)
        for edge, dependences in self._inside.items():
            source, target = (self._layers.spots[op] for op in edge)
            points = [(source.across + leaving[edge], self._tops[source.layer] + self._depth)]
            for bend in self._layers.bends.get(edge, ()):
                top = self._tops[bend.layer]
                points += [(bend.across, top), (bend.across, top + self._depth)]
            points.append((target.across + arriving[edge], self._tops[target.layer]))
            yield Edge(*edge, False, dependences, self._points(points), "", None)

    def _apart_edges(self) -> Iterable[Edge]:
        for edge, dependences in self._apart.items():
            corners = self._loop(edge[0]) if edge[0] == edge[1] else self._detour(edge)
            (a, b), (c, d) = corners[len(corners) // 2 - 1], corners[len(corners) // 2]
            at = self._point(self._left + (a + c) / 2, (b + d) / 2)
            distances = sorted({dependence.distance for dependence in dependences})
            label = f"δ {', '.join(map(str, distances))}"
            yield Edge(*edge, True, dependences, self._points(corners), label, at)

    def _loop(self, op: str) -> list[tuple[float, float]]:
        """Out into the gap after the op and back, at the corner where no detour leaves."""
        spot = self._layers.spots[op]
        after = self._tops[spot.layer] + self._depth
        side = -1 if (op, 1) in self._routes.leaving else 1
        arrive = spot.across + side * (self._breadth / 2 - 5)
        leave = arrive - side * min(self._loop_width, self._breadth / 2)
        return [(leave, after), (leave, after + LOOP_BULGE), (arrive, after + LOOP_BULGE), (arrive, after)]

    def _detour(self, edge: tuple[str, str]) -> list[tuple[float, float]]:
        """Out of the source into the gap after it, beside all layers, and back through the gap before the target."""
        source, target = (self._layers.spots[op] for op in edge)
        side = self._routes.side(edge)
        leave = source.across + side * self._breadth * APART_PORT
        arrive = target.across + side * self._breadth * APART_PORT
        out = self._tops[source.layer] + self._depth + self._routes.leave[edge]
        back = self._tops[target.layer] - self._routes.arrive[edge]
        beside = self._routes.beside(edge)
        beside += self._layers.width if side > 0 else 0.0
        return [
            (leave, self._tops[source.layer] + self._depth),
            (leave, out),
            (beside, out),
            (beside, back),
            (arrive, back),
            (arrive, self._tops[target.layer]),
        ]

    def _points(self, places: Sequence[tuple[float, float]]) -> tuple[Point, ...]:
        return tuple(self._point(self._left + across, along) for across, along in places)

    def _point(self, across: float, along: float) -> Point:
        return Point(across, along) if self._direction is Direction.DOWN else Point(along, across)


Bundle = Mapping[tuple[str, str], tuple[Dependence, ...]]


def _bundled(graph: Graph) -> tuple[Bundle, Bundle]:
    """The dependences within an iteration and the others, by the ops at their ends."""
    near = [(d.source, d.target) for d in graph.dependences if not d.distance]
    forward = acyclic(list(graph.ops), near)
    inside: dict[tuple[str, str], tuple[Dependence, ...]] = {}
    apart: dict[tuple[str, str], tuple[Dependence, ...]] = {}
    for dependence in graph.dependences:
        edge = dependence.source, dependence.target
        bundle = inside if not dependence.distance and edge in forward else apart
        bundle[edge] = (*bundle.get(edge, ()), dependence)
    return inside, apart


def _ports(layers: Layers, bundle: Bundle, breadth: float, at_source: bool) -> Mapping[tuple[str, str], float]:
    """How far from the middle of its op each edge leaves or arrives: side by side, in the order of their other ends."""
    by_op: dict[str, list[tuple[str, str]]] = {}
    for edge in bundle:
        by_op.setdefault(edge[0] if at_source else edge[1], []).append(edge)

    def other_end(edge: tuple[str, str]) -> float:
        bends = layers.bends.get(edge, ())
        if bends:
            return bends[0 if at_source else -1].across
        return layers.spots[edge[1] if at_source else edge[0]].across

    ports: dict[tuple[str, str], float] = {}
    for edges in by_op.values():
        step = min(PORT_PITCH, PORT_SHARE * breadth / len(edges))
        for number, edge in enumerate(sorted(edges, key=other_end)):
            ports[edge] = (number - (len(edges) - 1) / 2) * step
    return ports
