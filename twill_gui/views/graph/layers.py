"""An acyclic graph in layers: every edge leads downwards, edges are short and cross little. No Qt.

Networkx and the layout engine are imported inside the functions: only who looks at a graph pays for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

Edge = tuple[str, str]
NumberedEdge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a layer (0 is the first one); `across` is its middle, in the unit of `Pitch`."""

    layer: int
    across: float


@dataclass(frozen=True, slots=True)
class Pitch:
    """Least distances within a layer: between the middles of two nodes, and of two edges that pass through."""

    node: float
    bend: float


@dataclass(frozen=True, slots=True)
class Layers:
    """Where the nodes are, and where an edge over several layers passes those in between. Starts at 0 across."""

    spots: Mapping[str, Spot]
    bends: Mapping[Edge, tuple[Spot, ...]]
    count: int
    width: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """A connected graph of numbered nodes in layers."""

    spots: Mapping[int, Spot]
    bends: Mapping[NumberedEdge, tuple[Spot, ...]]


Engine = Callable[[Sequence[NumberedEdge], Pitch], Drawing]


def acyclic(nodes: Sequence[str], edges: Iterable[Edge]) -> frozenset[Edge]:
    """The edges without those that close a cycle: in every strongly connected part what leads backwards in the order of
    `nodes`, and edges from a node to itself."""
    import networkx as nx

    graph = nx.DiGraph(list(edges))
    order = {node: number for number, node in enumerate(nodes)}
    part = {node: number for number, part in enumerate(nx.strongly_connected_components(graph)) for node in part}
    return frozenset((a, b) for a, b in graph.edges if part[a] != part[b] or order[a] < order[b])


def arrange(nodes: Sequence[str], edges: Iterable[Edge], pitch: Pitch, engine: Engine | None = None) -> Layers:
    """Layers for `nodes` and acyclic `edges`: connected parts side by side, single nodes in columns after them."""
    import networkx as nx

    engine = engine or best_engine()
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(sorted(edges))
    order = {node: number for number, node in enumerate(nodes)}
    parts = [sorted(part, key=order.__getitem__) for part in nx.weakly_connected_components(graph)]
    spots: dict[str, Spot] = {}
    bends: dict[Edge, tuple[Spot, ...]] = {}
    width = 0.0
    for part in sorted((part for part in parts if len(part) > 1), key=lambda part: order[part[0]]):
        width += _add(graph.subgraph(part), part, engine, pitch, width, spots, bends)
    single = [part[0] for part in sorted(parts, key=lambda part: order[part[0]]) if len(part) == 1]
    height = max(_layer_count(spots), isqrt(max(len(single) - 1, 0)) + 1)
    for number, node in enumerate(single):
        column, layer = divmod(number, height)
        spots[node] = Spot(layer, width + (column + 0.5) * pitch.node)
    width += -(-len(single) // height) * pitch.node
    return Layers(spots, bends, _layer_count(spots), width)


def best_engine() -> Engine:
    """The layout engine that is installed; without one (it has no wheel for every platform) our own."""
    try:
        from twill_gui.views.graph.sugiyama import sugiyama
    except ImportError:
        from twill_gui.views.graph.longest_path import longest_path

        return longest_path
    return sugiyama


def _add(
    graph: nx.DiGraph,
    part: Sequence[str],
    engine: Engine,
    pitch: Pitch,
    left: float,
    spots: dict[str, Spot],
    bends: dict[Edge, tuple[Spot, ...]],
) -> float:
    """Draws a connected part from `left` on; returns the width that it takes."""
    number = {node: index for index, node in enumerate(part)}
    drawing = engine(sorted((number[a], number[b]) for a, b in graph.edges), pitch)
    passed = [spot.across for chain in drawing.bends.values() for spot in chain]
    first = min(
        [spot.across - pitch.node / 2 for spot in drawing.spots.values()] + [x - pitch.bend / 2 for x in passed]
    )
    last = max([spot.across + pitch.node / 2 for spot in drawing.spots.values()] + [x + pitch.bend / 2 for x in passed])

    def moved(spot: Spot) -> Spot:
        return Spot(spot.layer, spot.across - first + left)

    spots.update((part[index], moved(spot)) for index, spot in drawing.spots.items())
    for (a, b), chain in drawing.bends.items():
        bends[part[a], part[b]] = tuple(moved(spot) for spot in chain)
    return last - first


def _layer_count(spots: Mapping[str, Spot]) -> int:
    return max((spot.layer + 1 for spot in spots.values()), default=0)
