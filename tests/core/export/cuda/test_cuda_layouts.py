"""Layouts as linear maps against the definitions of the encodings, element by element."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

from core.export.cuda.encodings import (
    Blocked,
    DotOperand,
    Linear,
    Mma,
    MmaShared,
    Slice,
    SwizzledShared,
    for_warps,
    read_encoding,
    read_shared_encoding,
)
from core.export.cuda.holds import default_encoding, view_bytes
from core.export.cuda.layouts import (
    Layout,
    LayoutError,
    copies,
    layout_of,
    narrowed,
    permuted,
    with_dimension,
    without_dimension,
    without_exchange,
)

ALIASES = {
    "#blocked": "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>",
    "#mma": "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 64, 16]}>",
}
BLOCKED = Blocked((1, 8), (4, 8), (2, 2), (1, 0))
MMA = Mma((4, 1), (16, 64, 16))


def holders(layout: Layout) -> dict[tuple[int, ...], list[tuple[int, int, int]]]:
    """Register, lane and warp of every copy of every element."""
    found: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
    for place in product(range(layout.registers), range(32), range(layout.warps)):
        found.setdefault(layout.coordinate(*place), []).append(place)
    return found


def is_sound(layout: Layout) -> bool:
    """Every element is somewhere, equally often, and no thread has one twice."""
    found = holders(layout)
    threads = [{place[1:] for place in places} for places in found.values()]
    whole = len(found) == prod(layout.shape)
    return whole and all(
        len(places) == copies(layout) == len(t) for places, t in zip(found.values(), threads, strict=True)
    )


def test_reads_encodings() -> None:
    assert read_encoding("#blocked", ALIASES) == BLOCKED
    assert read_encoding("#mma", ALIASES) == Mma((4, 2), (16, 64, 16))
    assert read_encoding("#ttg.slice<{dim = 1, parent = #mma}>", ALIASES) == Slice(1, Mma((4, 2), (16, 64, 16)))
    operand = read_encoding("#ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>", ALIASES)
    assert operand == DotOperand(0, Mma((4, 2), (16, 64, 16)), 2)
    linear = "#ttg.linear<{register = [[1, 0], [0, 8]], lane = [[2, 0]], warp = [[0, 16]], block = []}>"
    assert read_encoding(linear, {}) == Linear(((1, 0), (0, 8)), ((2, 0),), ((0, 16),))
    assert read_encoding("#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [4, 1], instrShape = [16, 8]}>", {}) is None
    shared = "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>"
    assert read_shared_encoding(shared, {}) == MmaShared(64, True, 16)
    swizzled = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    assert read_shared_encoding(swizzled, {}) == SwizzledShared(8, 1, 8, (1, 0))


@pytest.mark.parametrize("shape", [(16, 128), (64, 256), (4, 512), (8, 16)])
@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
def test_blocked(shape: tuple[int, int], order: tuple[int, int]) -> None:
    """A thread's box of elements lies where its place in the warp and its warp's place in the block say."""
    encoding = Blocked((2, 4), (4, 8), (2, 2), order)
    layout = layout_of(encoding, shape)
    assert is_sound(layout)
    fast, slow = order
    for coordinate, places in holders(layout).items():
        for _, lane, warp in places:
            within = {fast: lane % encoding.threads_per_warp[fast], slow: lane // encoding.threads_per_warp[fast]}
            around = {fast: warp % encoding.warps_per_block[fast], slow: warp // encoding.warps_per_block[fast]}
            for dimension in (0, 1):
                size, threads = encoding.size_per_thread[dimension], encoding.threads_per_warp[dimension]
                tile = size * threads * encoding.warps_per_block[dimension]
                first = size * (within[dimension] + threads * around[dimension])
                # elements beyond the tile are copies: positions count modulo its length
                assert any(
                    (first + offset) % min(shape[dimension], tile) == coordinate[dimension] % tile
                    for offset in range(size)
                )


def test_wgmma_accumulator() -> None:
    """PTX ISA, wgmma: element i of lane l of warp w is in row 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (l %
    4) + i % 2; further rows of 64 follow behind all columns."""
    layout = layout_of(MMA, (128, 64))
    assert is_sound(layout)
    for i, lane, warp in product(range(layout.registers), range(32), range(4)):
        block, j = divmod(i, 32)
        row = 64 * block + 16 * warp + lane // 4 + 8 * (j // 2 % 2)
        assert layout.coordinate(i, lane, warp) == (row, 8 * (j // 4) + 2 * (lane % 4) + j % 2)


def test_wgmma_over_two_warp_groups() -> None:
    rows = layout_of(Mma((8, 1), (16, 64, 16)), (128, 64))
    columns = layout_of(Mma((4, 2), (16, 64, 16)), (64, 128))
    assert is_sound(rows) and is_sound(columns)
    assert rows.warp == ((16, 0), (32, 0), (64, 0)) and columns.warp == ((16, 0), (32, 0), (0, 64))


@pytest.mark.parametrize(("width", "k"), [(2, 16), (4, 32), (1, 8)])
def test_wgmma_operand_in_registers(width: int, k: int) -> None:
    """PTX ISA, wgmma, register fragments of A: each of four registers of a step has `width` neighbours in k; register r
    is 8 (r % 2) rows down and half a step on from r = 2."""
    layout = layout_of(DotOperand(0, MMA, width), (64, 4 * k))
    assert is_sound(layout)
    for i, lane, warp in product(range(layout.registers), range(32), range(4)):
        step, within = divmod(i, 4 * width)
        register, element = divmod(within, width)
        row = 16 * warp + lane // 4 + 8 * (register % 2)
        column = step * k + (lane % 4) * width + element + (register // 2) * (k // 2)
        assert layout.coordinate(i, lane, warp) == (row, column)


def test_accumulator_of_16_bits_is_operand_a() -> None:
    assert without_exchange(layout_of(MMA, (64, 64)), layout_of(DotOperand(0, MMA, 2), (64, 64)))
    assert not without_exchange(layout_of(MMA, (64, 64)), layout_of(DotOperand(0, MMA, 4), (64, 64)))
    assert not without_exchange(layout_of(MMA, (64, 64)), layout_of(BLOCKED, (64, 64)))


@pytest.mark.parametrize("dimension", [0, 1])
def test_slices_hold_what_is_left_of_a_row_or_column(dimension: int) -> None:
    """A thread holds an element of the slice where it holds any element of that row or column of the parent."""
    for parent, shape in ((MMA, (64, 64)), (BLOCKED, (16, 128))):
        whole, length = layout_of(parent, shape), shape[1 - dimension]
        part = layout_of(Slice(dimension, parent), (length,))
        assert is_sound(part)
        assert part == without_dimension(
            narrowed(whole, tuple(1 if d == dimension else s for d, s in enumerate(shape))), dimension
        )
        threads: dict[int, set[tuple[int, int]]] = {}
        for coordinate, places in holders(whole).items():
            threads.setdefault(coordinate[1 - dimension], set()).update(place[1:] for place in places)
        for (at,), places in holders(part).items():
            assert {place[1:] for place in places} == threads[at]


def test_reduced_layout_is_the_slice() -> None:
    for dimension, length in ((0, 64), (1, 64)):
        assert without_dimension(layout_of(MMA, (64, 64)), dimension) == layout_of(Slice(dimension, MMA), (length,))


def test_views_of_layouts() -> None:
    layout = layout_of(BLOCKED, (16, 128))
    assert without_dimension(with_dimension(layout, 1), 1) == layout
    turned = permuted(layout, (1, 0))
    assert turned.shape == (128, 16) and turned.coordinate(5, 9, 3) == layout.coordinate(5, 9, 3)[::-1]
    assert permuted(turned, (1, 0)) == layout


@pytest.mark.parametrize("warps", [1, 2, 4, 8])
@pytest.mark.parametrize("encoding", [BLOCKED, MMA, Slice(1, MMA), Slice(0, BLOCKED), Blocked((4,), (32,), (4,), (0,))])
def test_other_numbers_of_warps(encoding: Blocked | Mma | Slice, warps: int) -> None:
    rank = 2 if encoding in (BLOCKED, MMA) else 1
    layout = layout_of(for_warps(encoding, warps), (128,) * rank)
    assert layout.warps == warps and is_sound(layout)


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("before", [(4, 1), (8, 1), (4, 2), (8, 2), (4, 4)])
def test_four_warps_of_a_group_are_64_rows_of_a_matrix_op(before: tuple[int, int], warps: int) -> None:
    """As the PTX ISA has a result of wgmma and its operand in registers, whatever the text has on more warps."""
    result = for_warps(Mma(before, (16, 64, 16)), warps)
    operand = for_warps(DotOperand(0, Mma(before, (16, 64, 16)), 2), warps)
    for encoding, shape in ((result, (128, 256)), (operand, (128, 64))):
        layout = layout_of(encoding, shape)
        assert layout.warps == warps and is_sound(layout)
        assert layout.warp[:2] == ((16, 0), (32, 0)) and layout.lane[2:] == ((1, 0), (2, 0), (4, 0))


def test_refusals() -> None:
    for encoding, shape in ((MMA, (64,)), (DotOperand(1, MMA, 2), (64, 64)), (BLOCKED, (48, 64))):
        with pytest.raises(LayoutError):
            layout_of(encoding, shape)


def test_bytes_of_shared_tiles() -> None:
    assert default_encoding("f16", (64, 32)) == MmaShared(64, False, 16)
    assert default_encoding("f8E4M3FN", (128, 128)) == MmaShared(128, False, 8)
    assert view_bytes("f16", (128, 64), MmaShared(128, False, 16)) == 16384
    assert view_bytes("f16", (64, 24), MmaShared(32, False, 16)) == 64 * 64  # two blocks of 32 bytes
    assert view_bytes("f32", (128,), SwizzledShared(1, 1, 1, (0,))) == 512


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_a_linear_layout_for_other_numbers_of_warps_holds_the_tile_once(warps: int) -> None:
    """That of a transposed result: twice the warps hold half as much each, half of them twice as much."""
    four = layout_of(Mma((4, 1), (16, 64, 16)), (128, 64))
    linear = Linear(*((tuple((c, r) for r, c in bases)) for bases in (four.register, four.lane, four.warp)))
    layout = layout_of(for_warps(linear, warps), (64, 128))
    assert layout.warps == warps and is_sound(layout) and copies(layout) == 1
    assert layout.registers * warps == four.registers * 4
    if warps == 8:
        assert layout == permuted(layout_of(Mma((8, 1), (16, 64, 16)), (128, 64)), (1, 0))
