"""Interchangeable ops: every swap is one, and looking for them stays cheap on long loops."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise, permutations

import pytest

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, RegisterFile
from core.solve import symmetry
from core.solve.symmetry import interchangeable_with


def graph_of(ops: dict[str, int], dependences: list[tuple[str, str, int]]) -> Graph:
    """Ops by latency, dependences by distance."""
    made = {name: Op(name, "op", blocks=(Block("x", 0, 1),), latency=latency) for name, latency in ops.items()}
    arcs = tuple(Dependence(source, target, ops[source], distance) for source, target, distance in dependences)
    return Graph("g", Limits({"x": 1}, RegisterFile(64, 64)), (GroupKind("c"),), made, arcs)


def swaps(graph: Graph, a: str, b: str) -> bool:
    """Whether some permutation of the ops swaps a and b and changes nothing: all are tried."""
    names = list(graph.ops)
    arcs = Counter((d.source, d.target, d.distance) for d in graph.dependences)
    for image in permutations(names):
        to = dict(zip(names, image, strict=True))
        same_ops = all(graph.ops[name].latency == graph.ops[to[name]].latency for name in names)
        if to[a] == b and to[b] == a and same_ops:
            moved = Counter((to[d.source], to[d.target], d.distance) for d in graph.dependences)
            if moved == arcs:
                return True
    return False


@pytest.mark.parametrize("seed", range(60))
def test_what_is_called_interchangeable_is(seed: int) -> None:
    chance = random.Random(seed)
    ops = {name: chance.choice([1, 1, 1, 2]) for name in "abcde"}
    arcs = [(chance.choice("abcde"), chance.choice("abcde"), chance.choice([1, 1, 2])) for _ in range(seed % 5)]
    graph = graph_of(ops, arcs)
    for name in interchangeable_with(graph, "a"):
        assert swaps(graph, "a", name)


def test_the_same_chain_twice() -> None:
    graph = graph_of(dict.fromkeys("abcd", 1), [("a", "b", 0), ("c", "d", 0)])
    assert interchangeable_with(graph, "a") == ["c"]


@pytest.mark.parametrize("linked", [True, False])
def test_a_long_loop_of_like_ops_is_looked_at_once(monkeypatch: pytest.MonkeyPatch, linked: bool) -> None:
    names = [f"o{number}" for number in range(80)]
    arcs = [(one, other, 0) for one, other in pairwise(names)] if linked else []
    looks: list[int] = []
    refine = symmetry._refine  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(symmetry, "_refine", lambda graph, singled: looks.append(1) or refine(graph, singled))
    found = interchangeable_with(graph_of(dict.fromkeys(names, 1), arcs), names[0])
    assert found == ([] if linked else names[1:])
    assert len(looks) == 1
