"""Tile operations of a loop, before any machine is chosen: what is computed from what, on which shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import prod

from core.graph.model import DependenceKind, Space
from core.ir.model import Loop, Module, Operation
from core.ir.types import element_bits


class Category(Enum):
    """What a tile op does, as far as building and sub-tiling tell ops apart.

    MOVE: between layouts and memories (`tmem_load`, `local_store`, `convert_layout` with an exchange). EFFECT: stores,
    atomics and barriers. INVARIANT: no op of the text but a tile from before the loop that a reader keeps in registers
    or in tensor memory. LOOP: a loop inside that is one block of this one. OPAQUE: an op that is not known here.
    """

    LOAD = "load"
    MATRIX = "matrix"
    ELEMENTWISE = "elementwise"
    REDUCE = "reduce"
    MOVE = "move"
    EFFECT = "effect"
    INVARIANT = "invariant"
    LOOP = "loop"
    OPAQUE = "opaque"


class Role(Enum):
    """How an op uses an operand.

    DATA: reads it. ACCUMULATOR: adds to it in place. REPLACED: puts a new value where it was, piece by piece (the store
    of a rescale). ADDRESS: only addresses or masks follow from it, which every group computes for itself.
    """

    DATA = "data"
    ACCUMULATOR = "accumulator"
    REPLACED = "replaced"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Tile:
    """Shape, element and place of a value. `copies`: threads that hold each element at least (4 for a vector over the
    rows of a wgmma tile); a scalar has the shape ()."""

    shape: tuple[int, ...]
    element: str
    space: Space = Space.REGISTERS
    copies: int = 1

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def bits(self) -> int:
        """Bits of one element; 32 for what is no number (a result of an unknown op)."""
        try:
            return element_bits(self.element)
        except ValueError:
            return 32

    @property
    def bytes(self) -> int:
        """Bytes of the whole tile, rounded up."""
        return -(-self.elements * self.bits // 8)

    def registers(self, warps: int) -> int:
        """Registers per thread of a group of `warps` warps: elements · copies · bits / 32 / threads, rounded up."""
        return -(-self.elements * self.copies * self.bits // (32 * 32 * warps))

    @property
    def columns(self) -> int:
        """Columns of tensor memory: a tile of 64 rows takes half of the lanes and counts half of its columns."""
        return -(-self.elements * self.bits // (32 * 128))


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that a tile op takes from a tile op of the loop.

    `axes`: for each dimension of the source's result the reader's axis that runs along it, None where there is none.
    """

    source: str
    distance: int = 0
    role: Role = Role.DATA
    axes: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class TileOp:
    """One tile-level operation.

    `id`: op name without dialect and ordinal among those of the loop's body. `operations`: the ops of the text it
    stands for, the one it is named after first. `extents`: lengths of its axes: those of the tile it works on; for a
    matrix op (batches,) m, n, k. `result_axes`: the axis along each dimension of the result. `tiles`: all operand tiles
    in the order of the text as the op sees them, from the loop or not. `combiner`: the ops of a reduction. `in_pieces`:
    part of a rescale in tensor memory, which runs in pieces of 32 columns. `part`: which sub-tile of `base` it is.
    """

    id: str
    kind: str
    category: Category
    line: int
    operations: tuple[Operation, ...]
    extents: tuple[int, ...] = ()
    results: tuple[Tile, ...] = ()
    result_axes: tuple[int, ...] = ()
    tiles: tuple[Tile, ...] = ()
    operands: tuple[Operand, ...] = ()
    combiner: tuple[str, ...] = ()
    in_pieces: bool = False
    part: int | None = None
    base: str | None = None

    @property
    def result(self) -> Tile | None:
        """The first result, if there is one."""
        return self.results[0] if self.results else None

    @property
    def space(self) -> Space:
        """Where the result lives."""
        return self.results[0].space if self.results else Space.NONE


@dataclass(frozen=True, slots=True)
class Order:
    """`target` waits until `source`, `distance` iterations before, is done: with a buffer (ANTI), or at all (ORDER)."""

    source: str
    target: str
    distance: int
    kind: DependenceKind


@dataclass(frozen=True, slots=True)
class KeptTile:
    """A tile of shared memory from before the loop that the loop only reads."""

    name: str
    bytes: int
    line: int


@dataclass(frozen=True, slots=True)
class TileLoop:
    """The tile ops of a loop in the order of the text, and what else bounds their schedule.

    `owners`: for every operation of the body the tile ops it belongs to: the one that stands for it, or all that need
    it where it is duplicated (scalars, addresses, masks, views) or implied (waits, commits). `branches`: by id
    of an `scf.if` the tile ops of each side.
    """

    module: Module
    loop: Loop
    ops: Mapping[str, TileOp]
    orders: tuple[Order, ...]
    kept: tuple[KeptTile, ...]
    owners: Mapping[Operation, tuple[str, ...]]
    branches: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict[str, tuple[tuple[str, ...], ...]])

    def owner(self, operation: Operation) -> tuple[str, ...]:
        """The tile ops that `operation` of the body belongs to, in the order of the text; () if no tile op needs it."""
        return self.owners.get(operation, ())

    @property
    def kept_bytes(self) -> int:
        """Bytes of the shared tiles that are kept all along."""
        return sum(tile.bytes for tile in self.kept)

    @property
    def has_matrix_ops(self) -> bool:
        """Whether the loop has a matrix op."""
        return any(op.category is Category.MATRIX for op in self.ops.values())
