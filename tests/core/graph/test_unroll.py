"""Unrolling and folding against iterations counted one by one, and against each other."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from core.graph.fold import fold
from core.graph.model import Dependence, DependenceKind, Graph, GroupKind, Limits, Op, Pin, RegisterFile, Result, Space
from core.graph.unroll import copy_id, unroll

MACHINE = Limits({"x": 1}, RegisterFile(4096, 255), 100)


def graph_of(dependences: list[Dependence], ops: str = "abc") -> Graph:
    """Ops that differ in kind, so that none is a copy of another."""
    found = {name: Op(name, f"kind {name}", latency=3, result=Result(Space.REGISTERS, 2)) for name in ops}
    return Graph("loop", MACHINE, (GroupKind("g", 4),), found, tuple(dependences))


def random_graph(chance: random.Random) -> Graph:
    edges = [
        Dependence(*chance.choices("abc", k=2), latency=chance.randint(0, 5), distance=chance.randint(0, 7))
        for _ in range(4)
    ]
    unlike = {(d.source, d.target, d.distance): d for d in edges}
    return graph_of(list(unlike.values()))


def instances(graph: Graph, per_iteration: int, total: int) -> set[tuple[str, int, str, int]]:
    """Who waits for whom over `total` iterations of the original loop, each op named by its own iteration."""

    def at(op: str, iteration: int) -> tuple[str, int]:
        name, _, copy = op.partition("#")
        return name, iteration * per_iteration + int(copy or 0)

    found: set[tuple[str, int, str, int]] = set()
    for d in graph.dependences:
        for iteration in range(d.distance, total // per_iteration):
            found.add((*at(d.source, iteration - d.distance), *at(d.target, iteration)))
    return found


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("times", [1, 2, 3, 5])
def test_the_same_instances_wait_for_the_same_ones(seed: int, times: int) -> None:
    graph = random_graph(random.Random(seed))
    assert instances(unroll(graph, times), times, 30) == instances(graph, 1, 30)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("times", [2, 3, 4])
def test_folding_undoes_unrolling(seed: int, times: int) -> None:
    graph = random_graph(random.Random(seed))
    folding = fold(unroll(graph, times))
    assert folding is not None and folding.iterations == times
    assert folding.copies == {copy_id(op, 0): tuple(copy_id(op, n) for n in range(times)) for op in graph.ops}
    folded = {(d.source, d.target, d.distance, d.latency) for d in folding.graph.dependences}
    assert folded == {(copy_id(d.source, 0), copy_id(d.target, 0), d.distance, d.latency) for d in graph.dependences}


def test_copies_are_dealt_out_by_kind_where_loads_were_hoisted() -> None:
    unrolled = unroll(graph_of([Dependence("a", "b", 3), Dependence("b", "c", 3), Dependence("c", "c", 3, 1)]), 3)
    hoisted = sorted(unrolled.ops, key=lambda name: not name.startswith("a"))
    folding = fold(replace(unrolled, ops={name: unrolled.ops[name] for name in hoisted}))
    assert folding is not None and folding.copies["b#0"] == ("b#0", "b#1", "b#2")


def test_a_loop_with_one_dependence_more_in_one_copy_does_not_fold() -> None:
    unrolled = unroll(graph_of([Dependence("a", "b", 3)]), 2)
    more = Dependence("b#0", "c#1", 1, kind=DependenceKind.ORDER)
    assert fold(replace(unrolled, dependences=(*unrolled.dependences, more))) is None


def test_a_folded_op_takes_what_its_largest_copy_takes_and_every_ring_is_kept() -> None:
    graph = graph_of([Dependence("a", "b", 3)])
    shared = {**graph.ops, "a": replace(graph.ops["a"], result=Result(Space.SHARED, 16), hand_off_bytes=0)}
    unrolled = unroll(replace(graph, ops=shared), 2)
    ops = {**unrolled.ops, "b#1": replace(unrolled.ops["b#1"], latency=9, hand_off_bytes=8)}
    folding = fold(replace(unrolled, ops=ops))
    assert folding is not None
    assert folding.graph.ops["b#0"].latency == 9 and folding.graph.ops["b#0"].hand_off_bytes == 8
    assert folding.graph.machine.fixed_shared_bytes == 32 and folding.graph.ops["a#0"].result.amount == 0


def test_pins() -> None:
    graph = graph_of([])
    unrolled = unroll(replace(graph, pins={"a": Pin(group="one")}), 2)
    assert unrolled.pins == {"a#0": Pin(group="one"), "a#1": Pin(group="one")}
    assert fold(replace(unrolled, pins={"a#0": Pin(group="one")})) is None
    with pytest.raises(ValueError, match="pinned starts"):
        unroll(replace(graph, pins={"a": Pin(start=0)}), 2)
    with pytest.raises(ValueError, match="0 times"):
        unroll(graph, 0)
