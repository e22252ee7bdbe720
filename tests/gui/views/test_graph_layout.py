"""Boxes and edges of laid out graphs: nothing overlaps, nothing is missing, carried edges run apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from chart_cases import BLACKWELL, HOPPER, NAMES, case

from core.graph.model import Dependence, DependenceKind, Graph
from twill_gui.views.graph.layout import Box, Direction, Edge, GraphLayout, Point, Sizes, lay_out

SIZES = Sizes(130, 32, 30, 13)
GRAPHS = {name: case(name)[0] for name in NAMES}
DIRECTIONS = pytest.mark.parametrize("direction", list(Direction), ids=lambda direction: direction.value)


def layouts(direction: Direction) -> list[tuple[Graph, GraphLayout]]:
    return [(graph, lay_out(graph, SIZES, direction)) for graph in GRAPHS.values()]


def overlap(one: Box, other: Box) -> bool:
    return (
        one.left < other.left + other.width
        and other.left < one.left + one.width
        and one.top < other.top + other.height
        and other.top < one.top + one.height
    )


def around(first: Point, last: Point) -> Box:
    """The box of a level or upright piece, or of a curve that stays between its ends."""
    left, top = min(first.x, last.x), min(first.y, last.y)
    return Box(left, top, abs(first.x - last.x), abs(first.y - last.y))


def along(point: Point, direction: Direction) -> float:
    return point.y if direction is Direction.DOWN else point.x


@DIRECTIONS
def test_boxes_have_the_size_asked_for_and_stay_apart(direction: Direction) -> None:
    for graph, layout in layouts(direction):
        assert layout.boxes.keys() == graph.ops.keys()
        for box in layout.boxes.values():
            assert (box.width, box.height) == (SIZES.width, SIZES.height)
            assert box.left >= 0 and box.left + box.width <= layout.width
            assert box.top >= 0 and box.top + box.height <= layout.height
        assert not any(overlap(a, b) for a, b in combinations(layout.boxes.values(), 2))


@DIRECTIONS
def test_every_dependence_is_in_one_edge_and_only_carried_ones_run_apart(direction: Direction) -> None:
    for graph, layout in layouts(direction):
        drawn = [dependence for edge in layout.edges for dependence in edge.dependences]
        assert sorted(map(repr, drawn)) == sorted(map(repr, graph.dependences))
        for edge in layout.edges:
            assert {(d.source, d.target) for d in edge.dependences} == {(edge.source, edge.target)}
            assert all(bool(dependence.distance) is edge.apart for dependence in edge.dependences)
            assert bool(edge.label) is edge.apart is (edge.label_at is not None)


@DIRECTIONS
def test_edges_begin_and_end_at_their_ops_and_cut_no_other(direction: Direction) -> None:
    for _, layout in layouts(direction):
        for edge in layout.edges:
            for op, point in ((edge.source, edge.points[0]), (edge.target, edge.points[-1])):
                box = layout.boxes[op]
                assert box.left <= point.x <= box.left + box.width
                assert box.top <= point.y <= box.top + box.height
            for first, last in pairwise(edge.points):
                piece = around(first, last)
                assert piece.left >= 0 and piece.left + piece.width <= layout.width
                assert piece.top >= 0 and piece.top + piece.height <= layout.height
                assert not any(overlap(piece, box) for box in layout.boxes.values()), edge


@DIRECTIONS
def test_what_happens_within_an_iteration_leads_one_way(direction: Direction) -> None:
    for _, layout in layouts(direction):
        for edge in layout.edges:
            if not edge.apart:
                steps = [along(point, direction) for point in edge.points]
                assert steps == sorted(steps) and steps[0] < steps[-1]


@DIRECTIONS
def test_edges_that_run_apart_share_no_piece_beside_the_layers(direction: Direction) -> None:
    for _, layout in layouts(direction):
        beside = [edge for edge in layout.edges if edge.apart and edge.source != edge.target]
        for one, other in combinations(beside, 2):
            assert not overlap(_thick(one), _thick(other)), (one, other)


def _thick(edge: Edge) -> Box:
    box = around(edge.points[2], edge.points[3])
    return Box(box.left - 1, box.top - 1, box.width + 2, box.height + 2)


def test_labels_name_the_distances() -> None:
    graph = case(HOPPER)[0]
    again = Dependence("max0", "max0", 3, distance=2)
    layout = lay_out(replace(graph, dependences=(*graph.dependences, again)), SIZES, Direction.DOWN)
    labels = {(edge.source, edge.target): edge.label for edge in layout.edges if edge.apart}
    assert labels["max0", "max0"] == "δ 1, 2"
    assert labels["max1", "max1"] == "δ 1"


def test_a_cycle_within_one_iteration_is_shown_as_such() -> None:
    graph = case("figure_1")[0]
    back = Dependence("o", "s", 1, kind=DependenceKind.ORDER)
    layout = lay_out(replace(graph, dependences=(*graph.dependences, back)), SIZES, Direction.DOWN)
    [closing] = [edge for edge in layout.edges if back in edge.dependences]
    assert closing.apart and closing.label == "δ 0"


def test_the_graph_may_run_down_or_to_the_right() -> None:
    graph = case(BLACKWELL)[0]
    down, right = (lay_out(graph, SIZES, direction) for direction in (Direction.DOWN, Direction.RIGHT))
    assert down.width / down.height < right.width / right.height
