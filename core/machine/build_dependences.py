"""The dependences of a graph: how long a reader waits, when a value may die, where a group has to wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.graph.model import Dependence, DependenceKind, Space
from core.ir.tiles import Category, Operand, Role, TileLoop, TileOp
from core.machine.costs import OpCost


def dependences(tiles: TileLoop, costs: Mapping[str, OpCost], amounts: Mapping[str, int]) -> tuple[Dependence, ...]:
    """All dependences, by reader in the order of the text; two uses of one value by one op are one dependence."""
    merged: dict[tuple[str, str, int, DependenceKind], Dependence] = {}
    for edge in _edges(tiles, costs, amounts):
        key = (edge.source, edge.target, edge.distance, edge.kind)
        other = merged.get(key, edge)
        merged[key] = Dependence(
            edge.source,
            edge.target,
            max(edge.latency, other.latency),
            edge.distance,
            edge.kind,
            max(edge.release, other.release),
            edge.blocking or other.blocking,
        )
    return tuple(merged.values())


def _edges(tiles: TileLoop, costs: Mapping[str, OpCost], amounts: Mapping[str, int]) -> Iterator[Dependence]:
    for reader in tiles.ops.values():
        if reader.category is Category.INVARIANT:
            yield Dependence(reader.id, reader.id, 0, 1)
        overwritten = _overwritten(tiles, reader, costs[reader.id], amounts)
        for operand in reader.operands:
            source = tiles.ops[operand.source]
            if source.category is Category.INVARIANT:
                yield from _kept(source, reader, costs[reader.id])
            else:
                yield _flow(source, costs[source.id], operand, reader, costs[reader.id], overwritten)
    for order in tiles.orders:
        waits = order.kind is DependenceKind.ANTI and costs[order.source].asynchronous
        latency = costs[order.source].latency if waits else costs[order.source].issue_cycles
        yield Dependence(order.source, order.target, latency, order.distance, order.kind)


def _flow(
    source: TileOp, cost: OpCost, operand: Operand, reader: TileOp, reading: OpCost, overwritten: Operand | None
) -> Dependence:
    chained = operand.role is Role.ACCUMULATOR and source.category is Category.MATRIX
    in_place = operand.role in (Role.ACCUMULATOR, Role.REPLACED) or (
        overwritten is not None and (operand.source, operand.distance) == (overwritten.source, overwritten.distance)
    )
    waits = cost.asynchronous and cost.blocking and not chained and operand.role is not Role.REPLACED
    return Dependence(
        operand.source,
        reader.id,
        latency=cost.busy_end if chained else cost.latency,
        distance=operand.distance,
        release=0 if in_place else _release(source, reading),
        blocking=waits,
    )


def _release(source: TileOp, reading: OpCost) -> int:
    """When a reader is done with an operand: a synchronous one has read it when it was issued, an asynchronous one when
    it completes, unless it takes registers along."""
    if not reading.asynchronous:
        return reading.issue_cycles
    holds = source.space is not Space.REGISTERS or (reading.rule is not None and reading.rule.holds_operands)
    return reading.latency if holds else reading.issue_cycles


def _overwritten(tiles: TileLoop, reader: TileOp, cost: OpCost, amounts: Mapping[str, int]) -> Operand | None:
    """The operand whose registers the result takes: the largest, then the first, of a synchronous elementwise op, a
    cast, or a layout conversion, which has put its operand into shared memory before it takes the result from there."""
    in_place = reader.category is Category.ELEMENTWISE or reader.kind == "ttg.convert_layout"
    if not in_place or cost.asynchronous:
        return None
    candidates = [
        operand
        for operand in reader.operands
        if operand.role is Role.DATA
        and tiles.ops[operand.source].space is Space.REGISTERS
        and tiles.ops[operand.source].category is not Category.INVARIANT
    ]
    return max(candidates, key=lambda operand: amounts[operand.source], default=None)


def _kept(kept: TileOp, reader: TileOp, reading: OpCost) -> Iterator[Dependence]:
    """Ties a tile from before the loop to its reader, which has read it before the tile's own next start: so it is one
    copy all along on the reader's group (another group would have to be handed it in every iteration). Tensor memory
    belongs to no group."""
    if kept.space is Space.REGISTERS:
        yield Dependence(kept.id, reader.id, 0, release=reading.issue_cycles)
        yield Dependence(reader.id, kept.id, reading.issue_cycles, 1, DependenceKind.ORDER)
