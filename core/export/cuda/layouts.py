"""Layouts of register tiles as linear maps over bits: which element a register of a lane of a warp holds.

The coordinate of an element is the exclusive or of the basis vectors of the set bits of register, lane and warp. Zero
vectors of lanes and warps are copies of the same element; no register holds what another of its thread holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from core.export.cuda.encodings import Blocked, DotOperand, Encoding, Linear, Mma, Slice

Basis = tuple[int, ...]

LANE_BITS = 5
_ROWS = 16  # of one warp in wgmma's result


class LayoutError(Exception):
    """A layout that has no text here, with the reason."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a tile of `shape` over 2**len(warp) warps."""

    shape: tuple[int, ...]
    register: tuple[Basis, ...]
    lane: tuple[Basis, ...]
    warp: tuple[Basis, ...]

    @property
    def registers(self) -> int:
        """Elements that each thread holds."""
        return 1 << len(self.register)

    @property
    def warps(self) -> int:
        """Warps over which the tile is spread."""
        return 1 << len(self.warp)

    def coordinate(self, register: int, lane: int, warp: int) -> Basis:
        """The element that a register holds."""
        found = [0] * len(self.shape)
        for bits, bases in ((register, self.register), (lane, self.lane), (warp, self.warp)):
            for index, basis in enumerate(bases):
                if bits >> index & 1:
                    found = [at ^ step for at, step in zip(found, basis, strict=True)]
        return tuple(found)


def layout_of(encoding: Encoding, shape: tuple[int, ...]) -> Layout:
    """The layout of a tile of that shape. Raises LayoutError."""
    if any(size < 1 or size & (size - 1) for size in shape):
        raise LayoutError(f"the shape {shape} is none of powers of two")
    match encoding:
        case Blocked():
            return _blocked(encoding, shape)
        case Mma():
            return _mma(encoding, shape)
        case DotOperand():
            return _operand(encoding, shape)
        case Slice():
            at = encoding.dimension
            return without_dimension(layout_of(encoding.parent, (*shape[:at], 1, *shape[at:])), at)
        case Linear():
            return _fitted(shape, encoding.register, encoding.lane, encoding.warp)


def without_dimension(layout: Layout, dimension: int) -> Layout:
    """The layout of a tile reduced along a dimension: threads that held the rest of a row hold copies of its result."""

    def shorter(bases: Iterable[Basis]) -> tuple[Basis, ...]:
        return tuple((*basis[:dimension], *basis[dimension + 1 :]) for basis in bases)

    shape = (*layout.shape[:dimension], *layout.shape[dimension + 1 :])
    return Layout(shape, _nonzero(shorter(layout.register)), shorter(layout.lane), shorter(layout.warp))


def with_dimension(layout: Layout, dimension: int) -> Layout:
    """The layout of a tile with one more dimension, of length 1."""

    def longer(bases: Iterable[Basis]) -> tuple[Basis, ...]:
        return tuple((*basis[:dimension], 0, *basis[dimension:]) for basis in bases)

    shape = (*layout.shape[:dimension], 1, *layout.shape[dimension:])
    return Layout(shape, longer(layout.register), longer(layout.lane), longer(layout.warp))


def permuted(layout: Layout, order: Sequence[int]) -> Layout:
    """The layout of the tile whose dimension i is dimension order[i] of this one."""

    def moved(basis: Sequence[int]) -> tuple[int, ...]:
        return tuple(basis[dimension] for dimension in order)

    register, lane, warp = (tuple(map(moved, bases)) for bases in (layout.register, layout.lane, layout.warp))
    return Layout(moved(layout.shape), register, lane, warp)


def narrowed(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """The layout with the dimensions that have length 1 in `shape` made that short: what a broadcast to this layout
    reads."""

    def kept(bases: Iterable[Basis]) -> tuple[Basis, ...]:
        return tuple(tuple(0 if size == 1 else at for at, size in zip(basis, shape, strict=True)) for basis in bases)

    return Layout(shape, _nonzero(kept(layout.register)), kept(layout.lane), kept(layout.warp))


def without_exchange(source: Layout, target: Layout) -> bool:
    """Whether every thread already holds, at places known beforehand, what `target` wants it to hold."""
    if source.shape != target.shape or source.lane != target.lane or source.warp != target.warp:
        return False
    return all(_in_span(basis, source.register) for basis in target.register)


def copies(layout: Layout) -> int:
    """How many threads hold each element."""
    return (1 << (LANE_BITS + len(layout.warp))) * layout.registers // prod(layout.shape)


def _in_span(vector: Basis, bases: Sequence[Basis]) -> bool:
    """Whether the vector is an exclusive or of some bases (Gaussian elimination over bits)."""
    width = 32
    pivots: dict[int, int] = {}

    def reduced(number: int) -> int:
        while number and number.bit_length() in pivots:
            number ^= pivots[number.bit_length()]
        return number

    def packed(basis: Basis) -> int:
        return sum(at << width * dimension for dimension, at in enumerate(basis))

    for basis in bases:
        number = reduced(packed(basis))
        if number:
            pivots[number.bit_length()] = number
    return reduced(packed(vector)) == 0


def _blocked(encoding: Blocked, shape: tuple[int, ...]) -> Layout:
    order = encoding.order
    done = [1] * len(shape)
    steps: list[list[Basis]] = []
    for counts in (encoding.size_per_thread, encoding.threads_per_warp, encoding.warps_per_block):
        steps.append([])
        for dimension in order:
            steps[-1] += _bits(len(shape), dimension, done[dimension], counts[dimension])
            done[dimension] *= counts[dimension]
    register, lane, warp = steps
    return _fitted(shape, [*register, *_repeats(shape, done, order)], lane, warp)


def _mma(encoding: Mma, shape: tuple[int, ...]) -> Layout:
    if len(shape) != 2:
        raise LayoutError("wgmma results have two dimensions here")
    (rows, columns), instruction_columns = encoding.warps_per_block, encoding.instruction[1]
    register = [(0, 1), (8, 0), *_bits(2, 1, 8, instruction_columns // 8)]
    lane = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    warp = [*_bits(2, 0, _ROWS, rows), *_bits(2, 1, instruction_columns, columns)]
    done = [_ROWS * rows, instruction_columns * columns]
    return _fitted(shape, [*register, *_repeats(shape, done, (1, 0))], lane, warp)


def _operand(encoding: DotOperand, shape: tuple[int, ...]) -> Layout:
    if encoding.index != 0 or len(shape) != 2:
        raise LayoutError("only operand A of wgmma may be in registers")
    (rows, columns), width = encoding.parent.warps_per_block, encoding.width
    register = [*_bits(2, 1, 1, width), (8, 0), (0, 4 * width)]
    lane = [(0, width), (0, 2 * width), (1, 0), (2, 0), (4, 0)]
    warp = [*_bits(2, 0, _ROWS, rows), *[(0, 0)] * (columns.bit_length() - 1)]
    return _fitted(shape, [*register, *_repeats(shape, [_ROWS * rows, 8 * width], (1, 0))], lane, warp)


def _bits(rank: int, dimension: int, first: int, count: int) -> list[Basis]:
    """The vectors of `count` steps of size `first` along a dimension."""
    return [
        tuple(first << bit if at == dimension else 0 for at in range(rank)) for bit in range(count.bit_length() - 1)
    ]


def _repeats(shape: Sequence[int], done: Sequence[int], order: Sequence[int]) -> list[Basis]:
    """The registers that repeat a block of size `done` over the whole tile, along the first of `order` first."""
    found: list[Basis] = []
    for dimension in order:
        found += _bits(len(shape), dimension, done[dimension], max(1, shape[dimension] // done[dimension]))
    return found


def _fitted(shape: tuple[int, ...], register: Iterable[Basis], lane: Iterable[Basis], warp: Iterable[Basis]) -> Layout:
    """Steps beyond the tile are copies of what lies inside: their vectors become zero."""

    def inside(bases: Iterable[Basis]) -> tuple[Basis, ...]:
        return tuple(tuple(at if at < size else 0 for at, size in zip(basis, shape, strict=True)) for basis in bases)

    return Layout(shape, _nonzero(inside(register)), inside(lane), inside(warp))


def _nonzero(bases: Iterable[Basis]) -> tuple[Basis, ...]:
    return tuple(basis for basis in bases if any(basis))
