"""The numbers of our machine files against measured figures and closed formulas.

Figures: one H200, 2026-11-29, cycles. A rule's cost is worked out here from the definitions of `core.machine.model`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest

from core.graph.model import Space
from core.machine.load import find_machine
from core.machine.model import CostRule, Machine, Work

MACHINES = {name: find_machine(name, Path()) for name in ("h100", "h200", "b200", "toy")}
HOPPER = MACHINES["h200"]
BLACKWELL = MACHINES["b200"]


def rule(
    machine: Machine, op: str, *, combiner: str = "", operand: str = "f32", result: str = "", a: Space | None = None
) -> CostRule:
    for candidate in machine.costs:
        when = candidate.when
        if any(fnmatchcase(op, pattern) for pattern in candidate.ops) and all(
            not allowed or asked in allowed
            for allowed, asked in (
                (when.combiner, combiner),
                (when.operand, operand),
                (when.result, result),
                (when.first_operand_in, a),
                (when.result_in, Space.REGISTERS),
            )
        ):
            return candidate
    raise LookupError(op)


def busy(cost: CostRule, element: str, **work: int) -> int:
    """End of the last block."""
    ends = [0]
    for block in cost.blocks:
        amount = work.get(block.work.value, 0)
        rate = block.rate_of(element) if block.rate else None
        duration = block.fixed + (ceil(block.factor * amount / rate) if rate else 0)
        ends.append(duration + (ends[-1] if block.after else 0))
    return max(ends)


def issue(cost: CostRule, *, instructions: int = 1, size: int = 0) -> int:
    assert cost.issue is not None
    kib = Fraction(size, 1024)
    return ceil(cost.issue.base + cost.issue.per_instruction * instructions + cost.issue.per_kilobyte * kib)


def latency(cost: CostRule, element: str, *, instructions: int = 1, **work: int) -> int:
    end = busy(cost, element, **work)
    size = work.get("bytes", 0)
    if cost.latency.base is not None:
        return max(end, ceil(cost.latency.base + cost.latency.per_kilobyte * Fraction(size, 1024)))
    taken = issue(cost, instructions=instructions, size=size) if cost.issue else 0
    return max(end, taken) + cost.latency.add


def pieces(cost: CostRule, m: int, n: int, k_bytes: int) -> int:
    shape = cost.instruction
    assert shape is not None and shape.rows and shape.columns and shape.depth_bytes
    return ceil(m / shape.rows) * ceil(n / shape.columns) * ceil(k_bytes / shape.depth_bytes)


@pytest.mark.parametrize(
    ("n", "k", "a", "measured_latency", "measured_issue"),
    [
        (64, 64, Space.SHARED, 191, 23),
        (64, 128, Space.SHARED, 319, 71),
        (128, 64, Space.SHARED, 319, 47),
        (128, 128, Space.SHARED, 575, 103),
        (256, 64, Space.SHARED, 575, 99),
        (256, 128, Space.SHARED, 1087, 211),
        (64, 64, Space.REGISTERS, 182, 24),
        (64, 128, Space.REGISTERS, 310, 61),
        (128, 64, Space.REGISTERS, 310, 48),
        (128, 128, Space.REGISTERS, 566, 96),
        (256, 64, Space.REGISTERS, 566, 100),
        (256, 128, Space.REGISTERS, 1078, 212),
    ],
)
def test_wgmma(n: int, k: int, a: Space, measured_latency: int, measured_issue: int) -> None:
    cost = rule(HOPPER, "ttng.warp_group_dot", a=a)
    work = 64 * n * k
    assert busy(cost, "f16", fma=work) == k // 16 * n // 2  # measured: N/2 for each m64nNk16
    assert busy(cost, "f8", fma=work) == k // 32 * n // 2
    count = pieces(cost, 64, n, 2 * k)
    assert latency(cost, "f16", instructions=count, fma=work) == measured_latency
    assert abs(issue(cost, instructions=count) - measured_issue) <= 20


@pytest.mark.parametrize(
    ("op", "element", "options", "measured"),
    [
        ("math.exp2", "f32", {}, (512, 514)),
        ("arith.mulf", "f32", {}, (65, 68)),
        ("arith.addf", "f32", {}, (65, 68)),
        ("arith.subf", "f32", {}, (65, 68)),
        ("math.fma", "f32", {}, (65, 67)),
        ("arith.maxnumf", "f32", {}, (129, 131)),
        ("arith.truncf", "f32", {"result": "f16"}, (64, 66)),
        ("math.exp", "f32", {}, (526, 535)),
        ("tt.reduce", "f32", {"combiner": "arith.maxnumf"}, (130, 172)),
        ("tt.reduce", "f32", {"combiner": "arith.addf"}, (66, 141)),
    ],
)
def test_cuda_cores_on_a_64x128_tile(op: str, element: str, options: dict[str, str], measured: tuple[int, int]) -> None:
    """`measured`: a tile with the pipe saturated, and alone."""
    cost = rule(HOPPER, op, **options)
    occupied, alone = measured
    elements = 64 * 128
    assert 0.96 * occupied <= busy(cost, element, elements=elements) <= occupied
    assert abs(latency(cost, element, elements=elements) - alone) <= 2


@pytest.mark.parametrize(
    ("rows", "columns", "measured_latency", "measured_issue"),
    [(64, 64, (394, 397), 61), (64, 128, (467, 470), 100), (128, 64, (467, 472), 61), (128, 128, (616, 622), 100)],
)
def test_tma_load(rows: int, columns: int, measured_latency: tuple[int, int], measured_issue: int) -> None:
    cost = rule(HOPPER, "tt.descriptor_load")
    shape = cost.instruction
    assert shape is not None and shape.rows and shape.row_bytes
    boxes = ceil(rows / shape.rows) * ceil(2 * columns / shape.row_bytes)
    size = 2 * rows * columns
    low, high = measured_latency
    assert low - 2 <= latency(cost, "f16", instructions=boxes, bytes=size) <= high + 2
    assert issue(cost, instructions=boxes) == measured_issue
    assert busy(cost, "f16", bytes=size) == size / 64  # 64.5 bytes a cycle with two requests in flight


@pytest.mark.parametrize(
    ("rows", "columns", "measured", "issued"), [(64, 64, 307, 30), (64, 128, 563, 40), (128, 128, 1075, 40)]
)
def test_tma_store(rows: int, columns: int, measured: int, issued: int) -> None:
    cost = rule(HOPPER, "ttng.async_tma_copy_local_to_global")
    boxes = columns // 64
    assert abs(latency(cost, "f16", instructions=boxes, bytes=2 * rows * columns) - measured) <= 2
    assert issue(cost, instructions=boxes) == issued


@pytest.mark.parametrize(
    ("op", "size", "measured"),
    [
        ("ttg.local_load", 16 << 10, 140),
        ("ttg.local_store", 16 << 10, 131 + 13 + 23),
        ("ttg.convert_layout", 16 << 10, 299),
        ("ttg.async_copy_global_to_local", 16 << 10, 463),
    ],
)
def test_shared_memory(op: str, size: int, measured: int) -> None:
    candidates = [c for c in HOPPER.costs if any(fnmatchcase(op, pattern) for pattern in c.ops)]
    assert abs(latency(candidates[0], "f16", bytes=size) - measured) <= 2


@pytest.mark.parametrize("name", ["h100", "h200", "b200"])
def test_hand_off_of_a_16_kb_tile(name: str) -> None:
    hand_off = MACHINES[name].hand_off
    assert 324 <= hand_off.base + 16 * hand_off.per_kilobyte <= 392


def test_resource_bounds_of_attention_forward_on_hopper() -> None:
    """Two tiles of 64 rows, 128 keys, d 128: the tensor core is the bound, at four times 512."""
    dot = rule(HOPPER, "ttng.warp_group_dot", a=Space.SHARED)
    assert 4 * busy(dot, "f16", fma=64 * 128 * 128) == 2048
    tile, rows = 64 * 128, 64 * 4  # a row in wgmma layout is held by four lanes
    exponentials = rule(HOPPER, "math.exp2")
    assert 2 * (busy(exponentials, "f32", elements=tile) + busy(exponentials, "f32", elements=rows)) < 2048
    assert 2 * busy(rule(HOPPER, "tt.descriptor_load"), "f16", bytes=32 << 10) < 2048


def test_resource_bounds_of_attention_forward_on_blackwell() -> None:
    """Two tiles of 128 rows: the exponentials of tiles and of rows are the bound, 2064."""
    assert 4 * busy(rule(BLACKWELL, "ttng.tc_gen5_mma"), "f16", fma=128**3) == 2048
    exponentials = rule(BLACKWELL, "math.exp2")
    assert 2 * (busy(exponentials, "f32", elements=128**2) + busy(exponentials, "f32", elements=128)) == 2064


def test_published_figures_of_blackwell() -> None:
    dot = rule(BLACKWELL, "ttng.tc_gen5_mma")
    assert latency(dot, "f16", fma=128**3) == 900
    read = rule(BLACKWELL, "ttng.tmem_load")
    assert (busy(read, "f32", bytes=64 << 10), latency(read, "f32", bytes=64 << 10)) == (128, 404)
    assert read.issue is None
    assert busy(rule(BLACKWELL, "tt.descriptor_load"), "f16", bytes=32 << 10) == 6 * 32
    for element in ("f16", "f8", "f32"):
        hopper, blackwell = HOPPER.units["tensor_core"].peak, BLACKWELL.units["tensor_core"].peak
        assert hopper and blackwell
        assert blackwell[element] == 2 * hopper[element]
    assert BLACKWELL.limits().tensor_memory_columns == 512


def test_the_paper_machine_costs_one_cycle() -> None:
    toy = MACHINES["toy"]
    for op in ("ttng.warp_group_dot", "ttng.tc_gen5_mma", "math.exp2", "tt.descriptor_load", "arith.addf", "tt.reduce"):
        cost = rule(toy, op)
        assert (busy(cost, "f32", elements=99, bytes=99, fma=99), latency(cost, "f32"), cost.needs_warps) == (1, 1, 1)
    assert rule(toy, "ttng.tc_gen5_mma").blocks[0].unit == "tensor_core"
    assert rule(toy, "math.exp2").blocks[0].unit == "sfu"


@pytest.mark.parametrize("name", ["h100", "h200", "b200"])
def test_asynchronous_ops_leave_their_group_before_they_are_done(name: str) -> None:
    for cost in MACHINES[name].costs:
        if cost.asynchronous and any(block.work is Work.FMA for block in cost.blocks):
            count = pieces(cost, 64, 128, 256) if cost.instruction else 1
            assert issue(cost, instructions=count) < busy(cost, "f16", fma=64 * 128 * 128)


# What Triton 3.3 to 3.9 puts into loops, besides views, constants and addresses.
COMMON = """
arith.addf arith.addi arith.andi arith.ceildivsi arith.cmpf arith.cmpi arith.divf arith.divsi arith.divui arith.extf
arith.extsi arith.extui arith.maxnumf arith.maxsi arith.minnumf arith.mulf arith.muli arith.negf arith.remsi
arith.select arith.sitofp arith.subf arith.subi arith.truncf arith.trunci arith.xori gpu.barrier math.absf math.cos
math.erf math.exp math.exp2 math.fma math.log2 math.rsqrt math.sin math.sqrt math.tanh tt.assert tt.atomic_cas
tt.atomic_rmw tt.descriptor_gather tt.descriptor_load tt.descriptor_reduce tt.descriptor_store tt.dot
tt.elementwise_inline_asm tt.experimental_descriptor_load tt.experimental_descriptor_store
tt.experimental_tensormap_create tt.experimental_tensormap_fenceproxy_acquire tt.extern_elementwise tt.fp_to_fp
tt.gather tt.load tt.make_tensor_descriptor tt.print tt.reduce tt.scan tt.store tt.trans ttg.async_commit_group
ttg.async_copy_global_to_local ttg.async_wait ttg.barrier ttg.convert_layout ttg.local_alloc ttg.local_load
ttg.local_store ttng.arrive_barrier ttng.async_tma_copy_global_to_local ttng.async_tma_copy_local_to_global
ttng.async_tma_reduce ttng.async_tma_store_wait ttng.barrier_expect ttng.fence_async_shared ttng.init_barrier
ttng.inval_barrier ttng.tensormap_create ttng.tensormap_fenceproxy_acquire ttng.wait_barrier
"""
HOPPER_ONLY = " ttng.warp_group_dot ttng.warp_group_dot_wait"
BLACKWELL_ONLY = """ ttng.tc_gen5_mma ttng.tc_gen5_mma_scaled ttng.tc_gen5_commit ttng.tmem_load ttng.tmem_store
ttng.tmem_alloc ttng.tmem_copy"""


@pytest.mark.parametrize(
    ("name", "ops", "foreign"),
    [
        ("h100", COMMON + HOPPER_ONLY, BLACKWELL_ONLY),
        ("h200", COMMON + HOPPER_ONLY, BLACKWELL_ONLY),
        ("b200", COMMON + BLACKWELL_ONLY, HOPPER_ONLY),
        ("toy", COMMON + HOPPER_ONLY + BLACKWELL_ONLY, ""),
    ],
)
def test_every_op_of_a_loop_has_a_cost_on_its_machine_and_none_on_another(name: str, ops: str, foreign: str) -> None:
    for op in ops.split():
        assert rule(MACHINES[name], op)
    for op in foreign.split():
        with pytest.raises(LookupError):
            rule(MACHINES[name], op)
