"""Layers of acyclic graphs, by the layout engine and by our own: what a layered drawing promises, on random graphs."""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from itertools import pairwise

import networkx as nx
import pytest

from twill_gui.views.graph.layers import Edge, Engine, Layers, Pitch, acyclic, arrange, best_engine
from twill_gui.views.graph.longest_path import longest_path
from twill_gui.views.graph.sugiyama import sugiyama

PITCH = Pitch(node=150.0, bend=14.0)
ENGINES = pytest.mark.parametrize("engine", [sugiyama, longest_path], ids=lambda engine: engine.__name__)


def random_graph(seed: int) -> tuple[list[str], list[Edge]]:
    """Several parts, single nodes among them, edges from earlier to later nodes."""
    rng = random.Random(seed)
    nodes = [f"n{number}" for number in range(rng.randint(1, 60))]
    pairs = {tuple(sorted(rng.sample(range(len(nodes)), 2))) for _ in range(rng.randint(0, 80)) if len(nodes) > 1}
    return nodes, [(nodes[a], nodes[b]) for a, b in sorted(pairs)]


GRAPHS = [random_graph(seed) for seed in range(40)]


def places(layers: Layers) -> dict[int, list[tuple[float, float]]]:
    """By layer, the middle and the size of everything in it, from left to right."""
    found: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for spot in layers.spots.values():
        found[spot.layer].append((spot.across, PITCH.node))
    for chain in layers.bends.values():
        for spot in chain:
            found[spot.layer].append((spot.across, PITCH.bend))
    return {layer: sorted(row) for layer, row in found.items()}


@ENGINES
def test_edges_lead_downwards_through_every_layer_in_between(engine: Engine) -> None:
    for nodes, edges in GRAPHS:
        layers = arrange(nodes, edges, PITCH, engine)
        assert layers.spots.keys() == set(nodes)
        for edge in edges:
            first, last = (layers.spots[node].layer for node in edge)
            assert [spot.layer for spot in layers.bends.get(edge, ())] == list(range(first + 1, last))
            assert first < last < layers.count


@ENGINES
def test_nothing_in_a_layer_overlaps_and_all_is_within_the_width(engine: Engine) -> None:
    for nodes, edges in GRAPHS:
        layers = arrange(nodes, edges, PITCH, engine)
        for row in places(layers).values():
            for (left, left_size), (right, right_size) in pairwise(row):
                assert right - left >= (left_size + right_size) / 2 - 1e-6
            assert row[0][0] - row[0][1] / 2 >= -1e-6
            assert row[-1][0] + row[-1][1] / 2 <= layers.width + 1e-6


def test_our_own_uses_as_many_layers_as_the_longest_path_needs() -> None:
    for nodes, edges in GRAPHS:
        layers = arrange(nodes, edges, PITCH, longest_path)
        graph = nx.DiGraph(edges)
        for part in nx.weakly_connected_components(graph):
            longest = nx.dag_longest_path_length(graph.subgraph(part), default_weight=1)
            assert {layers.spots[node].layer for node in part} == set(range(longest + 1))


@ENGINES
def test_the_same_graph_is_arranged_the_same_way(engine: Engine) -> None:
    for nodes, edges in GRAPHS[:10]:
        shuffled = random.Random(1).sample(edges, len(edges))
        assert arrange(nodes, edges, PITCH, engine) == arrange(nodes, shuffled, PITCH, engine)


def test_the_engine_crosses_less_than_our_own() -> None:
    crossings = [
        sum(_crossings(arrange(*graph, PITCH, engine)) for graph in GRAPHS[:12]) for engine in (sugiyama, longest_path)
    ]
    assert crossings[0] <= crossings[1]


def test_without_the_engine_there_is_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert best_engine() is sugiyama
    monkeypatch.setitem(sys.modules, "twill_gui.views.graph.sugiyama", None)
    assert best_engine() is longest_path


def test_of_a_cycle_what_leads_backwards_is_left_out() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("c", "c"), ("e", "b")]
    assert acyclic(list("abcde"), edges) == {("a", "b"), ("b", "c"), ("d", "a"), ("e", "b")}


def test_of_an_acyclic_graph_nothing_is_left_out() -> None:
    for nodes, edges in GRAPHS:
        assert acyclic(nodes[::-1], edges) == set(edges)


def _crossings(layers: Layers) -> int:
    """Pairs of pieces between the same two layers whose ends are in different orders."""
    pieces: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for edge, chain in layers.bends.items():
        spots = [layers.spots[edge[0]], *chain, layers.spots[edge[1]]]
        for first, last in pairwise(spots):
            pieces[first.layer].append((first.across, last.across))
    return sum(
        (a - c) * (b - d) < 0 for row in pieces.values() for number, (a, b) in enumerate(row) for c, d in row[:number]
    )
