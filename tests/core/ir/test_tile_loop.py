"""Loop to tile ops: what is an op of the schedule, and which value comes from where."""

from __future__ import annotations

from pathlib import Path

import pytest
from tile_snippets import LOAD_K, owners_of, snippet, uses

from core.diagnostics import InputError
from core.graph.model import Space
from core.ir.parser import parse_module
from core.ir.tile_loop import tile_loop
from core.ir.tiles import Category, Role

SAMPLES = sorted((Path(__file__).parents[2] / "data" / "ttgir").glob("*.ttgir"))

SCORES = f"""{LOAD_K}
      %kt = ttg.memdesc_trans %ks {{order = array<i32: 1, 0>}} : $M -> $N
      %s = ttng.warp_group_dot %q, %kt, %zero : $Q * $N -> $S
"""
POINTERS = "tensor<64x128x!tt.ptr<f16>, #blocked>"
OFFSETS = "tensor<64x128xi32, #blocked>"
LOADED = "tensor<64x128xf16, #blocked>"
MASK = "tensor<64x128xi1, #blocked>"


def stored(value: str, type_: str = "$S") -> str:
    return f"\n      tt.descriptor_store %desc[%i, %c0], {value} : $D, {type_}\n"


def test_a_load_into_a_buffer_is_one_op_and_views_are_none():
    tiles = snippet(SCORES)
    assert list(tiles.ops) == ["descriptor_load.0", "warp_group_dot.0"]
    load, dot = tiles.ops.values()
    assert load.space is Space.SHARED
    assert load.results[0].bytes == 128 * 128 * 2
    assert dot.extents == (64, 128, 128)  # m, n, k
    # K is transposed: its rows run along n (axis 1), its columns along k (axis 2).
    assert [(operand.source, operand.axes) for operand in dot.operands] == [("descriptor_load.0", (1, 2))]
    assert owners_of(tiles, "ttg.local_alloc") == [("descriptor_load.0",)]
    assert owners_of(tiles, "ttg.memdesc_trans") == [("warp_group_dot.0",)]


def test_ids_count_all_ops_of_a_name_in_the_body():
    tiles = snippet(
        f"{SCORES}      %t = arith.mulf %scale, %scale : f32\n      %u = arith.mulf %s, %s : $S{stored('%u')}"
    )
    assert list(tiles.ops) == ["descriptor_load.0", "warp_group_dot.0", "mulf.1", "descriptor_store.0"]


def test_address_arithmetic_on_scalars_belongs_to_every_load_that_uses_it():
    tiles = snippet(
        """
      %row = arith.addi %i, %n : i32
      %k = tt.descriptor_load %desc[%row, %c0] : $D -> $B
      %ks = ttg.local_alloc %k : ($B) -> $M
      %v = tt.descriptor_load %desc[%row, %c0] : $D -> $B
      %vs = ttg.local_alloc %v : ($B) -> $M
"""
    )
    assert list(tiles.ops) == ["descriptor_load.0", "descriptor_load.1"]
    assert owners_of(tiles, "arith.addi") == [("descriptor_load.0", "descriptor_load.1")]


def test_tiles_of_pointers_offsets_and_masks_are_addresses():
    tiles = snippet(
        f"""
      %o = tt.splat %i : i32 -> {OFFSETS}
      %next = tt.addptr %p, %o : {POINTERS}, {OFFSETS}
      %keep = arith.cmpi slt, %o, %o : {OFFSETS}
      %a = tt.load %p, %keep : {POINTERS}
      %as = ttg.local_alloc %a : ({LOADED}) -> $Q
""",
        carried={"%p": ("%ptrs", "%next", POINTERS)},
    )
    assert list(tiles.ops) == ["load.0"]
    assert tiles.ops["load.0"].operands == ()
    for name in ("arith.cmpi", "tt.addptr", "tt.splat"):
        assert owners_of(tiles, name) == [("load.0",)]


def test_a_mask_that_data_needs_too_is_an_op_and_loads_compute_it_for_themselves():
    tiles = snippet(
        f"""
      %o = tt.splat %i : i32 -> {OFFSETS}
      %keep = arith.cmpi slt, %o, %offsets : {OFFSETS}
      %a = tt.load %ptrs, %keep : {POINTERS}
      %b = arith.select %keep, %a, %none : {MASK}, {LOADED}
      tt.store %ptrs, %b, %keep : {POINTERS}
""",
        before=f"    %none = arith.constant dense<0.0> : {LOADED}\n    %offsets = arith.constant dense<3> : {OFFSETS}",
    )
    assert list(tiles.ops) == ["cmpi.0", "load.0", "select.0", "store.0"]
    assert uses(tiles, "load.0") == []
    for name in ("tt.splat", "arith.cmpi"):  # in the text there is one of each, which is there as soon as the load is
        assert owners_of(tiles, name) == [("cmpi.0", "load.0", "store.0")]
    assert uses(tiles, "select.0") == [("cmpi.0", 0), ("load.0", 0)]
    assert uses(tiles, "store.0") == [("select.0", 0)]


def test_a_load_at_a_loaded_index_waits_for_it():
    tiles = snippet(
        f"""
      %at = tt.load %index : !tt.ptr<i32>
      %far = arith.muli %at, %c2 : i32
      %o = tt.splat %far : i32 -> {OFFSETS}
      %p = tt.addptr %ptrs, %o : {POINTERS}, {OFFSETS}
      %a = tt.load %p : {POINTERS}
      tt.store %p, %a : {POINTERS}
"""
    )
    assert list(tiles.ops) == ["load.0", "load.1", "store.0"]
    assert [(use.source, use.role) for use in tiles.ops["load.1"].operands] == [("load.0", Role.ADDRESS)]
    assert [(use.source, use.role) for use in tiles.ops["store.0"].operands] == [
        ("load.0", Role.ADDRESS),
        ("load.1", Role.DATA),
    ]


def test_a_loaded_scalar_reaches_the_tile_it_is_spread_over():
    tiles = snippet(
        f"""{SCORES}
      %a = tt.load %index : !tt.ptr<i32>
      %b = arith.sitofp %a : i32 to f32
      %c = tt.splat %b : f32 -> $S
      %t = arith.mulf %s, %c : $S{stored("%t")}"""
    )
    assert uses(tiles, "mulf.0") == [("warp_group_dot.0", 0), ("load.0", 0)]
    assert owners_of(tiles, "arith.sitofp") == [("mulf.0",)]


def test_pointer_loads_go_to_shared_memory_if_a_buffer_takes_them_else_to_registers():
    tiles = snippet(
        f"""
      %a = tt.load %ptrs : {POINTERS}
      %as = ttg.local_alloc %a : ({LOADED}) -> $Q
      %b = tt.load %ptrs : {POINTERS}
      %c = arith.negf %b : {LOADED}
      tt.store %ptrs, %c : {POINTERS}
"""
    )
    assert tiles.ops["load.0"].space is Space.SHARED
    assert tiles.ops["load.1"].space is Space.REGISTERS


def test_a_tile_that_landed_in_shared_memory_is_read_into_registers_by_an_op_of_its_own():
    tiles = snippet(f"{SCORES}      %x = arith.negf %k : $B{stored('%x', '$B')}")
    assert uses(tiles, "warp_group_dot.0") == [("descriptor_load.0", 0)]
    assert uses(tiles, "negf.0") == [("local_load.0", 0)]
    assert uses(tiles, "local_load.0") == [("descriptor_load.0", 0)]
    read = tiles.ops["local_load.0"]
    assert (read.kind, read.category, read.space) == ("ttg.local_load", Category.MOVE, Space.REGISTERS)


def test_a_landed_tile_is_read_by_that_op_in_the_next_iteration_too():
    tiles = snippet(
        f"      %x = arith.negf %last : $B{stored('%x', '$B')}{LOAD_K}",
        carried={"%last": ("%none", "%k", "$B")},
        before="    %none = arith.constant dense<0.0> : $B",
    )
    assert uses(tiles, "negf.0") == [("local_load.0", 1)]
    assert uses(tiles, "local_load.0") == [("descriptor_load.0", 0)]


def test_carried_values_have_distance_one_and_a_chain_of_them_more():
    tiles = snippet(
        f"{SCORES}      %t = arith.addf %b, %s : $S{stored('%t')}",
        carried={"%a": ("%zero", "%s", "$S"), "%b": ("%zero", "%a", "$S")},
    )
    # %b is %a of the iteration before, which is %s of the iteration before that.
    assert uses(tiles, "addf.0") == [("warp_group_dot.0", 2), ("warp_group_dot.0", 0)]


def test_a_carried_value_that_never_changes_is_one_from_before_the_loop():
    tiles = snippet(f"{SCORES}      %t = arith.addf %a, %s : $S{stored('%t')}", carried={"%a": ("%bias", "%a", "$S")})
    assert uses(tiles, "addf.0") == [("before.0", 0), ("warp_group_dot.0", 0)]


def test_each_reader_of_a_register_tile_from_before_the_loop_keeps_its_own():
    tiles = snippet(
        f"""{SCORES}
      %t = arith.addf %s, %bias : $S
      %u = arith.mulf %t, %bias : $S
      %v = arith.mulf %u, %factor : $S
      %w = arith.addf %v, %zero : $S{stored("%w")}""",
        before="    %factor = tt.splat %scale : f32 -> $S",
    )
    kept = [op for op in tiles.ops.values() if op.category is Category.INVARIANT]
    # One for each of the two readers of %bias; a splat of a scalar and a constant take no registers.
    assert [(op.id, op.results[0].shape) for op in kept] == [("before.0", (64, 128)), ("before.1", (64, 128))]
    assert uses(tiles, "addf.0") == [("warp_group_dot.0", 0), ("before.0", 0)]
    assert uses(tiles, "mulf.0") == [("addf.0", 0), ("before.1", 0)]


def test_a_reader_keeps_one_copy_of_a_tile_that_it_reads_twice():
    tiles = snippet(
        f"""{SCORES}
      %m = arith.cmpf ogt, %s, %zero : $S
      %t = arith.select %m, %bias, %bias : tensor<64x128xi1, #mma>, $S{stored("%t")}"""
    )
    assert uses(tiles, "select.0") == [("cmpf.0", 0), ("before.0", 0)]
    assert "before.1" not in tiles.ops


def test_of_a_vector_spread_before_the_loop_only_the_vector_is_kept():
    tiles = snippet(
        f"{SCORES}      %t = arith.addf %s, %wide : $S{stored('%t')}",
        before="    %c = tt.expand_dims %rows {axis = 1 : i32} : $R -> $C\n    %wide = tt.broadcast %c : $C -> $S",
    )
    assert tiles.ops["before.0"].results[0].shape == (64,)


def test_what_is_the_same_in_every_iteration_is_done_before_the_loop():
    tiles = snippet(f"{SCORES}      %b = arith.negf %bias : $S\n      %t = arith.addf %s, %b : $S{stored('%t')}")
    assert "negf.0" not in tiles.ops
    assert uses(tiles, "addf.0") == [("warp_group_dot.0", 0), ("before.0", 0)]
    assert owners_of(tiles, "arith.negf") == [("addf.0",)]


def test_shared_tiles_from_before_the_loop_are_kept_even_if_the_text_copies_them_inside():
    tiles = snippet(
        f"""{LOAD_K}
      %x = ttg.local_alloc %qt : ($H) -> $Q
      %s = ttng.warp_group_dot %q, %ks, %zero : $Q * $M -> $S
      %t = ttng.warp_group_dot %x, %ks, %zero : $Q * $M -> $S
"""
    )
    assert list(tiles.ops) == ["descriptor_load.0", "warp_group_dot.0", "warp_group_dot.1"]
    assert [tile.bytes for tile in tiles.kept] == [64 * 128 * 2, 64 * 128 * 2]


def test_an_accumulator_is_an_operand_of_its_own_kind_unless_it_starts_at_zero():
    tiles = snippet(
        f"""{LOAD_K}
      %s = ttng.warp_group_dot %q, %ks, %a : $Q * $M -> $S
      %t = ttng.warp_group_dot %q, %ks, %zero : $Q * $M -> $S
      %u = ttng.warp_group_dot %q, %ks, %t, %false : $Q * $M -> $S
""",
        carried={"%a": ("%zero", "%s", "$S")},
    )
    accumulators = {
        op.id: [use.source for use in op.operands if use.role is Role.ACCUMULATOR] for op in tiles.ops.values()
    }
    assert accumulators["warp_group_dot.0"] == ["warp_group_dot.0"]
    assert accumulators["warp_group_dot.1"] == []
    assert accumulators["warp_group_dot.2"] == []


@pytest.mark.parametrize("add", ["arith.addf", "arith.subf"])
def test_a_multiplication_with_one_user_is_one_op_with_the_addition(add: str):
    tiles = snippet(
        f"""{SCORES}
      %t = arith.mulf %s, %s : $S
      %u = {add} %bias2, %t : $S{stored("%u")}""",
        before="    %bias2 = tt.splat %scale : f32 -> $S",
    )
    fused = add.removeprefix("arith.") + ".0"
    assert list(tiles.ops) == ["descriptor_load.0", "warp_group_dot.0", fused, "descriptor_store.0"]
    assert [op.name for op in tiles.ops[fused].operations] == [add, "arith.mulf"]
    assert uses(tiles, fused) == [("warp_group_dot.0", 0)]
    assert owners_of(tiles, "arith.mulf") == [(fused,)]


@pytest.mark.parametrize(
    ("body", "ops"),
    [
        # two users
        ("%u = arith.addf %t, %s : $S\n      %v = arith.addf %t, %u : $S", ["mulf.0", "addf.0", "addf.1"]),
        # used twice by one addition
        ("%v = arith.addf %t, %t : $S", ["mulf.0", "addf.0"]),
        # no addition
        ("%v = arith.maxnumf %t, %s : $S", ["mulf.0", "maxnumf.0"]),
        # a second multiplication of the same addition stays one
        ("%x = arith.mulf %s, %bias : $S\n      %v = arith.addf %t, %x : $S", ["before.0", "mulf.1", "addf.0"]),
    ],
)
def test_only_one_multiplication_with_one_user_is_part_of_an_addition(body: str, ops: list[str]):
    tiles = snippet(f"{SCORES}      %t = arith.mulf %s, %s : $S\n      {body}{stored('%v')}")
    assert list(tiles.ops)[2:-1] == ops


def test_vectors_over_rows_are_held_by_four_lanes_in_wgmma_layout_and_by_one_thread_from_tensor_memory():
    reduce = """
      %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (TILE) -> VECTOR
"""
    store = stored("%m", "$R")
    tiles = snippet(SCORES + reduce.replace("TILE", "$S").replace("VECTOR", "$R") + store)
    vector = tiles.ops["reduce.0"]
    assert vector.extents == (64, 128)
    assert vector.result_axes == (0,)
    assert vector.combiner == ("arith.maxnumf",)
    assert vector.results[0].copies == 4
    assert vector.results[0].registers(4) == 2  # 64 rows · 4 lanes / 128 threads
    tiles = snippet(
        "      %s = ttng.tmem_load %d : $T -> $L\n" + reduce.replace("TILE", "$L").replace("VECTOR", "$V") + store,
        before="    %d = ttng.tmem_alloc : () -> $T",
    )
    assert tiles.ops["reduce.0"].results[0].registers(4) == 1  # 128 rows, one a thread


def test_a_conversion_without_exchange_is_a_view():
    operand = f"{SCORES}      %h = arith.truncf %s : $S to $H\n      %p = ttg.convert_layout %h : $H -> $P\n"
    tiles = snippet(f"{operand}      %o = ttng.warp_group_dot %p, %ks, %zero : $P * $M -> $S")
    # A in registers: its rows run along m, its columns along k.
    assert [(use.source, use.axes) for use in tiles.ops["warp_group_dot.1"].operands] == [
        ("truncf.0", (0, 2)),
        ("descriptor_load.0", (2, 1)),
    ]
    assert "convert_layout.0" not in tiles.ops
    tiles = snippet(f"{SCORES}      %o = ttg.convert_layout %s : $S -> tensor<64x128xf32, #blocked>{stored('%o')}")
    assert uses(tiles, "convert_layout.0") == [("warp_group_dot.0", 0)]


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('      scf.if %true {\n        tt.print "x"\n      }', "scf.if"),
        ("      scf.for %j = %c0 to %n step %c1  : i32 {\n      }", "scf.for"),
    ],
)
def test_control_flow_in_the_body_is_refused_with_its_line(inside: str, message: str):
    with pytest.raises(InputError) as caught:
        snippet(f"{LOAD_K}\n{inside}")
    diagnostic = caught.value.diagnostics[0]
    assert message in diagnostic.message
    assert diagnostic.line is not None and diagnostic.line > 20


def test_an_op_that_lacks_operands_is_refused_with_its_line():
    with pytest.raises(InputError, match=r"arith\.mulf has 1 operands") as caught:
        snippet(f"{SCORES}      %t = arith.mulf %s : $S")
    assert caught.value.diagnostics[0].line is not None


def test_an_unknown_op_is_kept_with_its_operands_and_result():
    tiles = snippet(f"{SCORES}      %t = acme.fancy %s : $S -> $S{stored('%t')}")
    assert tiles.ops["fancy.0"].category is Category.OPAQUE
    assert uses(tiles, "fancy.0") == [("warp_group_dot.0", 0)]
    assert uses(tiles, "descriptor_store.0") == [("fancy.0", 0)]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_operation_of_every_sample_has_an_owner(path: Path):
    module = parse_module(path.read_text(), path.name)
    for loop in module.loops:
        try:
            tiles = tile_loop(module, loop)
        except InputError:
            continue
        for op in loop.body.operations[:-1]:
            assert set(tiles.owner(op)) <= set(tiles.ops)
            assert tiles.owner(op), op.name
        scheduled = [op for op in tiles.ops.values() if op.category is not Category.INVARIANT]
        assert all(op in loop.body.operations for tile_op in scheduled for op in tile_op.operations)
