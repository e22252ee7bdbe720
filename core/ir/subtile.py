"""Sub-tiling: tile ops split along the rows or columns of the loop's matrix ops, as a pure edit of the tile loop.

Loads are shared, and so is what does not run along the axis. A matrix op that sums along it stays whole and reads all
parts, from shared memory if their layout has to be converted for it; a reduction that does so refuses the split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Literal

from core.diagnostics import InputError, error
from core.graph.model import Space
from core.ir.split_axes import follow_axis, refusal
from core.ir.tiles import Category, Operand, Order, Role, Tile, TileLoop, TileOp

SplitAxis = Literal["m", "n"]

_LEAST_ROWS = {"ttng.warp_group_dot": 64, "ttng.tc_gen5_mma": 64, "ttng.tc_gen5_mma_scaled": 64}
_LEAST_COLUMNS = {"ttng.warp_group_dot": 8, "ttng.tc_gen5_mma": 16, "ttng.tc_gen5_mma_scaled": 16}
_LEAST = 16  # rows or columns of any other matrix op


def subtile(tiles: TileLoop, axis: SplitAxis, parts: int, ops: Sequence[str] | None = None) -> TileLoop:
    """The loop with its tile ops in `parts` along rows (m) or columns (n) of the matrix ops.

    `ops`: ids of those to split; None: all that can be. Part p of `exp2.0` is `exp2.0.p`. Raises InputError with the
    line if a reduction along the axis, a length that cannot be divided, or the shape of an instruction forbids it, and
    if one of `ops` is not there.
    """
    if parts < 2:
        raise error("bad-subtile", f"cannot split into {parts} parts", file=tiles.module.file)
    if tiles.branches or any(op.category is Category.LOOP for op in tiles.ops.values()):
        message, line = "a loop with branches or loops inside cannot be split", tiles.loop.operation.name_span.line
        raise error("bad-subtile", message, file=tiles.module.file, line=line)
    axes = follow_axis(tiles, axis, ops)
    for op in tiles.ops.values():
        fault = _fault(tiles, op, axes[op.id], parts) if op.id in axes else None
        if fault is not None:
            raise fault
    split = _Split(tiles, parts, {id_: at for id_, at in axes.items() if _is_split(tiles.ops[id_], at)})
    if not split.axes:
        message = f"no op of the loop can be split along {axis}"
        raise error("bad-subtile", message, file=tiles.module.file, line=tiles.loop.operation.name_span.line)
    return replace(
        tiles,
        ops={part.id: part for op in tiles.ops.values() for part in split.parts_of(op)},
        orders=tuple(split.orders()),
        owners={op: split.ids(owners) for op, owners in tiles.owners.items()},
    )


def _is_split(op: TileOp, axis: int) -> bool:
    """Whether an op that runs along the axis is one of the parts: loads are shared, sums along the axis are whole."""
    if op.category is Category.LOAD:
        return False
    return axis in op.result_axes or not op.results


def _fault(tiles: TileLoop, op: TileOp, axis: int, parts: int) -> InputError | None:
    """Why the op forbids the split, if it does."""
    if op.category is Category.LOAD:
        return None
    if op.category is Category.REDUCE and axis not in op.result_axes:
        return refusal(tiles, op, "it reduces along that axis")
    if not _is_split(op, axis):
        return None
    length = op.extents[axis]
    if length % parts:
        return refusal(tiles, op, f"{length} elements cannot be divided by {parts}")
    if op.category is Category.MATRIX:
        rows = axis == len(op.extents) - 3
        least = (_LEAST_ROWS if rows else _LEAST_COLUMNS).get(op.kind, _LEAST)
        if length // parts % least:
            what = "rows" if rows else "columns"
            return refusal(tiles, op, f"{length // parts} {what} are no multiple of the {least} of its instruction")
    return None


class _Split:
    """The parts of a loop. `axes`: the axis along which each op that is split is split."""

    def __init__(self, tiles: TileLoop, parts: int, axes: Mapping[str, int]) -> None:
        self.axes = axes
        self._tiles = tiles
        self._parts = parts
        kept = {
            operand.source
            for id_ in axes
            for operand in tiles.ops[id_].operands
            if tiles.ops[operand.source].category is Category.INVARIANT
        }
        self._divided = {*axes, *kept}  # each part of a reader keeps its own copy of what it keeps
        self._gathered = {id_ for id_ in axes if self._is_gathered(tiles.ops[id_])}

    def _is_gathered(self, op: TileOp) -> bool:
        """Whether only whole matrix ops read a layout conversion: they take its parts from shared memory, through which
        they go anyway, instead of putting them together in registers."""
        readers = [
            reader for reader in self._tiles.ops.values() if any(operand.source == op.id for operand in reader.operands)
        ]
        return op.kind == "ttg.convert_layout" and all(
            reader.category is Category.MATRIX and reader.id not in self.axes for reader in readers
        )

    def parts_of(self, op: TileOp) -> Iterator[TileOp]:
        """The op itself, or its parts."""
        if op.id not in self._divided:
            tiles = op.tiles
            if any(operand.source in self._gathered for operand in op.operands):
                tiles = (
                    replace(tiles[0], space=Space.SHARED),
                    *tiles[1:],
                )  # operand A, the one that may be in registers
            yield replace(op, operands=tuple(self._operands(op, None)), tiles=tiles)
            return
        if op.id in self._gathered:
            op = replace(
                op, kind="ttg.local_store", results=tuple(replace(tile, space=Space.SHARED) for tile in op.results)
            )
        axis = self.axes.get(op.id)
        for part in range(self._parts):
            whole = replace(op, id=f"{op.id}.{part}", part=part, base=op.id, operands=tuple(self._operands(op, part)))
            yield whole if axis is None else self._shortened(whole, axis)

    def ids(self, ids: Sequence[str]) -> tuple[str, ...]:
        """The ids of the parts of some ops."""
        return tuple(
            part
            for id_ in ids
            for part in ([f"{id_}.{p}" for p in range(self._parts)] if id_ in self._divided else [id_])
        )

    def orders(self) -> Iterator[Order]:
        """Orders between the same parts, between all where one side is whole."""
        for order in self._tiles.orders:
            sources, targets = self.ids([order.source]), self.ids([order.target])
            both = order.source in self._divided and order.target in self._divided
            for source, target in zip(sources, targets, strict=True) if both else product(sources, targets):
                yield replace(order, source=source, target=target)

    def _operands(self, op: TileOp, part: int | None) -> Iterator[Operand]:
        for operand in op.operands:
            source = self._tiles.ops[operand.source]
            if source.id not in self._divided:
                yield operand
            elif part is not None and self._follows(op, operand, source):
                yield replace(operand, source=f"{source.id}.{part}")
            else:
                role = Role.DATA if operand.role is Role.ACCUMULATOR else operand.role
                for other in range(self._parts):
                    yield replace(operand, source=f"{source.id}.{other}", role=role)

    def _follows(self, op: TileOp, operand: Operand, source: TileOp) -> bool:
        """Whether a part of the reader needs the same part of the source only."""
        axis = self.axes.get(source.id)
        if axis is None:
            return True
        dimension = source.result_axes.index(axis)
        return dimension < len(operand.axes) and operand.axes[dimension] == self.axes.get(op.id)

    def _shortened(self, op: TileOp, axis: int) -> TileOp:
        """The op with one axis shorter."""
        extents = tuple(size // self._parts if at == axis else size for at, size in enumerate(op.extents))
        return replace(
            op,
            extents=extents,
            results=tuple(self._shorter_tile(tile, op.result_axes, axis) for tile in op.results),
            tiles=tuple(self._shorter_tile(tile, _tile_axes(op, index), axis) for index, tile in enumerate(op.tiles)),
        )

    def _shorter_tile(self, tile: Tile, axes: Sequence[int], axis: int) -> Tile:
        shape = tuple(size // self._parts if at == axis else size for size, at in zip(tile.shape, axes, strict=False))
        return replace(tile, shape=shape)


def _tile_axes(op: TileOp, index: int) -> tuple[int, ...]:
    """The op's axis along each dimension of its operand tiles."""
    rank = len(op.tiles[index].shape)
    if op.category is not Category.MATRIX or index > 1:
        return tuple(range(rank))
    batches, m, n, k = tuple(range(rank - 2)), rank - 2, rank - 1, rank
    return (*batches, m, k) if index == 0 else (*batches, k, n)
