"""Shared and tensor memory: who reads what whom wrote, in the order of the text."""

from __future__ import annotations

import pytest
from tile_snippets import LOAD_K, snippet, uses

from core.graph.model import DependenceKind, Space
from core.ir.tiles import Category, Order, Role, TileLoop

ALLOC = "    %d, %t0 = ttng.tmem_alloc : () -> ($T, $W)\n"
STORE = "      tt.descriptor_store %desc[%i, %c0], %x : $D, $L\n"


def mma(token: str, flag: str) -> str:
    """B is the loaded tile, A is the same in every iteration."""
    return f"ttng.tc_gen5_mma %q, %ks, %d{token}, {flag}, %true : $Q, $M, $T"


def used(tiles: TileLoop, op: str) -> list[tuple[str, int, Role]]:
    return [(use.source, use.distance, use.role) for use in tiles.ops[op].operands]


def test_a_product_that_does_not_accumulate_begins_a_new_value_of_its_buffer():
    tiles = snippet(
        f"{LOAD_K}      %t1 = {mma('[%t]', '%false')}\n      %x, %t2 = ttng.tmem_load %d[%t1] : $T -> $L\n{STORE}",
        before=ALLOC,
        carried={"%t": ("%t0", "%t2", "$W")},
    )
    # The load's token comes around to the product, which still waits for no reader: its value is a new one.
    assert uses(tiles, "tc_gen5_mma.0") == [("descriptor_load.0", 0)]
    assert uses(tiles, "tmem_load.0") == [("tc_gen5_mma.0", 0)]
    assert tiles.ops["tc_gen5_mma.0"].space is Space.TENSOR
    assert not tiles.orders


@pytest.mark.parametrize("token", ["[%t]", ""], ids=["token", "program order"])
def test_a_product_that_accumulates_takes_its_value_of_the_iteration_before(token: str):
    # The flag is false in the first iteration only: in the steady state the product accumulates.
    tiles = snippet(
        f"{LOAD_K}      %t1 = {mma(token, '%flag')}\n",
        before=ALLOC,
        carried={"%flag": ("%false", "%true", "i1"), "%t": ("%t0", "%t1", "$W")},
    )
    assert used(tiles, "tc_gen5_mma.0") == [
        ("descriptor_load.0", 0, Role.DATA),
        ("tc_gen5_mma.0", 1, Role.ACCUMULATOR),
    ]


def rescale(extra: str = "") -> TileLoop:
    return snippet(
        f"""{LOAD_K}
      %x, %t1 = ttng.tmem_load %d[%t] : $T -> $L
      %y = arith.mulf %x, %factor : $L
      %t2 = ttng.tmem_store %y, %d[%t1], %true : $L -> $T
      %t3 = {mma("[%t2]", "%true")}
{extra}""",
        before=f"{ALLOC}    %factor = tt.splat %scale : f32 -> $L",
        carried={"%t": ("%t0", "%t3", "$W")},
    )


def test_a_rescale_runs_in_pieces_and_stores_where_the_old_value_is():
    tiles = rescale()
    assert [op.id for op in tiles.ops.values() if op.in_pieces] == ["tmem_load.0", "mulf.0"]
    assert used(tiles, "tmem_load.0") == [("tc_gen5_mma.0", 1, Role.DATA)]
    assert used(tiles, "tmem_store.0") == [("mulf.0", 0, Role.DATA), ("tc_gen5_mma.0", 1, Role.REPLACED)]
    assert used(tiles, "tc_gen5_mma.0")[1] == ("tmem_store.0", 0, Role.ACCUMULATOR)


def test_a_tile_with_another_user_is_no_rescale_and_its_store_waits_for_no_reader():
    tiles = rescale(STORE)
    assert not any(op.in_pieces for op in tiles.ops.values())
    assert used(tiles, "tmem_store.0") == [("mulf.0", 0, Role.DATA)]


def test_a_buffer_of_the_body_with_a_source_is_a_store_of_a_new_value():
    tiles = snippet(
        f"""{LOAD_K}
      %t1 = {mma("[%t]", "%false")}
      %x, %t2 = ttng.tmem_load %d[%t1] : $T -> $L
      %h = arith.truncf %x : $L to tensor<128x128xf16, #linear>
      %p = ttng.tmem_alloc %h : (tensor<128x128xf16, #linear>) -> $U
      %t3 = ttng.tc_gen5_mma %p, %ks, %e[%u], %true, %true : $U, $M, $T
""",
        before=ALLOC + ALLOC.replace("%d", "%e").replace("%t0", "%u0"),
        carried={"%t": ("%t0", "%t2", "$W"), "%u": ("%u0", "%t3", "$W")},
    )
    assert uses(tiles, "tmem_alloc.0") == [("truncf.0", 0)]
    assert tiles.ops["tmem_alloc.0"].results[0].columns == 64  # 128 x 128 of 16 bits
    assert used(tiles, "tc_gen5_mma.1") == [
        ("tmem_alloc.0", 0, Role.DATA),
        ("descriptor_load.0", 0, Role.DATA),
        ("tc_gen5_mma.1", 1, Role.ACCUMULATOR),
    ]


def test_tensor_memory_that_the_loop_only_reads_keeps_its_columns():
    tiles = snippet("      %x = ttng.tmem_load %d : $T -> $L\n" + STORE, before=ALLOC)
    kept = tiles.ops["before.0"]
    assert (kept.category, kept.space, kept.results[0].columns) == (Category.INVARIANT, Space.TENSOR, 128)
    assert uses(tiles, "tmem_load.0") == [("before.0", 0)]


BARRIER = "!ttg.memdesc<1xi64, #bars, #smem, mutable>"
RING = f"    %ring = ttg.local_alloc : () -> $Z\n    %bars = ttg.local_alloc : () -> {BARRIER}\n"
SLOT = "ttg.memdesc_index %ring[{0}] : $Z -> $Y"
OLD_SLOT = "ttg.memdesc_subview %ring[{0}, %c0, %c0] : $Z -> $Y"
NEXT = """
      %{0}a = arith.addi %{0}, %c1 : i32
      %{0}b = arith.cmpi sge, %{0}a, %c3 : i32
      %{0}n = arith.select %{0}b, %c0, %{0}a : i32
"""


def ring(slot: str, first_written: str, before: str = RING) -> TileLoop:
    """A slot is read, then one is written; both indices go around 0, 1, 2. The first one read is 0."""
    return snippet(
        f"""{NEXT.format("r")}{NEXT.format("w")}
      %read = {slot.format("%rn")}
      %s = ttng.warp_group_dot %q, %read, %zero : $Q * $Y -> $S
      %written = {slot.format("%wn")}
      ttng.async_tma_copy_global_to_local %desc[%i, %c0] %written, %bars, %true : $D, {BARRIER} -> $Y
""",
        before=before,
        carried={"%r": ("%c2", "%rn", "i32"), "%w": (first_written, "%wn", "i32")},
    )


@pytest.mark.parametrize("slot", [SLOT, OLD_SLOT], ids=["memdesc_index", "memdesc_subview"])
@pytest.mark.parametrize(
    ("first_written", "distance"),
    [
        ("%c1", 2),  # writes 2, 0, 1 while 0, 1, 2 are read: what is written is read two iterations later
        ("%c0", 1),  # writes 1, 2, 0: one iteration later
        ("%c2", 3),  # writes 0, 1, 2, just after the slot was read: three iterations later
    ],
)
def test_slots_of_a_ring_are_followed_by_their_indices(slot: str, first_written: str, distance: int):
    tiles = ring(slot, first_written)
    assert uses(tiles, "warp_group_dot.0") == [("async_tma_copy_global_to_local.0", distance)]
    copy = tiles.ops["async_tma_copy_global_to_local.0"]
    assert (copy.space, copy.results[0].bytes) == (Space.SHARED, 128 * 128 * 2)
    # How deep a ring is, is for the schedule to decide: no order, and only Q is kept in shared memory.
    assert not tiles.orders
    assert [tile.name for tile in tiles.kept] == ["%q"]


def test_a_slot_that_cannot_be_known_falls_back_on_the_order_of_the_text():
    tiles = ring(SLOT, "%n")
    assert uses(tiles, "warp_group_dot.0") == [("async_tma_copy_global_to_local.0", 1)]


def test_a_view_that_is_carried_is_that_of_an_earlier_iteration():
    tiles = snippet(
        f"""
      %s = ttng.warp_group_dot %q, %before, %zero : $Q * $Y -> $S
      %now = {SLOT.format("%i")}
      ttng.async_tma_copy_global_to_local %desc[%i, %c0] %now, %bars, %true : $D, {BARRIER} -> $Y
""",
        before=RING + f"    %first = {SLOT.format('%c0')}\n",
        carried={"%before": ("%first", "%now", "$Y")},
    )
    assert uses(tiles, "warp_group_dot.0") == [("async_tma_copy_global_to_local.0", 1)]


def test_using_the_one_tile_of_a_buffer_again_waits_for_its_readers():
    tiles = snippet(
        f"""{LOAD_K}
      %s = ttng.warp_group_dot %q, %ks, %zero : $Q * $M -> $S
      ttg.local_store %s, %stage : $S -> !ttg.memdesc<64x128xf32, #shared, #smem, mutable>
      ttng.async_tma_copy_local_to_global %desc[%i, %c0] %stage : $D, !ttg.memdesc<64x128xf32, #shared, #smem, mutable>
""",
        before="    %stage = ttg.local_alloc : () -> !ttg.memdesc<64x128xf32, #shared, #smem, mutable>\n",
    )
    assert uses(tiles, "async_tma_copy_local_to_global.0") == [("local_store.0", 0)]
    assert tiles.orders == (Order("async_tma_copy_local_to_global.0", "local_store.0", 1, DependenceKind.ANTI),)
    assert tiles.ops["local_store.0"].results[0].bytes == 64 * 128 * 4
    assert [tile.name for tile in tiles.kept] == ["%q"]  # the buffer is not kept: its value is the store's


def test_a_buffer_that_an_unknown_op_makes_or_may_change_is_waited_for():
    tiles = snippet(
        f"""{LOAD_K}
      %b = acme.pack %ks : $M -> $M
      acme.patch %stage : $Y
      %s = ttng.warp_group_dot %q, %b, %zero : $Q * $M -> $S
      %t = ttng.warp_group_dot %q, %stage, %s : $Q * $Y -> $S
""",
        before="    %stage = ttg.local_alloc : () -> $Y\n",
    )
    assert uses(tiles, "pack.0") == [("descriptor_load.0", 0)]
    assert uses(tiles, "patch.0") == [("patch.0", 1)]
    assert uses(tiles, "warp_group_dot.0") == [("pack.0", 0)]
    assert uses(tiles, "warp_group_dot.1") == [("patch.0", 0), ("warp_group_dot.0", 0)]


def test_accesses_to_shared_memory_stay_on_their_side_of_a_barrier():
    tiles = snippet(f"{LOAD_K}      gpu.barrier\n      %s = ttng.warp_group_dot %q, %ks, %zero : $Q * $M -> $S\n")
    assert set(tiles.orders) == {
        Order("descriptor_load.0", "barrier.0", 0, DependenceKind.ORDER),
        Order("barrier.0", "descriptor_load.0", 1, DependenceKind.ORDER),
        Order("barrier.0", "warp_group_dot.0", 0, DependenceKind.ORDER),
        Order("warp_group_dot.0", "barrier.0", 1, DependenceKind.ORDER),
    }
