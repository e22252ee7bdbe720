"""Layers by `fast-sugiyama`. Raises ImportError when imported where that is not installed."""

from __future__ import annotations

from collections.abc import Sequence

from fast_sugiyama import from_edges

from twill_gui.views.graph.layers import Drawing, NumberedEdge, Pitch, Spot


def sugiyama(edges: Sequence[NumberedEdge], pitch: Pitch) -> Drawing:
    """Draws the connected acyclic graph of `edges`, whose nodes are numbered from 0 without gaps."""
    [(places, _, _, pieces)] = from_edges(
        edges, vertex_spacing=pitch.node, dummy_vertices=True, dummy_size=pitch.bend
    ).to_list()
    count = max(max(edge) for edge in edges) + 1
    top = max(y for _, (_, y) in places)
    spots = {int(node): Spot(round((top - y) / pitch.node), x) for node, (x, y) in places}
    onwards: dict[int, list[int]] = {}
    for source, target in pieces or ():
        onwards.setdefault(int(source), []).append(int(target))
    bends: dict[NumberedEdge, tuple[Spot, ...]] = {}
    for source in range(count):
        for node in onwards.get(source, ()):
            chain: list[Spot] = []
            while node >= count:  # a stand-in for the edge in a layer that it passes
                chain.append(spots[node])
                [node] = onwards[node]
            bends[source, node] = tuple(chain)
    return Drawing({node: spots[node] for node in range(count)}, bends)
