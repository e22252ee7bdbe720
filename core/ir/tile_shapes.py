"""Tiles and axes of one op: what it reads and makes, and which of its axes run along which dimensions."""

from __future__ import annotations

from dataclasses import replace

from core.graph.model import Space
from core.ir.body import Body
from core.ir.model import Operation, Value
from core.ir.operations import ALLOCATIONS, TENSOR_CORE_5, category_of, data_positions
from core.ir.tiles import Category, Tile
from core.ir.types import ScalarType
from core.ir.views import Dimensions, is_landing

Axes = tuple[int | None, ...]

_TARGET_POSITION = {"ttng.tmem_store": 1, "ttg.local_store": 1, "ttng.tmem_copy": 1}
_OPERAND_A, _OPERAND_B = 0, 1


def result_tiles(body: Body, op: Operation) -> tuple[Tile, ...]:
    """What a tile op makes and where: in registers, or in the buffer that it writes."""
    target = result_buffer(body, op)
    if target is not None:
        tile = body.tile(target)
        return () if tile is None else (tile,)
    if category_of(op) is Category.EFFECT and not any(_is_used(body, result) for result in op.results):
        return ()
    found = (_register_tile(body, result) for result in op.results)
    tiles = [tile for tile in found if tile is not None]
    if lands_in_shared_memory(body, op):
        return tuple(replace(tile, space=Space.SHARED) for tile in tiles)
    return tuple(tiles)


def result_buffer(body: Body, op: Operation) -> Value | None:
    """The buffer operand, or the buffer made here, that holds the op's result; None for results in registers."""
    if op.name in ALLOCATIONS:
        return op.results[0]
    if op.name in TENSOR_CORE_5:
        return op.operands[2]
    if category_of(op) is Category.LOOP:
        in_registers = any(body.tile(result) for result in op.results)
        return None if in_registers else filled_buffer(op)
    if op.name in _TARGET_POSITION:
        return op.operands[_TARGET_POSITION[op.name]]
    if category_of(op) is Category.LOAD and not any(_register_tile(body, result) for result in op.results):
        buffers = [operand for operand in op.operands if body.is_buffer(operand) and body.tile(operand) is not None]
        return buffers[0] if buffers else None
    return None


def filled_buffer(loop: Operation) -> Value | None:
    """The buffer of tensor memory from outside an inner loop that its matrix ops accumulate in."""
    inside = {result for nested in loop.walk() for result in nested.results}
    matrix = (op for op in loop.walk() if op.name in TENSOR_CORE_5)
    return next((op.operands[2] for op in matrix if op.operands[2] not in inside), None)


def lands_in_shared_memory(body: Body, op: Operation) -> bool:
    """Whether a load's tile goes to shared memory: through a descriptor always, else if a buffer takes it."""
    if category_of(op) is not Category.LOAD or not op.results or body.tile(op.results[0]) is None:
        return False
    return op.name != "tt.load" or any(is_landing(body, user) for user in body.users.get(op.results[0], ()))


def operand_tiles(body: Body, op: Operation) -> tuple[Tile, ...]:
    """The tiles that the op reads as data, in the order of the text; a matrix op's accumulator is not among them."""
    positions = data_positions(op)
    if category_of(op) is Category.MATRIX:
        positions = positions[:2]
    tiles = (body.tile(op.operands[position]) for position in positions)
    return tuple(tile for tile in tiles if tile is not None)


def extents(body: Body, op: Operation) -> tuple[int, ...]:
    """The lengths of the op's axes."""
    results, operands = result_tiles(body, op), operand_tiles(body, op)
    if category_of(op) is Category.MATRIX and results and operands:
        return (*results[0].shape, operands[0].shape[-1])
    if category_of(op) is Category.REDUCE and operands:
        return operands[0].shape
    tiles = (*operands, *results) if category_of(op) is Category.EFFECT else (*results, *operands)
    return tiles[0].shape if tiles else ()


def result_axes(body: Body, op: Operation) -> tuple[int, ...]:
    """The op's axis along each dimension of its first result."""
    results = result_tiles(body, op)
    rank = len(results[0].shape) if results else 0
    if op.name == "tt.reduce":
        removed = int(op.attributes.get("axis", "0").split(":")[0])
        return tuple(axis + (axis >= removed) for axis in range(rank))
    return tuple(range(rank))


def operand_axes(body: Body, op: Operation, position: int) -> Axes:
    """The op's axis along each dimension of an operand as it is written; None where the op does not say."""
    tile = body.tile(op.operands[position])
    rank = len(tile.shape) if tile is not None else 0
    category = category_of(op)
    if category is Category.OPAQUE or op.name in ("tt.dot_scaled", "tt.scan"):
        return (None,) * rank
    if category is Category.MATRIX and position in (_OPERAND_A, _OPERAND_B):
        batches, m, n, k = tuple(range(rank - 2)), rank - 2, rank - 1, rank
        return (*batches, m, k) if position == _OPERAND_A else (*batches, k, n)
    return tuple(range(rank))


def source_axes(dimensions: Dimensions, axes: Axes, rank: int) -> Axes:
    """The reader's axis along each of the `rank` dimensions of the source, which is seen through `dimensions`."""
    found: list[int | None] = [None] * rank
    for dimension, axis in zip(dimensions, axes, strict=False):
        if dimension is not None and dimension < rank:
            found[dimension] = axis
    return tuple(found)


def _register_tile(body: Body, result: Value) -> Tile | None:
    type_ = body.type(result)
    return Tile((), type_.name) if isinstance(type_, ScalarType) else body.tile(result)


def _is_used(body: Body, value: Value) -> bool:
    return value in body.users or value in body.yielded
