"""Role programs against their schedules: what is issued where and in which order, and what the rings are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from core.export.roles.build import build_roles, function_of, scheduled_program
from core.export.roles.faults import Issued
from core.export.roles.model import (
    For,
    Issue,
    MmaWait,
    Move,
    Pin,
    Pipeline,
    Register,
    RingKind,
    RoleProgram,
    Statement,
    TurnPass,
    TurnWait,
)
from core.export.roles.places import LoopPlan, ScheduledLoop
from core.export.roles.simulate import simulate
from core.export.roles.walk import walk
from core.graph.fuse import fuse
from core.ir.source import load_module
from core.ir.vocabulary import MATRIX_OPS
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.liveness import live_ranges
from core.schedule.model import Placement, Schedule, ScheduledGroup
from tests.core.export.cuda.readback import KERNELS, kernel
from tests.core.export.roles.programs import CORPUS, edited, pipeline, sample, sample_loop, solved, solved_loops

SAMPLES = [("attention_forward_hopper", "main"), ("gemm_hopper", "main"), ("attention_backward_hopper", "main")]
QUICK = [
    "gemm_devdesc_sm90_m128n128k64-f16_v39_pre",
    "gemm_fp8_sm90_m128n128k128-f8_v39_pre",
    "gemm_persistent_sm90_m128n128k64-f16_v39_pre",
    "gemm_ptr_masked_sm90_m128n64k64-bf16_v39_pre",
    "gemm_ptr_sm90_m64n64k32-f32_v39_pre",
    "gemm_splitk_sm90_m64n128k64-f16_v39_pre",
    "gemm_swiglu_sm90_m128n128k64-bf16_v39_pre",
    "gemm_tma_nt_sm90_m128n128k64-f16_v39_pre",
    "gemm_w8_sm90_m64n128k64-bf16_v39_pre",
    "gemm_w8_sm90_m64n128k64-f16-asm_v39_pre",
    "matvec_sm90_m16n256-f16_v39_pre",
    "softmax_rows_sm90_m4n512-f16_v39_pre",
    "two_gemms_sm90_m64k64-f16_v39_pre",
]
SLOW = [
    "fa_bwd_fused_ptr_sm90_d64m64n128-f16_v39_pre",
    "fa_fwd_ptr_sm90_d128m64n64-bf16-causal_v39_pre",
    "fa_fwd_sm90_d128m128n128-f16-full_v39_pre",
    "fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre",
    "gemm_bias_gelu_sm90_m128n128k64-f16-erf_v39_pre",
    "layer_norm_sm90_n1024-bf16_v36_pre",
    "linear_attn_sm90_c64k64v64-bf16_v39_pre",
]
UNSCHEDULED = [
    "axpby_sm90_n1024-f32_v39_pre",
    "fa_bwd_dq_sm90_d64m128n128-bf16-causal_v39_pre",
    "fa_bwd_fused_sm90_d128m64n128-f16_v39_pre",
    "gemm_persistent_sm90_m128n128k64-f16-flat_v39_pre",
    "gemm_skip_sm90_m64n64k32-f16_v39_pre",
]


def assert_faultless(program: RoleProgram) -> None:
    """No fault in several orders of the run, for the least trip counts and those around the least that is pipelined."""
    pipelines = [one for role in program.roles for one in walk(role.statements) if isinstance(one, Pipeline)]
    least = max((one.least for one in pipelines), default=0)
    unroll = max((one.unroll for one in pipelines), default=1)
    for count in {*range(4), *range(max(0, least - 1), least + unroll + 3)}:
        for seed in range(3):
            assert simulate(program, count, seed).faults == ()


def assert_as_scheduled(loop: ScheduledLoop, issued: list[Issued], trips: int) -> None:
    """Each op runs once in every iteration, on the group that the schedule names, and each group in the schedule's
    order of start cycles over all iterations."""
    plan = LoopPlan(loop.tiles.module, loop.tiles.loop, loop)
    places = {place.op: place for place in plan.places.values()}
    times: dict[str, list[int]] = {}
    count: Counter[tuple[str, int]] = Counter()
    seen: set[tuple[object, int]] = set()
    for issue in issued:
        if issue.op is None or issue.operation not in plan.places:
            continue
        assert (issue.operation, issue.iteration) not in seen
        seen.add((issue.operation, issue.iteration))
        place = places[issue.op]
        assert issue.role == place.role
        times.setdefault(issue.role, []).append(place.start + issue.iteration * plan.ii)
        count[issue.op, issue.iteration] += 1
    for starts in times.values():
        assert starts == sorted(starts)
    assert set(count) == {(op, iteration) for op in places for iteration in range(trips)}


@pytest.mark.parametrize(("folder", "name"), SAMPLES)
def test_a_sample_runs_without_fault_and_as_scheduled(folder: str, name: str) -> None:
    program, loop = sample(folder, name), sample_loop(folder, name)
    assert_faultless(program)
    for trips in (1, 2, 5):
        assert_as_scheduled(loop, list(simulate(program, trips, 3).issued), trips)


@pytest.mark.parametrize("name", KERNELS)
def test_all_loops_of_every_sample_run_without_fault(name: str) -> None:
    """Layer norm among them: its mask is data too, computed in the schedule after the load that it masks."""
    assert_faultless(kernel(name)[0])


@pytest.mark.parametrize("stem", QUICK)
def test_a_kernel_of_the_corpus_runs_without_fault_and_as_scheduled(stem: str) -> None:
    loops = solved_loops(stem)
    assert loops
    assert_faultless(solved(stem))
    pipelines = [one for role in solved(stem).roles for one in walk(role.statements) if isinstance(one, Pipeline)]
    trips = max(one.least for one in pipelines) + 3
    issued = simulate(solved(stem), {loop.tiles.loop.index: trips for loop in loops}, 1).issued
    for loop in loops:
        there = solved(stem).module.loops[loop.tiles.loop.index].operation
        back = dict(zip(there.walk(), loop.tiles.loop.operation.walk(), strict=True))
        mine = [replace(one, operation=back[one.operation]) for one in issued if one.operation in back]
        assert_as_scheduled(loop, mine, trips)


@pytest.mark.long
@pytest.mark.parametrize("stem", SLOW)
def test_a_kernel_that_is_solved_slowly_runs_without_fault(stem: str) -> None:
    assert solved_loops(stem)
    assert_faultless(solved(stem))


@pytest.mark.parametrize("stem", UNSCHEDULED)
def test_a_kernel_without_schedules_runs_in_the_order_of_the_text(stem: str) -> None:
    module = load_module(CORPUS / f"{stem}.ttgir")
    function = function_of(module)
    assert function is not None
    program = build_roles(module, function)
    assert len(program.roles) == 1
    assert_faultless(program)


@pytest.mark.parametrize(("folder", "name"), SAMPLES)
def test_rings_have_the_depths_and_bytes_of_the_schedule(folder: str, name: str) -> None:
    program, loop = sample(folder, name), sample_loop(folder, name)
    live = live_ranges(loop.graph, loop.schedule)
    plan = LoopPlan(loop.tiles.module, loop.tiles.loop, loop)
    inside = [ring for ring in program.rings.values() if ring.why.startswith(("the result of", *plan.graph.ops))]
    expected = Counter((ring.depth, ring.amount) for ring in (*live.rings.values(), *live.hand_offs.values()))
    assert Counter((ring.depth, ring.slot_bytes) for ring in inside) == expected
    outside = [ring for ring in program.rings.values() if ring not in inside]
    assert all(ring.depth == 1 for ring in outside)
    assert sum(ring.slot_bytes for ring in outside) == loop.tiles.kept_bytes


def test_the_turns_make_the_windows_of_the_schedule() -> None:
    """Whatever the roles' speeds, matrix ops are issued in the order in which the schedule has them."""
    program, loop = sample("attention_forward_hopper"), sample_loop("attention_forward_hopper")
    ii, places = loop.schedule.ii, loop.schedule.ops
    for trips in (1, 2, 5):
        expected = sorted(
            (places[op].start + i * ii, op, i) for op in places if op.startswith("warp_group_dot") for i in range(trips)
        )
        for seed in range(10):
            issued = simulate(program, trips, seed).issued
            found = [(one.op, one.iteration) for one in issued if one.operation.name in MATRIX_OPS]
            assert found == [(op, i) for _, op, i in expected]


def test_without_turns_the_order_is_a_matter_of_luck() -> None:
    """The test above can fail: without the turns some run has another order."""
    program = sample("attention_forward_hopper")
    for role in ("compute.0", "compute.1"):
        program = edited(program, role, lambda part: [one for one in part if not isinstance(one, TurnPass | TurnWait)])
    roles = tuple(
        replace(role, statements=tuple(one for one in role.statements if not isinstance(one, TurnPass)))
        for role in program.roles
    )
    program = replace(program, roles=roles, turns={})
    orders: set[tuple[tuple[str | None, int], ...]] = set()
    for seed in range(10):
        issued = simulate(program, 3, seed).issued
        orders.add(tuple((one.op, one.iteration) for one in issued if one.operation.name in MATRIX_OPS))
    assert len(orders) > 1


def test_the_steady_state_of_a_matrix_product_keeps_one_group_under_way() -> None:
    """It waits for the one before, not for its own: the tensor core never runs dry."""
    steady = pipeline(sample("gemm_hopper"), "compute.0").steady
    assert [one.pending for one in steady if isinstance(one, MmaWait)] == [1]


def test_the_inner_loop_of_a_persistent_kernel_is_pipelined_on_every_role() -> None:
    program = solved("gemm_persistent_sm90_m128n128k64-f16_v39_pre")
    for role in program.roles:
        outer = [one for one in role.statements if isinstance(one, For)]
        assert len(outer) == 1
        assert sum(isinstance(one, Pipeline) for one in outer[0].body) == 1
    for tiles in range(4):
        for trips in range(4):
            inner = solved_loops("gemm_persistent_sm90_m128n128k64-f16_v39_pre")[0].tiles.loop.index
            counts = {0: tiles, 1: tiles, inner: trips}
            assert simulate(program, counts, 5).faults == ()


@pytest.mark.parametrize("folder", [folder for folder, _ in SAMPLES])
def test_every_name_is_written_once_or_declared(folder: str) -> None:
    """Names that are not storages are local: one definition each."""
    for role in sample(folder).roles:
        declared = {storage.name for storage in role.storages}
        assert len(declared) == len(role.storages)
        local = [
            target.name
            for one in walk(role.statements)
            if isinstance(one, Issue)
            for target in one.writes
            if isinstance(target, Register) and target.name not in declared
        ]
        assert len(local) == len(set(local))


def test_barrier_counts_follow_from_the_roles() -> None:
    program = sample("attention_backward_hopper")
    warps = {role.name: role.warps for role in program.roles}
    for ring in program.rings.values():
        assert ring.free_count == sum(warps[name] for name in ring.consumers)
        assert ring.full_count == (1 if ring.kind is RingKind.TMA else warps[ring.producer])
    threads = sum(128 * -(-role.warps // 4) for role in program.roles)
    assert program.threads == threads


def test_loops_of_one_kernel_share_the_rings_of_equal_tiles() -> None:
    """Two loops that load the same tiles for the same role: one ring for both, at the greater depth."""
    stem = "two_gemms_sm90_m64k64-f16_v39_pre"
    program, loops = solved(stem), solved_loops(stem)
    assert len(loops) == 2
    depths = [sorted(ring.depth for ring in live_ranges(one.graph, one.schedule).rings.values()) for one in loops]
    assert sorted(ring.depth for ring in program.rings.values()) == [max(pair) for pair in zip(*depths, strict=True)]
    assert_faultless(program)


def test_a_whole_warp_group_that_loads_has_its_share_of_what_the_file_has_left() -> None:
    """Loads by pointers hold addresses, which count in no grant."""
    program = sample("linear_attention_hopper")
    role = program.role("load.0")
    assert role.warps == 4 and program.grants[role.first_thread // 128] > role.grant


@pytest.mark.parametrize("folder", [folder for folder, _ in SAMPLES])
def test_registers_of_the_block_are_the_grants_and_what_the_file_has_left(folder: str) -> None:
    program, loop = sample(folder), sample_loop(folder)
    file = loop.graph.machine.registers
    assert 128 * sum(program.grants) <= file.file_words
    for role in program.roles:
        units = program.grants[role.first_thread // 128 : -(-(role.first_thread + 32 * role.warps) // 128)]
        assert all(grant >= role.grant and grant % file.granularity == 0 for grant in units)
        assert all(grant <= file.max_per_thread for grant in units)
    computing = [grant for grant in program.grants if grant > 24]
    left = file.file_words // 128 - sum(program.grants)
    assert left < len(computing) * file.granularity or min(computing) + file.granularity > file.max_per_thread


@pytest.mark.parametrize(("folder", "name"), [*SAMPLES, ("swiglu_hopper", "two_row_tiles")])
def test_accumulators_are_set_before_the_first_matrix_op_is_under_way(folder: str, name: str) -> None:
    """Left alone the compiler sets them later, and the assembler then waits for the matrix op: the registers are pinned
    behind the initial values."""
    for role in sample(folder, name).roles:
        for one in walk(role.statements):
            if not isinstance(one, Pipeline):
                continue
            first = next((at for at, each in enumerate(one.prologue) if _is_matrix(each)), len(one.prologue))
            set_before = {each.target.name for each in one.prologue[:first] if isinstance(each, Move)}
            pinned = {name for each in one.prologue[:first] if isinstance(each, Pin) for name in each.names}
            written = {
                target.name
                for each in walk((one,))
                if isinstance(each, Issue) and _is_matrix(each)
                for target in each.writes
                if isinstance(target, Register)
            }
            assert set_before & written <= pinned


def _is_matrix(statement: Statement) -> bool:
    return isinstance(statement, Issue) and statement.operation.name in MATRIX_OPS


@pytest.mark.parametrize(
    "project,name",
    [("swiglu_hopper", "main"), ("attention_forward_hopper", "main"), ("attention_backward_hopper", "two_key_tiles")],
)
def test_a_sum_that_goes_on_is_not_pinned_under_the_next_matrix_op(project: str, name: str) -> None:
    """Behind a wait only what no open group writes is pinned."""
    seen = 0
    program = sample(project, name)
    for role in (role.name for role in program.roles if role.name.startswith("compute")):
        steady = pipeline(program, role).steady
        for at, (wait, pinned) in enumerate(pairwise(steady)):
            if not isinstance(wait, MmaWait) or not isinstance(pinned, Pin):
                continue
            around = [one for one in (*steady[at:], *steady[:at]) if isinstance(one, Issue) and _is_matrix(one)]
            for still_open in around[len(around) - wait.pending :]:
                assert isinstance(still_open.writes[0], Register)
                assert still_open.writes[0].name not in pinned.names
                seen += 1
    assert seen


def test_a_fused_block_hands_over_the_value_of_its_last_part() -> None:
    """A block is named after its costliest part, but its value is that of the last."""
    opened = open_project(load_project(CORPUS / "layer_norm_sm90_n1024-bf16_v36_pre.ttgir", None, 2))
    assert opened.tiles is not None and opened.fusion is None
    fusion = fuse(opened.graph)
    parts = fusion.blocks["subf.0"]
    assert [part.op.id for part in parts] == ["subf.0", "mulf.0", "addf.0"]
    groups = {name: ScheduledGroup("compute", 128) for name in ("compute.0", "compute.1")}
    places = {
        op: Placement(1000 * number, "compute.1" if op == "subf.0" else "compute.0")
        for number, op in enumerate(fusion.graph.ops)
    }
    apart = ScheduledLoop(opened.tiles, fusion.graph, Schedule(1 << 20, groups, places), fusion)
    plan = LoopPlan(opened.tiles.module, opened.tiles.loop, apart)
    handed = {plan.places[operation].op for operation in plan.hand_offs}
    assert handed & {part.op.id for part in parts} == {"addf.0"}
    assert_faultless(scheduled_program([apart]))
