"""Layers by longest paths and barycentres, for where no layout engine is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import networkx as nx

from twill_gui.views.graph.layers import Drawing, NumberedEdge, Pitch, Spot

_SWEEPS = 8


def longest_path(edges: Sequence[NumberedEdge], pitch: Pitch) -> Drawing:
    """Draws the connected acyclic graph of `edges`, whose nodes are numbered from 0 without gaps.

    A node's layer is the longest path to it. Each layer is ordered by the middle of its neighbours, downwards and
    upwards in turn, and stands centred over the widest one.
    """
    count = max(max(edge) for edge in edges) + 1
    layer_of = {
        node: number
        for number, layer in enumerate(nx.topological_generations(nx.DiGraph(list(edges))))
        for node in layer
    }
    graph = nx.DiGraph()
    chains: dict[NumberedEdge, list[int]] = {}
    for source, target in edges:
        chain = [source]
        for layer in range(layer_of[source] + 1, layer_of[target]):
            chain.append(len(layer_of))
            layer_of[chain[-1]] = layer
        nx.add_path(graph, [*chain, target])
        chains[source, target] = chain[1:]
    layers = _ordered(graph, layer_of)
    across = _centred(layers, {node: pitch.node if node < count else pitch.bend for node in layer_of})
    spots = {node: Spot(layer, across[node]) for node, layer in layer_of.items()}
    bends = {edge: tuple(spots[node] for node in chain) for edge, chain in chains.items()}
    return Drawing({node: spots[node] for node in range(count)}, bends)


def _ordered(graph: nx.DiGraph, layer_of: Mapping[int, int]) -> list[list[int]]:
    layers: list[list[int]] = [[] for _ in range(max(layer_of.values()) + 1)]
    for node in sorted(layer_of):
        layers[layer_of[node]].append(node)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        neighbours = graph.pred if down else graph.succ
        for layer in layers if down else reversed(layers):
            rank = {node: number / len(other) for other in layers for number, node in enumerate(other)}
            middle = {
                node: sum(rank[other] for other in neighbours[node]) / len(neighbours[node])
                if neighbours[node]
                else rank[node]
                for node in layer
            }
            layer.sort(key=middle.__getitem__)
    return layers


def _centred(layers: Sequence[Sequence[int]], sizes: Mapping[int, float]) -> dict[int, float]:
    widths = [sum(sizes[node] for node in layer) for layer in layers]
    across: dict[int, float] = {}
    for layer, width in zip(layers, widths, strict=True):
        place = (max(widths) - width) / 2
        for node in layer:
            across[node] = place + sizes[node] / 2
            place += sizes[node]
    return across
