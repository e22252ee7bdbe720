"""Macro-op fusion: chains of small elementwise ops become one block, so that a solver has fewer ops to place.

A pure edit of the graph. What is proved of the fused graph holds for schedules that keep the chains together: its least
II may differ from that of the graph as built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from core.graph.model import Block, Dependence, DependenceKind, Graph, Op, Space

AUTOMATIC_FROM = 31
"""Ops from which on `fuse: auto` fuses."""

SMALL_CYCLES = 32
"""The most issue cycles of an op that is fused: vectors over the rows of a tile, and the smallest tiles."""

_ELEMENTWISE = frozenset(
    {"tt.elementwise_inline_asm", "tt.extern_elementwise", "tt.clampf", "tt.fp_to_fp", "tt.precise_divf"}
)


@dataclass(frozen=True, slots=True)
class Part:
    """An op inside a block, which starts `offset` cycles after the block."""

    op: Op
    offset: int


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fused graph and the parts of each of its blocks, in order. `original`: the graph as it was."""

    original: Graph
    graph: Graph
    blocks: Mapping[str, tuple[Part, ...]]

    def holder(self, op: str) -> str:
        """The op of the graph that an op of the original is, or is part of."""
        held = (block for block, parts in self.blocks.items() if any(part.op.id == op for part in parts))
        return next(held, op)

    def opened(self, starts: Mapping[str, int]) -> dict[str, int]:
        """Starts of all ops of the original graph, from those of the fused one.

        Within a block an op works on elements as the one before it hands them on, so it may start earlier than the
        latency of a whole tile would let it.
        """
        opened = {id_: start for id_, start in starts.items() if id_ not in self.blocks}
        for id_, parts in self.blocks.items():
            opened |= {part.op.id: starts[id_] + part.offset for part in parts}
        return {id_: opened[id_] for id_ in self.original.ops}


def fuse(graph: Graph, small_cycles: int = SMALL_CYCLES) -> Fusion:
    """The graph with every chain of small elementwise ops fused: synchronous, on one unit, each op the only user of the
    one before it and none of them pinned.

    A block has the id of its costliest op. It runs its parts one after another: their blocks at their offsets, issue
    cycles summed; its result is that of the last part.
    """
    blocks: dict[str, tuple[Part, ...]] = {}
    for chain in _chains(graph, small_cycles):
        parts = tuple(_parts(chain))
        blocks[max(chain, key=lambda op: op.issue_cycles).id] = parts
    place = {part.op.id: (id_, part) for id_, parts in blocks.items() for part in parts}
    ops: dict[str, Op] = {}
    for op in graph.ops.values():
        id_ = place[op.id][0] if op.id in place else op.id
        if id_ not in ops:
            ops[id_] = _block(graph.ops[id_], blocks[id_]) if id_ in blocks else op
    fused = replace(graph, ops=ops, dependences=tuple(_dependences(graph, place)))
    return Fusion(graph, fused, blocks)


def _chains(graph: Graph, small_cycles: int) -> Iterator[list[Op]]:
    """Chains of at least two ops."""
    after: dict[str, list[Dependence]] = {}
    for dependence in graph.dependences:
        after.setdefault(dependence.source, []).append(dependence)
    small = {op.id for op in graph.ops.values() if _is_small(op, small_cycles) and op.id not in graph.pins}
    following: dict[str, str] = {}
    taken: set[str] = set()
    for id_ in (op for op in graph.ops if op in small):
        edges = after.get(id_, [])
        target = edges[0].target if len(edges) == 1 else id_
        if target in small and target != id_ and target not in taken and _joins(graph, edges[0]):
            following[id_] = target
            taken.add(target)
    for id_ in (op for op in following if op not in taken):
        chain = [id_]
        while chain[-1] in following:
            chain.append(following[chain[-1]])
        yield [graph.ops[op] for op in chain]


def _is_small(op: Op, small_cycles: int) -> bool:
    elementwise = op.kind.startswith(("arith.", "math.")) or op.kind in _ELEMENTWISE
    return (
        elementwise
        and not op.asynchronous
        and not op.variable_latency
        and len(op.blocks) == 1
        and 0 < op.issue_cycles <= small_cycles
        and op.result.space is Space.REGISTERS
    )


def _joins(graph: Graph, dependence: Dependence) -> bool:
    """Whether both ends of a dependence can be one block. A value on the way must not be larger than the block's."""
    source, target = graph.ops[dependence.source], graph.ops[dependence.target]
    return (
        dependence.distance == 0
        and dependence.kind is DependenceKind.FLOW
        and source.blocks[0].unit == target.blocks[0].unit
        and source.needs_warps == target.needs_warps
        and source.result.amount <= target.result.amount
    )


def _parts(chain: list[Op]) -> Iterator[Part]:
    offset = 0
    for op in chain:
        yield Part(op, offset)
        offset += op.issue_cycles


def _block(costliest: Op, parts: tuple[Part, ...]) -> Op:
    last = parts[-1]
    return replace(
        costliest,
        blocks=tuple(
            Block(block.unit, part.offset + block.offset, block.duration, block.amount)
            for part in parts
            for block in part.op.blocks
        ),
        issue_cycles=sum(part.op.issue_cycles for part in parts),
        latency=last.offset + last.op.latency,
        result=last.op.result,
        hand_off_cycles=last.op.hand_off_cycles,
        hand_off_bytes=last.op.hand_off_bytes,
    )


def _dependences(graph: Graph, place: Mapping[str, tuple[str, Part]]) -> Iterator[Dependence]:
    """Those between blocks, counted from the start of the blocks; the ones inside are gone."""
    for edge in graph.dependences:
        source, from_ = place.get(edge.source, (edge.source, None))
        target, to = place.get(edge.target, (edge.target, None))
        if source == target and edge.source != edge.target and edge.distance == 0:
            continue
        begin = to.offset if to is not None else 0
        end = from_.offset if from_ is not None else 0
        yield replace(
            edge,
            source=source,
            target=target,
            latency=max(0, edge.latency + end - begin),
            release=edge.release + begin,
        )
