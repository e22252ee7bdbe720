"""Tile ops and a machine to a graph: amounts, costs, releases, waits."""

from __future__ import annotations

from pathlib import Path

import pytest
from tile_snippets import LOAD_K, snippet

from core.diagnostics import InputError
from core.graph.model import Block, Dependence, DependenceKind, Graph, GroupKind, Pin, Result, Space
from core.graph.read import parse_graph
from core.graph.write import dump_graph
from core.ir.parser import parse_module
from core.ir.tile_loop import tile_loop
from core.ir.tiles import TileLoop
from core.machine.build import BuiltGraph, build_graph
from core.machine.load import find_machine, parse_machine
from core.project.model import Override
from core.schedule.check import check
from core.schedule.model import Placement, Schedule, ScheduledGroup

# Round numbers, so that the expected ones can be worked out in the head.
MACHINE_TEXT = """
schema: twill.machine/1
name: round
target: cuda:90
clock_mhz: {value: 1000}
units:
  tensor_core: {capacity: 1}
  sfu: {capacity: 1}
  alu: {capacity: 1}
  tma: {capacity: 1}
  shared: {capacity: 1}
  store: {capacity: 1}
registers: {file_words: 65536, max_per_thread: 240, granularity: 8, overhead: 20, pool: warpgroup}
shared_memory: {bytes: 232448, fixed_bytes: 1000}
tensor_memory: {columns: 512}
warps: {max: 64, named_barriers: 15}
hand_off: {base: 100, per_kilobyte: 10}
costs:
  - {op: ttng.warp_group_dot, unit: tensor_core, work: fma, rate: 1024, instruction: {rows: 64, columns: 128,
     depth_bytes: 32}, issue: {base: 20, per_instruction: 10}, latency: {add: 60}, asynchronous: true, blocking: true,
     holds_operands: true, matrix: true}
  - {op: ttng.tc_gen5_mma, unit: tensor_core, work: fma, rate: 4096, issue: {base: 30}, latency: {add: 300},
     asynchronous: true, blocking: true, holds_operands: true, matrix: true, needs_warps: 1}
  - {op: ["ttng.tmem_load", "ttng.tmem_store", "ttng.tmem_alloc"], unit: store, work: bytes, rate: 512,
     latency: {add: 20}}
  - {op: tt.descriptor_load, unit: tma, work: bytes, rate: 64, issue: {base: 40}, latency: {base: 300,
     per_kilobyte: 10}, asynchronous: true, blocking: true, variable_latency: true, needs_warps: 1}
  - {op: tt.load, when: {result_in: shared}, unit: tma, work: bytes, rate: 64, issue: {base: 50}, latency: {base: 400},
     asynchronous: true, blocking: true}
  - {op: tt.load, unit: tma, work: bytes, rate: 64, issue: {base: 50}, latency: {base: 500}, asynchronous: true,
     blocking: true, variable_latency: true}
  - {op: [tt.store, tt.descriptor_store], unit: store, work: bytes, rate: 32, issue: {base: 70}, latency: {add: 5},
     asynchronous: true}
  - {op: [ttg.local_store, ttg.local_load], unit: shared, work: bytes, rate: 128, latency: {add: 30}}
  - {op: ttng.async_tma_copy_local_to_global, unit: store, work: bytes, rate: 32, issue: {base: 10}, latency: {add: 50},
     asynchronous: true, holds_operands: true, needs_warps: 1}
  - {op: tt.reduce, when: {combiner: arith.maxnumf}, unit: alu, work: elements, rate: 64, latency: {add: 40}}
  - {op: math.exp2, unit: sfu, work: elements, rate: 16, latency: {add: 2}}
  - {op: arith.*, unit: alu, work: elements, rate: 128, latency: {add: 4}}
"""
MACHINE = parse_machine(MACHINE_TEXT, "round.yaml")
LOAD = GroupKind("load", 1, 1, variable_latency=True)
WIDE_LOAD = GroupKind("load", 4, 1, variable_latency=True)
COMPUTE = GroupKind("compute", 4, 2)
SCORES = f"{LOAD_K}      %s = ttng.warp_group_dot %q, %ks, %zero : $Q * $M -> $S\n"
STORE_S = "      tt.descriptor_store %desc[%i, %c0], %x : $D, $S\n"
POINTERS = "tensor<64x128x!tt.ptr<f16>, #blocked>"


def build(tiles: TileLoop, *groups: GroupKind, **options) -> BuiltGraph:
    return build_graph(tiles, MACHINE, groups or (LOAD, COMPUTE), **options)


def edge(graph: Graph, source: str, target: str, distance: int = 0) -> Dependence:
    (found,) = [d for d in graph.dependences if (d.source, d.target, d.distance) == (source, target, distance)]
    return found


def test_costs_follow_from_shapes_and_elements():
    graph = build(snippet(f"{SCORES}      %x = math.exp2 %s : $S\n{STORE_S}")).graph
    load, dot, exp, store = graph.ops.values()
    # 32 KB at 64 a cycle; latency 300 + 10 a KB, but not before the block ends.
    assert load.blocks == (Block("tma", 0, 512),)
    assert (load.issue_cycles, load.latency, load.needs_warps) == (40, 620, 1)
    # 64·128·128 multiply-adds at 1024 a cycle; 128 columns of f16 need 8 instructions of k 16.
    assert dot.blocks == (Block("tensor_core", 0, 1024),)
    assert (dot.issue_cycles, dot.latency) == (20 + 80, 1024 + 60)
    # 8192 elements at 16 a cycle; a synchronous op is busy until it ends.
    assert (exp.blocks, exp.issue_cycles, exp.latency) == ((Block("sfu", 0, 512),), 512, 514)
    assert (store.issue_cycles, store.latency, store.result) == (70, 1024 + 5, Result())
    assert [op.asynchronous for op in graph.ops.values()] == [True, True, False, True]
    assert [op.matrix for op in graph.ops.values()] == [False, True, False, False]
    assert (load.variable_latency, load.streaming, exp.variable_latency) == (True, True, False)


def test_amounts_and_hand_offs_follow_from_the_tile():
    graph = build(snippet(f"{SCORES}      %x = math.exp2 %s : $S\n{STORE_S}")).graph
    assert graph.ops["descriptor_load.0"].result == Result(Space.SHARED, 32768)
    exp = graph.ops["exp2.0"]
    assert exp.result == Result(Space.REGISTERS, 64)  # 64·128·32 bits / 32 / 128 threads
    assert (exp.hand_off_cycles, exp.hand_off_bytes) == (100 + 10 * 32, 32768)
    # Q is kept beside the machine's own 1000 bytes.
    assert graph.machine.fixed_shared_bytes == 1000 + 64 * 128 * 2


def test_without_a_group_of_four_warps_tile_ops_take_eight_and_half_the_registers():
    graph = build(snippet(f"{SCORES}      %x = math.exp2 %s : $S\n{STORE_S}"), LOAD, GroupKind("compute", 8, 1)).graph
    assert [op.needs_warps for op in graph.ops.values()] == [1, 8, 8, 8]
    assert graph.ops["exp2.0"].result.amount == 32
    # The tensor core has as much to do; each of the two warp groups issues half of the instructions.
    dot = graph.ops["warp_group_dot.0"]
    assert (dot.blocks[0].duration, dot.issue_cycles) == (1024, 20 + 40)


def test_a_vector_over_rows_counts_for_each_lane_that_holds_it():
    reduce = """
      %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%y: f32, %z: f32):
        %w = arith.maxnumf %y, %z : f32
        tt.reduce.return %w : f32
      }) : ($S) -> $R
      %x = math.exp2 %m : $R
"""
    graph = build(snippet(SCORES + reduce + STORE_S.replace("$S", "$R"))).graph
    assert graph.ops["reduce.0"].result.amount == 2
    assert graph.ops["reduce.0"].blocks == (Block("alu", 0, 8192 // 64),)  # all elements of the operand
    assert graph.ops["exp2.0"].blocks == (Block("sfu", 0, 64 * 4 // 16),)  # four lanes hold each of 64 rows
    assert graph.ops["exp2.0"].hand_off_bytes == 64 * 4  # but only one copy is handed off


def test_readers_wait_for_latency_and_block_where_the_source_is_asynchronous():
    graph = build(snippet(f"{SCORES}      %x = math.exp2 %s : $S\n{STORE_S}")).graph
    assert edge(graph, "descriptor_load.0", "warp_group_dot.0") == Dependence(
        "descriptor_load.0", "warp_group_dot.0", 620, release=1084, blocking=True
    )  # B is read until the product is complete
    assert edge(graph, "warp_group_dot.0", "exp2.0").blocking
    stored = edge(graph, "exp2.0", "descriptor_store.0")
    assert (stored.latency, stored.blocking) == (514, False)
    assert stored.release == 70  # asynchronous, but it takes its registers along


def test_a_product_on_a_product_waits_for_the_unit_only():
    graph = build(
        snippet(
            f"""{LOAD_K}
      %s = ttng.warp_group_dot %q, %ks, %a : $Q * $M -> $S
      %t = ttng.warp_group_dot %q, %ks, %s : $Q * $M -> $S
""",
            carried={"%a": ("%zero", "%t", "$S")},
        )
    ).graph
    for source, target, distance in (
        ("warp_group_dot.1", "warp_group_dot.0", 1),
        ("warp_group_dot.0", "warp_group_dot.1", 0),
    ):
        assert edge(graph, source, target, distance) == Dependence(source, target, 1024, distance)


def test_an_elementwise_op_takes_the_registers_of_its_largest_then_first_operand():
    body = f"""{SCORES}
      %v = tt.expand_dims %rows {{axis = 1 : i32}} : $R -> $C
      %e = math.exp2 %s : $S
      %f = arith.negf %s : $S
      %x = arith.mulf %f, %e : $S
"""
    graph = build(snippet(body + STORE_S)).graph
    # Both operands are alike: the first one of the text, %f, gives its registers (64 cycles is the op's issue time).
    assert edge(graph, "negf.0", "mulf.0").release == 0
    assert edge(graph, "exp2.0", "mulf.0").release == 64
    # Each of the two readers of %s works in place, as far as it is concerned.
    assert edge(graph, "warp_group_dot.0", "exp2.0").release == 0
    assert edge(graph, "warp_group_dot.0", "negf.0").release == 0


def test_casts_work_in_place_and_the_operand_in_registers_is_held_until_the_product_is_complete():
    body = f"""{SCORES}
      %h = arith.truncf %s : $S to $H
      %p = ttg.convert_layout %h : $H -> $P
      %x = ttng.warp_group_dot %p, %ks, %s : $P * $M -> $S
"""
    graph = build(snippet(body)).graph
    assert graph.ops["truncf.0"].result.amount == 32
    assert edge(graph, "warp_group_dot.0", "truncf.0").release == 0
    assert edge(graph, "truncf.0", "warp_group_dot.1").release == 1084


def test_a_conversion_through_shared_memory_takes_the_registers_of_its_operand_and_a_reduction_does_not():
    convert = "      %x = ttg.convert_layout %s : $S -> tensor<64x128xf32, #blocked>\n"
    graph = build(snippet(SCORES + convert + STORE_S)).graph
    assert edge(graph, "warp_group_dot.0", "convert_layout.0").release == 0
    body = f"""{SCORES}
      %m = "tt.reduce"(%s) <{{axis = 1 : i32}}> ({{
      ^bb0(%y: f32, %z: f32):
        %w = arith.maxnumf %y, %z : f32
        tt.reduce.return %w : f32
      }}) : ($S) -> $R
      %x = math.exp2 %m : $R
"""
    graph = build(snippet(body + STORE_S.replace("$S", "$R"))).graph
    assert edge(graph, "warp_group_dot.0", "reduce.0").release == 128


TMEM = "    %d, %t0 = ttng.tmem_alloc : () -> ($T, $W)\n    %factor = tt.splat %scale : f32 -> $L\n"
RESCALE = f"""{LOAD_K}
      %x, %t1 = ttng.tmem_load %d[%t] : $T -> $L
      %y = arith.mulf %x, %factor : $L
      %t2 = ttng.tmem_store %y, %d[%t1], %true : $L -> $T
      %t3 = ttng.tc_gen5_mma %q, %ks, %d[%t2], %true, %true : $Q, $M, $T
"""


def test_a_rescale_counts_32_registers_and_its_buffer_is_one_copy():
    tiles = snippet(RESCALE, before=TMEM, carried={"%t": ("%t0", "%t3", "$W")})
    graph = build(tiles, LOAD, GroupKind("matrix", 1, 1), COMPUTE).graph
    assert [graph.ops[op].result for op in ("tmem_load.0", "mulf.0")] == [Result(Space.REGISTERS, 32)] * 2
    assert graph.ops["tmem_store.0"].result == Result(Space.TENSOR, 128)
    assert graph.ops["tc_gen5_mma.0"].needs_warps == 1
    # In place all around: the product's value until the store begins, the store's until the product begins.
    assert edge(graph, "tc_gen5_mma.0", "tmem_store.0", 1).release == 0
    assert edge(graph, "tmem_store.0", "tc_gen5_mma.0").release == 0
    assert edge(graph, "tc_gen5_mma.0", "tmem_load.0", 1).blocking


def test_a_tile_of_64_rows_takes_half_of_its_columns():
    tiles = snippet(
        "      %x = ttng.tmem_load %d : !ttg.memdesc<64x128xf32, #tmem, #ttng.tensor_memory, mutable> -> "
        f"tensor<64x128xf32, #linear>\n{STORE_S.replace('$S', 'tensor<64x128xf32, #linear>')}",
        before="    %d = ttng.tmem_alloc : () -> !ttg.memdesc<64x128xf32, #tmem, #ttng.tensor_memory, mutable>\n",
    )
    assert build(tiles).graph.ops["before.0"].result == Result(Space.TENSOR, 64)


def test_a_tile_from_before_the_loop_is_one_copy_on_its_readers_group():
    graph = build(snippet(f"{SCORES}      %x = arith.maxnumf %s, %bias : $S\n{STORE_S}")).graph
    kept = graph.ops["before.0"]
    assert (kept.blocks, kept.issue_cycles, kept.latency, kept.result) == ((), 0, 0, Result(Space.REGISTERS, 64))
    assert edge(graph, "before.0", "before.0", 1) == Dependence("before.0", "before.0", 0, 1)
    # The reader comes after it and has read it (64 cycles) before its next start.
    assert edge(graph, "before.0", "maxnumf.0") == Dependence("before.0", "maxnumf.0", 0, release=64)
    assert edge(graph, "maxnumf.0", "before.0", 1) == Dependence("maxnumf.0", "before.0", 64, 1, DependenceKind.ORDER)
    # It is nobody's register to take.
    assert edge(graph, "warp_group_dot.0", "maxnumf.0").release == 0


def test_the_judge_counts_a_tile_from_before_the_loop_once_wherever_it_starts():
    graph = build(snippet(f"{SCORES}      %x = arith.maxnumf %s, %bias : $S\n{STORE_S}")).graph
    starts = {"descriptor_load.0": 0, "warp_group_dot.0": 700, "maxnumf.0": 1800, "descriptor_store.0": 1900}
    groups = {"load": ScheduledGroup("load", 24), "compute": ScheduledGroup("compute", 168)}
    ii = 2000
    # The reader starts at 1800 and is done at 1864, so the tile may start from 1864 - 2000 on; 0 is the earliest here.
    for start in (0, 900, 1800):
        places = {op: Placement(at, "load" if "load" in op else "compute") for op, at in starts.items()}
        places["before.0"] = Placement(start, "compute")
        report = check(graph, Schedule(ii, groups, places))
        assert not report.violations
        # Overhead, the scores (in place: never both they and the maximum), and the tile.
        assert report.peaks.registers["compute"] == 20 + 64 + 64


def test_using_a_buffer_again_waits_until_an_asynchronous_reader_is_done():
    graph = build(
        snippet(
            f"""{SCORES}
      ttg.local_store %s, %stage : $S -> !ttg.memdesc<64x128xf32, #shared, #smem, mutable>
      ttng.async_tma_copy_local_to_global %desc[%i, %c0] %stage : $D, !ttg.memdesc<64x128xf32, #shared, #smem, mutable>
""",
            before="    %stage = ttg.local_alloc : () -> !ttg.memdesc<64x128xf32, #shared, #smem, mutable>\n",
        )
    ).graph
    # 32 KB at 32 a cycle, and 50.
    assert edge(graph, "async_tma_copy_local_to_global.0", "local_store.0", 1) == Dependence(
        "async_tma_copy_local_to_global.0", "local_store.0", 1074, 1, DependenceKind.ANTI
    )
    assert edge(graph, "local_store.0", "async_tma_copy_local_to_global.0").release == 1074


POINTER_LOADS = f"""
      %a = tt.load %ptrs : {POINTERS}
      %as = ttg.local_alloc %a : (tensor<64x128xf16, #blocked>) -> $Q
      %b = tt.load %ptrs : {POINTERS}
      %c = arith.negf %b : tensor<64x128xf16, #blocked>
      tt.store %ptrs, %c : {POINTERS}
"""
PRODUCT = "      %s = ttng.warp_group_dot %q, %as, %zero : $Q * $Q -> $S\n"


def test_pointer_loads_into_registers_are_for_a_load_group_of_four_warps():
    graph = build(snippet(POINTER_LOADS + PRODUCT), WIDE_LOAD, COMPUTE).graph
    ring, registers = graph.ops["load.0"], graph.ops["load.1"]
    assert (ring.result.space, ring.variable_latency, ring.asynchronous, ring.needs_warps) == (
        Space.SHARED,
        False,
        True,
        4,
    )
    assert (ring.issue_cycles, ring.latency) == (50, 400)
    assert (registers.result.space, registers.variable_latency, registers.needs_warps) == (Space.REGISTERS, True, 4)


@pytest.mark.parametrize(
    ("body", "option", "stay"),
    [
        (POINTER_LOADS, None, True),  # no matrix op
        (POINTER_LOADS + PRODUCT, None, False),
        (POINTER_LOADS, False, False),
        (POINTER_LOADS + PRODUCT, True, True),
    ],
)
def test_loads_into_registers_stay_on_the_compute_group_in_loops_without_matrix_ops(
    body: str, option: bool | None, stay: bool
):
    graph = build(snippet(body), WIDE_LOAD, COMPUTE, loads_on_compute=option).graph
    load = graph.ops["load.1"]
    assert load.variable_latency is not stay
    assert load.asynchronous
    assert edge(graph, "load.1", "negf.0").blocking


def test_what_the_project_overrides_replaces_the_machine_and_is_named():
    tiles = snippet(f"{SCORES}      %x = math.exp2 %s : $S\n{STORE_S}")
    built = build(tiles, overrides={"exp2.0": Override(latency=540, note="measured"), "gone.0": Override(latency=1)})
    exp = built.graph.ops["exp2.0"]
    assert (exp.issue_cycles, exp.latency) == (512, 540)
    assert edge(built.graph, "exp2.0", "descriptor_store.0").latency == 540
    assert built.sources["exp2.0"].overridden == ("latency",)
    rule = built.sources["exp2.0"].rule
    assert rule is not None and rule.ops == ("math.exp2",)


def test_pins_are_kept_for_ops_that_are_there():
    tiles = snippet(SCORES)
    graph = build(tiles, pins={"warp_group_dot.0": Pin(start=7), "gone.0": Pin(start=1)}).graph
    assert graph.pins == {"warp_group_dot.0": Pin(start=7)}


@pytest.mark.parametrize(
    ("op", "word"),
    [
        ("%x = acme.fancy %s : $S -> $S", "acme.fancy"),
        ("%x = ttg.convert_layout %s : $S -> tensor<64x128xf32, #blocked>", "convert_layout"),
    ],
)
def test_an_op_without_a_rule_costs_nothing_and_is_named(op: str, word: str):
    built = build(snippet(f"{SCORES}      {op}\n{STORE_S}"))
    (warning,) = built.diagnostics
    assert word in warning.message
    assert warning.line is not None
    odd = next(op for op in built.graph.ops.values() if word in op.kind)
    assert (odd.issue_cycles, odd.latency, odd.result.amount) == (0, 0, 64)


def test_an_element_type_without_a_rate_is_named():
    machine = parse_machine(MACHINE_TEXT.replace("rate: 1024,", "rate: {bf16: 1024},"), "round.yaml")
    (warning,) = build_graph(snippet(SCORES), machine, (LOAD, COMPUTE)).diagnostics
    assert "f16" in warning.message


SAMPLES = Path(__file__).parents[2] / "data" / "ttgir"


def sample(name: str) -> TileLoop:
    module = parse_module((SAMPLES / f"{name}.ttgir").read_text(), name)
    return tile_loop(module, module.loops[0])


def busy(graph: Graph, unit: str) -> int:
    return sum(block.duration for op in graph.ops.values() for block in op.blocks if block.unit == unit)


def test_attention_forward_on_hopper_as_worked_out_by_hand():
    tiles = sample("fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre")
    built = build_graph(tiles, find_machine("h100", Path()), (LOAD, COMPUTE))
    graph = built.graph
    assert not built.diagnostics
    # Two loads; for each of two tiles: two products, row maximum, scale and running maximum, scaled difference (a
    # multiply-add), exponential, row sum, running sum (a multiply-add), correction factor (difference, exponential),
    # rescale, cast.
    assert len(graph.ops) == 2 + 2 * 13
    assert busy(graph, "tensor_core") == 4 * 512  # 64·128·128 multiply-adds at 2048 a cycle
    assert busy(graph, "tma") == 2 * 512  # 32 KB at 64 a cycle
    assert busy(graph, "sfu") == 2 * (512 + 16)  # 64x128 and 64 rows of four lanes, 16 a cycle
    assert graph.machine.fixed_shared_bytes == 1024 + 2 * 64 * 128 * 2  # both tiles of Q
    amounts = {op.id: op.result.amount for op in graph.ops.values()}
    assert amounts["warp_group_dot.0"] == amounts["exp2.0"] == amounts["mulf.6"] == 64
    assert amounts["truncf.0"] == 32
    assert amounts["maxnumf.0"] == amounts["addf.0"] == 2
    # The scaled difference works in place on the scores, the exponential on that, the cast on the exponential.
    for source, target in (("warp_group_dot.0", "subf.0"), ("subf.0", "exp2.0"), ("exp2.0", "truncf.0")):
        assert edge(graph, source, target).release == 0
    # The accumulator goes around in one copy: product, rescale of the next iteration, product.
    assert edge(graph, "warp_group_dot.2", "mulf.6", 1).release == 0
    assert edge(graph, "mulf.6", "warp_group_dot.2").release == 0


def test_attention_forward_on_blackwell_as_worked_out_by_hand():
    tiles = sample("fa_fwd_2q_sm100_d128m2x128n128-f16_v39_pre")
    graph = build_graph(tiles, find_machine("b200", Path()), (LOAD, GroupKind("matrix", 1, 1), COMPUTE)).graph
    assert busy(graph, "tensor_core") == 4 * 512  # 128·128·128 at 4096 a cycle
    assert busy(graph, "sfu") == 2 * (1024 + 8)  # 128x128 and 128 rows, 16 a cycle: the bound of 2064
    tensor = {op.id: op.result.amount for op in graph.ops.values() if op.result.space is Space.TENSOR}
    assert tensor == {
        **{f"tc_gen5_mma.{index}": 128 for index in range(4)},
        **{f"tmem_alloc.{index}": 64 for index in range(2)},
        **{f"tmem_store.{index}": 128 for index in range(2)},
    }
    assert {op.needs_warps for op in graph.ops.values() if op.matrix} == {1}


@pytest.mark.parametrize(
    ("name", "machine", "duration", "self_latency"),
    [
        ("gemm_tma_sm90_m128n128k64-f16_v39_pre", "h100", 512, 512),  # 128·128·64 at 2048
        ("gemm_tma_sm100_m128n128k64-f16-num_v39_pre", "b200", 256, 256),  # at 4096
    ],
)
def test_a_matrix_product_is_bound_by_its_unit_not_by_its_recurrence(
    name: str, machine: str, duration: int, self_latency: int
):
    graph = build_graph(sample(name), find_machine(machine, Path()), (LOAD, GroupKind("m", 1, 1), COMPUTE)).graph
    (product,) = (op for op in graph.ops.values() if op.matrix)
    assert product.blocks == (Block("tensor_core", 0, duration),)
    carried = edge(graph, product.id, product.id, 1)
    assert (carried.latency, carried.release, carried.blocking) == (self_latency, 0, False)


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.ttgir")), ids=lambda path: path.stem)
def test_built_graphs_are_graph_files(path: Path):
    module = parse_module(path.read_text(), path.name)
    machine = find_machine("b200" if module.target == "cuda:100" else "h100", Path())
    for loop in module.loops:
        try:
            tiles = tile_loop(module, loop)
        except InputError:
            continue
        graph = build_graph(tiles, machine, (WIDE_LOAD, COMPUTE), name=path.stem).graph
        assert parse_graph(dump_graph(graph), "graph.yaml") == graph
