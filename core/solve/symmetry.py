"""Interchangeable ops of a graph, such as the sub-tiles of one tile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

from core.graph.model import Graph

Colours = dict[str, int]


def interchangeable_with(graph: Graph, root: str) -> list[str]:
    """Ops that an automorphism of the graph swaps with `root`, in the order of the text.

    Found by colour refinement with the pair singled out on both sides; a swap that this does not determine is left
    out, which only makes symmetry breaking weaker. Ops with a pin are swapped with nothing.
    """
    colours = _refine(graph, {})
    alike = [name for name in graph.ops if name != root and colours[name] == colours[root]]
    return [name for name in alike if _swap(graph, root, name)]


def _same_op(graph: Graph, a: str, b: str) -> bool:
    return _description(graph, a) == _description(graph, b)


def _description(graph: Graph, name: str) -> Hashable:
    """All that rules say of the op alone."""
    op = graph.ops[name]
    return (
        name if name in graph.pins else "",
        op.needs_warps,
        op.blocks,
        op.issue_cycles,
        op.latency,
        op.asynchronous,
        op.matrix,
        op.variable_latency,
        op.result,
        op.hand_off_cycles,
        op.hand_off_bytes,
        op.queue,
    )


def _edges(graph: Graph) -> list[tuple[str, str, Hashable]]:
    return [(d.source, d.target, (d.latency, d.distance, d.kind, d.release, d.blocking)) for d in graph.dependences]


def _swap(graph: Graph, a: str, b: str) -> bool:
    """Whether an automorphism swaps a and b."""
    if _preserves(graph, {**{name: name for name in graph.ops}, a: b, b: a}):
        return True
    singled: list[tuple[str, str]] = [(a, b), (b, a)]
    while True:
        left = _refine(graph, {one: i for i, (one, _) in enumerate(singled)})
        right = _refine(graph, {other: i for i, (_, other) in enumerate(singled)})
        if Counter(left.values()) != Counter(right.values()):
            return False
        shared = next((name for name in graph.ops if list(left.values()).count(left[name]) > 1), None)
        if shared is None:
            break
        # Undetermined by the pair alone: try the automorphism that leaves this op in place.
        if left[shared] != right[shared]:
            return False
        singled.append((shared, shared))
    image = {colour: name for name, colour in right.items()}
    mapping = {name: image[colour] for name, colour in left.items()}
    return _preserves(graph, mapping)


def _refine(graph: Graph, singled: Mapping[str, int]) -> Colours:
    """Colours that are equal for ops that no dependence, near or far, tells apart; comparable between calls."""
    edges = _edges(graph)
    keys: dict[str, Hashable] = {name: (_description(graph, name), singled.get(name, -1)) for name in graph.ops}
    colours = _number(keys)
    while True:
        around: dict[str, list[Hashable]] = {name: [] for name in graph.ops}
        for source, target, label in edges:
            around[source].append(("to", label, colours[target]))
            around[target].append(("from", label, colours[source]))
        keys = {name: (colours[name], tuple(sorted(map(repr, around[name])))) for name in graph.ops}
        finer = _number(keys)
        if len(set(finer.values())) == len(set(colours.values())):
            return finer
        colours = finer


def _number(keys: Mapping[str, Hashable]) -> Colours:
    """Numbers by the keys' order as text, so that they do not depend on the names of ops."""
    order = {key: i for i, key in enumerate(sorted(set(map(repr, keys.values()))))}
    return {name: order[repr(key)] for name, key in keys.items()}


def _preserves(graph: Graph, mapping: Mapping[str, str]) -> bool:
    edges = Counter(_edges(graph))
    mapped = Counter((mapping[source], mapping[target], label) for source, target, label in edges.elements())
    return edges == mapped and all(_same_op(graph, a, b) for a, b in mapping.items())
