"""Sub-tiling as an edit of the tile loop."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tile_snippets import LOAD_K, snippet, uses

from core.diagnostics import InputError
from core.graph.model import Space
from core.ir.parser import parse_module
from core.ir.subtile import subtile
from core.ir.tile_loop import tile_loop
from core.ir.tiles import Category, TileLoop

SAMPLES = Path(__file__).parents[2] / "data" / "ttgir"
ONE_TILE = "fa_fwd_sm90_d128m128n128-f16-full_v39_pre"  # 128 rows
TWO_TILES = "fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre"  # the same with two tiles of 64 rows in the text
BACKWARD = "fa_bwd_fused_sm90_d128m64n128-f16_v39_pre"
SCORES = f"{LOAD_K}      %s = ttng.warp_group_dot %q, %ks, %zero : $Q * $M -> $S\n"
STORE = "      tt.descriptor_store %desc[%i, %c0], %x : $D, $S\n"


def sample(name: str) -> TileLoop:
    module = parse_module((SAMPLES / f"{name}.ttgir").read_text(), name)
    return tile_loop(module, module.loops[0])


def shapes(tiles: TileLoop) -> Counter[tuple[object, ...]]:
    """All that a cost follows from, op by op, whatever the ids are."""
    return Counter((op.kind, op.extents, op.results, op.tiles, op.combiner) for op in tiles.ops.values())


def flows(tiles: TileLoop) -> Counter[tuple[object, ...]]:
    """All dependences by the kinds and extents of their ends."""

    def look(id_: str) -> tuple[object, ...]:
        return (tiles.ops[id_].kind, tiles.ops[id_].extents)

    return Counter(
        (look(operand.source), look(op.id), operand.distance, operand.role, operand.axes)
        for op in tiles.ops.values()
        for operand in op.operands
    )


def test_half_of_a_tile_is_what_the_text_with_two_tiles_has():
    halves, written = subtile(sample(ONE_TILE), "m", 2), sample(TWO_TILES)
    assert shapes(halves) == shapes(written)
    assert flows(halves) == flows(written)
    assert halves.kept_bytes == written.kept_bytes


def test_parts_keep_to_themselves_and_share_the_loads():
    tiles = subtile(sample(ONE_TILE), "m", 2)
    assert [id_ for id_ in tiles.ops if id_.startswith("descriptor_load")] == ["descriptor_load.0", "descriptor_load.1"]
    for op in tiles.ops.values():
        if op.category is Category.LOAD:
            continue
        assert op.id == f"{op.base}.{op.part}"
        sources = {tiles.ops[operand.source] for operand in op.operands}
        assert {source.part for source in sources} <= {None, op.part}
    body = tiles.loop.body.operations
    exp = next(op for op in body if op.name == "math.exp2")
    assert tiles.owner(exp) == ("exp2.0.0", "exp2.0.1")
    load = next(op for op in body if op.name == "tt.descriptor_load")
    assert tiles.owner(load) == ("descriptor_load.0",)


@pytest.mark.parametrize(
    ("axis", "parts", "op", "why"),
    [
        ("n", 2, "reduce.0", "reduces along that axis"),  # the row maximum runs over the columns of the scores
        ("m", 3, "warp_group_dot.0", "128 elements cannot be divided by 3"),
        ("m", 4, "warp_group_dot.0", "32 rows are no multiple of the 64"),
    ],
)
def test_what_forbids_a_split_is_named_with_its_line(axis, parts: int, op: str, why: str):
    tiles = sample(ONE_TILE)
    with pytest.raises(InputError) as caught:
        subtile(tiles, axis, parts)
    (diagnostic,) = caught.value.diagnostics
    assert why in diagnostic.message
    assert diagnostic.message.startswith(f"'{op}'")
    assert diagnostic.line == tiles.ops[op].line


def test_a_product_that_sums_along_the_axis_stays_whole_and_reads_all_parts():
    tiles = subtile(sample(BACKWARD), "m", 2)
    # S, dV, dP and dK run along the keys; dQ sums over them.
    products = [op.id for op in tiles.ops.values() if op.category is Category.MATRIX]
    assert products == [
        *(f"warp_group_dot.{index}.{part}" for index in range(4) for part in range(2)),
        "warp_group_dot.4",
    ]
    assert uses(tiles, "warp_group_dot.4") == [("convert_layout.2.0", 0), ("convert_layout.2.1", 0)]
    assert tiles.ops["warp_group_dot.4"].extents == (64, 128, 128)
    assert tiles.ops["warp_group_dot.1.0"].extents == (64, 128, 64)
    assert uses(tiles, "warp_group_dot.1.1")[-1] == ("warp_group_dot.1.1", 1)  # each part its own accumulator
    # Its operand A goes through shared memory anyway, where both parts put their half.
    halves = [tiles.ops[f"convert_layout.2.{part}"] for part in range(2)]
    assert [(half.kind, half.space, half.extents) for half in halves] == [
        ("ttg.local_store", Space.SHARED, (64, 64))
    ] * 2
    assert tiles.ops["warp_group_dot.4"].tiles[0].space is Space.SHARED
    # The vectors over queries do not run along the keys: both parts read the one load.
    assert ("load.0", 0) in uses(tiles, "subf.0.0")
    assert ("load.0", 0) in uses(tiles, "subf.0.1")


def test_only_the_chosen_ops_are_split_and_others_read_all_parts():
    tiles = subtile(
        snippet(f"{SCORES}      %e = math.exp2 %s : $S\n      %x = arith.negf %e : $S\n{STORE}"),
        "n",
        2,
        ["warp_group_dot.0", "exp2.0"],
    )
    assert list(tiles.ops) == [
        "descriptor_load.0",
        "warp_group_dot.0.0",
        "warp_group_dot.0.1",
        "exp2.0.0",
        "exp2.0.1",
        "negf.0",
        "descriptor_store.0",
    ]
    assert tiles.ops["warp_group_dot.0.1"].extents == (64, 64, 128)
    assert [tile.shape for tile in tiles.ops["warp_group_dot.0.1"].tiles] == [(64, 128), (128, 64)]
    assert uses(tiles, "negf.0") == [("exp2.0.0", 0), ("exp2.0.1", 0)]


@pytest.mark.parametrize(
    ("ops", "why"),
    [
        (["warp_group_dot.0", "exp2.7"], "no op 'exp2.7'"),
        (["warp_group_dot.0", "exp2.0"], "does not run along"),  # nothing of it is split between them
    ],
)
def test_ids_that_are_not_there_or_not_on_the_axis_are_refused(ops: list[str], why: str):
    tiles = snippet(f"{SCORES}      %y = arith.negf %s : $S\n      %x = math.exp2 %y : $S\n{STORE}")
    with pytest.raises(InputError, match=why) as caught:
        subtile(tiles, "m" if "7" in ops[1] else "n", 2, ops)
    assert all(fault.line is not None for fault in caught.value.diagnostics)


def test_each_part_keeps_what_it_needs_of_a_tile_from_before_the_loop():
    tiles = subtile(
        snippet(
            f"{SCORES}      %y = arith.addf %s, %bias : $S\n      %x = arith.addf %y, %wide : $S\n{STORE}",
            before="    %c = tt.expand_dims %rows {axis = 1 : i32} : $R -> $C\n    %wide = tt.broadcast %c : $C -> $S",
        ),
        "n",
        2,
    )
    kept = {op.id: op.results[0].shape for op in tiles.ops.values() if op.category is Category.INVARIANT}
    # Half of the columns of %bias; the vector over rows is needed by both parts as a whole.
    assert kept == {"before.0.0": (64, 64), "before.0.1": (64, 64), "before.1.0": (64,), "before.1.1": (64,)}
    assert ("before.1.1", 0) in uses(tiles, "addf.1.1")


def test_parts_of_a_buffer_that_is_used_again_wait_for_their_own_readers():
    stage = "!ttg.memdesc<64x128xf32, #shared, #smem, mutable>"
    tiles = subtile(
        snippet(
            f"""{SCORES}
      ttg.local_store %s, %stage : $S -> {stage}
      ttng.async_tma_copy_local_to_global %desc[%i, %c0] %stage : $D, {stage}
""",
            before=f"    %stage = ttg.local_alloc : () -> {stage}\n",
        ),
        "n",
        2,
    )
    copy, store = "async_tma_copy_local_to_global.0", "local_store.0"
    assert [(order.source, order.target) for order in tiles.orders] == [
        (f"{copy}.0", f"{store}.0"),
        (f"{copy}.1", f"{store}.1"),
    ]


def test_a_loop_without_tiles_of_two_dimensions_cannot_be_split():
    with pytest.raises(InputError, match="no op"):
        subtile(snippet(LOAD_K), "m", 2)
