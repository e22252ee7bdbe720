"""Folding: the loop of which a graph is several iterations, as `unroll` or a compiler's unrolling makes it.

A pure edit of the graph, the inverse of unrolling. A schedule of the folded loop, repeated, is one of the graph; so a
solver may place a fraction of the ops. The converse does not hold: the graph may have schedules that repeat nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd

from core.graph.model import Block, Dependence, DependenceKind, Graph, Op, Pin, Result, Space

_Edge = tuple[str, str, int, DependenceKind]


@dataclass(frozen=True, slots=True)
class Folding:
    """`graph` is one iteration of which `original` has several; `copies[op]` are its ops there, in order.

    Where copies differ in cost the folded op has the greatest. Every copy of a value in shared memory keeps its ring:
    these are counted in the folded graph's fixed bytes.
    """

    original: Graph
    graph: Graph
    copies: Mapping[str, tuple[str, ...]]

    @property
    def iterations(self) -> int:
        """How many iterations of the folded loop are one of the original's."""
        return len(next(iter(self.copies.values())))


def fold(graph: Graph) -> Folding | None:
    """The graph folded as often as possible; None if it does not repeat.

    Ops that differ at most in their costs are copies of one another, dealt out in the order of the text. They fold if
    their dependences then repeat as well.
    """
    if not graph.ops or any(pin.start is not None for pin in graph.pins.values()):
        return None
    alike: defaultdict[Hashable, list[str]] = defaultdict(list)
    for name, op in graph.ops.items():
        alike[_shape(op, graph.pins.get(name))].append(name)
    most = gcd(*(len(names) for names in alike.values()))
    for iterations in range(most, 1, -1):
        if most % iterations == 0:
            copies = _deal(graph, alike.values(), iterations)
            edges = _folded_edges(graph, copies, iterations)
            if edges is not None:
                return Folding(graph, _folded_graph(graph, copies, edges), copies)
    return None


def _shape(op: Op, pin: Pin | None) -> Hashable:
    """What copies of one op have in common."""
    units = tuple(block.unit for block in op.blocks)
    kinds = (op.kind, op.asynchronous, op.matrix, op.variable_latency, op.streaming, op.result.space)
    return (*kinds, op.needs_warps, units, pin and pin.group)


def _deal(graph: Graph, alike: Iterable[list[str]], iterations: int) -> dict[str, tuple[str, ...]]:
    """The copies of each op of the first iteration."""
    found: dict[str, tuple[str, ...]] = {}
    for names in alike:
        each = len(names) // iterations
        found |= {names[i]: tuple(names[i::each]) for i in range(each)}
    return {name: found[name] for name in graph.ops if name in found}


def _folded_edges(
    graph: Graph, copies: Mapping[str, tuple[str, ...]], iterations: int
) -> dict[_Edge, list[Dependence]] | None:
    """The dependences that fold into one, by that one; None if some copy lacks one that another has."""
    place = {op: (name, number) for name, ops in copies.items() for number, op in enumerate(ops)}
    edges: defaultdict[_Edge, list[Dependence]] = defaultdict(list)
    for d in graph.dependences:
        (source, from_), (target, to) = place[d.source], place[d.target]
        edges[source, target, to - from_ + iterations * d.distance, d.kind].append(d)
    for (_, _, distance, _), found in edges.items():
        if distance < 0 or len({d.target for d in found}) < iterations or len(found) > iterations:
            return None
    return dict(edges)


def _folded_graph(
    graph: Graph, copies: Mapping[str, tuple[str, ...]], edges: Mapping[_Edge, list[Dependence]]
) -> Graph:
    rings = sum(op.result.amount for op in graph.ops.values() if op.result.space is Space.SHARED)
    fixed = graph.machine.fixed_shared_bytes + rings
    return replace(
        graph,
        machine=replace(graph.machine, fixed_shared_bytes=fixed),
        ops={name: _folded_op([graph.ops[op] for op in ops]) for name, ops in copies.items()},
        dependences=tuple(
            Dependence(
                source,
                target,
                max(d.latency for d in found),
                distance,
                kind,
                max(d.release for d in found),
                any(d.blocking for d in found),
            )
            for (source, target, distance, kind), found in edges.items()
        ),
        pins={name: pin for name, pin in graph.pins.items() if name in copies},
    )


def _folded_op(ops: Sequence[Op]) -> Op:
    """An op that takes at least what each copy takes; its hand-off buffers are those of all of them."""
    first = ops[0]
    amount = 0 if first.result.space is Space.SHARED else max(op.result.amount for op in ops)
    return replace(
        first,
        blocks=tuple(_cover(blocks) for blocks in zip(*(op.blocks for op in ops), strict=True)),
        issue_cycles=max(op.issue_cycles for op in ops),
        latency=max(op.latency for op in ops),
        result=Result(first.result.space, amount),
        hand_off_cycles=max(op.hand_off_cycles for op in ops),
        hand_off_bytes=sum(op.hand_off_bytes for op in ops),
        queue=min(op.queue for op in ops),
    )


def _cover(blocks: Sequence[Block]) -> Block:
    begin = min(block.offset for block in blocks)
    end = max(block.offset + block.duration for block in blocks)
    return Block(blocks[0].unit, begin, end - begin, max(block.amount for block in blocks))
