"""What a tile op costs on a machine: the first cost rule that holds, evaluated on the op's shapes and elements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from math import ceil, prod

from core.graph.model import Block
from core.ir.tiles import Category, Tile, TileOp
from core.machine.model import CostRule, Machine, UnitCost, Work, element_class

WARPS_OF_A_GROUP = 4
"""Warps that execute a warp-group instruction together."""


@dataclass(frozen=True, slots=True)
class OpCost:
    """The numbers of an op (cycles), and the rule they come from.

    `rule` None: no rule of the machine fits, so the op counts no cycles. `unknown_element`: element type without a rate
    on a unit of the rule, whose block counts no cycles.
    """

    rule: CostRule | None = None
    blocks: tuple[Block, ...] = ()
    issue_cycles: int = 0
    latency: int = 0
    asynchronous: bool = False
    blocking: bool = False
    variable_latency: bool = False
    unknown_element: str | None = None

    @property
    def busy_end(self) -> int:
        """When the last block ends, from the op's start."""
        return max((block.offset + block.duration for block in self.blocks), default=0)


def find_rule(machine: Machine, op: TileOp) -> CostRule | None:
    """The first rule of the machine that holds for the op."""
    return next((rule for rule in machine.costs if _holds(rule, op)), None)


def op_cost(rule: CostRule | None, op: TileOp, warps: int) -> OpCost:
    """The op's cost on a group of `warps` warps. Work is the whole tile's; the warp groups of a larger group share
    its instructions."""
    if rule is None:
        return OpCost()
    cost = _with_blocks(rule, op)
    kilobytes = Fraction(work_of(Work.BYTES, op), 1024)
    issue = cost.busy_end
    if rule.issue is not None:
        instructions = _instructions(rule, op, warps)
        issue = ceil(rule.issue.base + rule.issue.per_instruction * instructions + rule.issue.per_kilobyte * kilobytes)
    if rule.latency.base is None:
        latency = max(cost.busy_end, issue) + rule.latency.add
    else:
        latency = max(cost.busy_end, ceil(rule.latency.base + rule.latency.per_kilobyte * kilobytes))
    return replace(cost, issue_cycles=issue, latency=latency)


def work_of(work: Work, op: TileOp) -> int:
    """The op's work in the unit of `work`, as that says."""
    if work is Work.FMA:
        return prod(op.extents)
    if work is Work.ELEMENTS:
        return max((tile.elements * tile.copies for tile in (*op.tiles, *op.results)), default=0)
    if work is Work.BYTES:
        operands = (tile.bytes for tile in op.tiles if tile.element != "i1")
        return sum(tile.bytes for tile in op.results) or max(operands, default=0)
    return 0


def _holds(rule: CostRule, op: TileOp) -> bool:
    if not any(fnmatchcase(op.kind, pattern) for pattern in rule.ops):
        return False
    when = rule.when
    operand, result = (op.tiles[0] if op.tiles else None), op.result
    if when.combiner and not (op.combiner and set(op.combiner) <= set(when.combiner)):
        return False
    return (
        (not when.first_operand_in or (operand is not None and operand.space in when.first_operand_in))
        and (not when.result_in or op.space in when.result_in)
        and _is_of_class(operand, when.operand)
        and _is_of_class(result, when.result)
    )


def _is_of_class(tile: Tile | None, classes: tuple[str, ...]) -> bool:
    return not classes or (tile is not None and element_class(tile.element) in classes)


def _with_blocks(rule: CostRule, op: TileOp) -> OpCost:
    element = next((tile.element for tile in (*op.tiles, *op.results)), "")
    blocks: list[Block] = []
    unknown = None
    offset = 0
    for block in rule.blocks:
        duration = _duration(block, op, element_class(element))
        if duration is None:
            unknown = element
            continue
        start = offset if block.after else 0
        blocks.append(Block(block.unit, start, duration))
        offset = start + duration
    return OpCost(
        rule=rule,
        blocks=tuple(blocks),
        asynchronous=rule.asynchronous,
        blocking=rule.blocking,
        variable_latency=rule.variable_latency,
        unknown_element=unknown,
    )


def _duration(block: UnitCost, op: TileOp, element: str) -> int | None:
    if block.work is Work.NONE:
        return block.fixed
    rate = block.rate_of(element)
    return None if rate is None else block.fixed + ceil(block.factor * work_of(block.work, op) / rate)


def _instructions(rule: CostRule, op: TileOp, warps: int) -> int:
    shape = rule.instruction
    if shape is None:
        return 1
    if op.category is Category.MATRIX and op.tiles and len(op.extents) >= 3:
        *batches, m, n, k = op.extents
        pieces = [_pieces(m, shape.rows), _pieces(n, shape.columns)]
        pieces.append(_pieces(k * op.tiles[0].bits, shape.depth_bytes and 8 * shape.depth_bytes))
        total = prod(batches) * prod(pieces)
    else:
        tile = next((tile for tile in (*op.results, *op.tiles)), None)
        inner = tile.shape[-1] if tile is not None and tile.shape else 1
        bits = tile.bits if tile is not None else 0
        rows = tile.elements // inner if tile is not None and inner else 1
        total = _pieces(rows, shape.rows) * _pieces(inner * bits, shape.row_bytes and 8 * shape.row_bytes)
    shared_by = max(1, warps // WARPS_OF_A_GROUP) if rule.needs_warps >= WARPS_OF_A_GROUP else 1
    return -(-total // shared_by)


def _pieces(length: int, piece: int | None) -> int:
    return 1 if piece is None else -(-length // piece)
