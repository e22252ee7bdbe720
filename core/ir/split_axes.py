"""Follows an axis of a matrix op through all tile ops that run along it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.diagnostics import InputError, error
from core.ir.tiles import Category, TileLoop, TileOp


def follow_axis(tiles: TileLoop, axis: str, ops: Sequence[str] | None) -> dict[str, int]:
    """The axis of each op that runs along the rows (m) or columns (n) of the loop's matrix ops.

    It is followed from the first of `ops` (of all ops) on, and from each further one that it does not reach, and never
    through ops that are not among `ops`, loads apart. Raises InputError if an op would run along two of its axes, and
    for ids in `ops` that are unknown or not reached.
    """
    unknown = [id_ for id_ in ops or () if id_ not in tiles.ops]
    if unknown:
        hint = f"ops of the loop: {', '.join(tiles.ops)}"
        message, line = f"the loop has no op '{unknown[0]}' to split", tiles.loop.operation.name_span.line
        raise error("unknown-op", message, file=tiles.module.file, line=line, hint=hint)
    search = _Search(tiles, None if ops is None else set(ops))
    for seed in _seeds(tiles, ops):
        at = _axis_of(seed, axis)
        if seed.id not in search.found and at is not None:
            search.run(seed.id, at)
    for id_ in ops or ():
        if id_ not in search.found:
            raise refusal(tiles, tiles.ops[id_], "it does not run along that axis")
    return search.found


def refusal(tiles: TileLoop, op: TileOp, why: str) -> InputError:
    """An InputError at the op: it cannot be split because `why`."""
    hint = "choose the other axis, or list the ops to split in 'ops'"
    message = f"'{op.id}' ({op.kind}) cannot be split: {why}"
    return error("cannot-subtile", message, file=tiles.module.file, line=op.line, hint=hint)


def _seeds(tiles: TileLoop, ops: Sequence[str] | None) -> list[TileOp]:
    """Matrix ops first, since rows and columns are theirs; without any the ops on tiles of two dimensions."""
    chosen = [op for op in tiles.ops.values() if ops is None or op.id in ops]
    matrix = [op for op in chosen if op.category is Category.MATRIX]
    return matrix or [op for op in chosen if len(op.extents) >= 2 and op.category is not Category.LOAD]


def _axis_of(op: TileOp, axis: str) -> int | None:
    first = len(op.extents) - (3 if op.category is Category.MATRIX else 2)
    return None if first < 0 else first + (axis == "n")


class _Search:
    """The ops found so far and their axes."""

    def __init__(self, tiles: TileLoop, allowed: set[str] | None) -> None:
        self.found: dict[str, int] = {}
        self._tiles = tiles
        self._allowed = allowed
        self._readers: dict[str, list[TileOp]] = {}
        for op in tiles.ops.values():
            for operand in op.operands:
                self._readers.setdefault(operand.source, []).append(op)

    def run(self, seed: str, axis: int) -> None:
        """Follows one axis as far as it goes."""
        pending = [(seed, axis)]
        while pending:
            id_, axis = pending.pop()
            op = self._tiles.ops[id_]
            free = op.category in (Category.LOAD, Category.INVARIANT)
            if self._allowed is not None and id_ not in self._allowed and not free:
                continue
            known = self.found.get(id_)
            if known is None:
                self.found[id_] = axis
                pending += [*self._sources(op, axis), *self._targets(op, axis)]
            elif known != axis and op.category is not Category.LOAD:
                raise refusal(self._tiles, op, "the axis runs along two axes of it")

    def _sources(self, op: TileOp, axis: int) -> Iterator[tuple[str, int]]:
        for operand in op.operands:
            source = self._tiles.ops[operand.source]
            for dimension, at in enumerate(operand.axes):
                if at == axis and dimension < len(source.result_axes):
                    yield source.id, source.result_axes[dimension]

    def _targets(self, op: TileOp, axis: int) -> Iterator[tuple[str, int]]:
        if axis not in op.result_axes:
            return
        dimension = op.result_axes.index(axis)
        for reader in self._readers.get(op.id, ()):
            for operand in reader.operands:
                at = operand.axes[dimension] if operand.source == op.id and dimension < len(operand.axes) else None
                if at is not None:
                    yield reader.id, at
