"""Exported kernels run on the CPU: the host compiler, a thread for each role, barriers with their real phases, late
copies and matrix operations; their outputs against the interpreter's."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mock_runs import SAMPLES, build, kernel_of, needs_compiler, run_mock, scheduled, write_case
from readback import kernel

from core.export.cuda.batch import Case, checked_batch
from core.export.cuda.folder import export_program, export_schedules, export_straight
from core.export.cuda.options import Options, Order
from core.ir.source import load_module

pytestmark = needs_compiler

IN_ORDER = [
    "chain_while_sm90_n128-f32_v39_pre",
    "solve_while_sm90_n256-f32_v39_pre",
    "layer_norm_sm90_n1024-bf16_v36_pre",
    "gemm_devdesc_sm90_m128n128k64-f16_v39_pre",
    "gemm_ptr_masked_sm90_m128n64k64-bf16_v39_pre",
    "gemm_splitk_sm90_m64n128k64-f16_v39_pre",
    "gemm_skip_sm90_m64n64k32-f16_v39_pre",
    "gemm_fp8_blockscale_sm90_m128n128k128-f8_v39_pre",
    "fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre",
    "fa_bwd_fused_ptr_sm90_d64m64n128-f16_v39_pre",
    "axpby_sm90_n1024-f32_v39_pre",
    "softmax_rows_sm90_m4n512-f16_v39_pre",
    "matvec_sm90_m16n256-f16_v39_pre",
    "gemm_tma_nt_sm90_m128n128k64-f16_v39_pre",
    "gemm_ptr_sm90_m64n64k32-f32_v39_pre",
    "gemm_bias_gelu_sm90_m128n128k64-f16-erf_v39_pre",
    "gemm_w8_sm90_m64n128k64-bf16_v39_pre",
    "fa_bwd_dq_sm90_d64m128n128-bf16-causal_v39_pre",
    "two_gemms_sm90_m64k64-f16_v39_pre",
    "fa_bwd_dkdv_sm90_d64m128n128-bf16-causal_v39_pre",
    "fa_fwd_sm90_d128m128n128-f16-full_v39_pre",
    "gemm_persistent_sm90_m128n128k64-f16_v39_pre",
]
SCHEDULED = {
    "attention_forward_hopper": "fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre",
    "attention_backward_hopper": "fa_bwd_fused_sm90_d128m64n128-f16_v39_pre",
    "gemm_hopper": "gemm_tma_sm90_m128n128k64-f16_v39_pre",
    "linear_attention_hopper": "linear_attn_sm90_c64k64v64-bf16_v39_pre",
    "swiglu_hopper": "gemm_swiglu_sm90_m128n128k64-bf16_v39_pre",
}
MORE_SCHEDULES = {
    "attention_backward_hopper two_key_tiles": "fa_bwd_fused_sm90_d128m64n128-f16_v39_pre",
    "attention_causal_hopper": "fa_fwd_sm90_d128m128n128-f16-causal_v39_pre",
    "attention_forward_hopper_overlapped": "fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre",
    "gemm_hopper_8_warps": "gemm_tma_sm90_m128n128k64-f16_v39_pre",
    "layer_norm_hopper": "layer_norm_sm90_n1024-bf16_v36_pre",
    "swiglu_hopper two_row_tiles": "gemm_swiglu_sm90_m128n128k64-bf16_v39_pre",
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_program_order(name: str, tmp_path: Path) -> None:
    module = load_module(SAMPLES / f"{name}.ttgir")
    exported = export_straight(module, kernel_of(name), tmp_path)
    assert not exported.file.holes
    write_case(module, name, tmp_path)
    build(tmp_path)
    assert run_mock(tmp_path, 1)["ok"]


@pytest.mark.parametrize("project", SCHEDULED)
def test_role_programs(project: str, tmp_path: Path) -> None:
    module, loop = scheduled(project)
    assert not export_schedules(module, [loop], tmp_path).file.holes
    write_case(module, SCHEDULED[project], tmp_path)
    build(tmp_path)
    answer = run_mock(tmp_path)
    assert answer["ok"], answer


@pytest.mark.parametrize("name", MORE_SCHEDULES)
def test_kernels_of_several_loops_and_other_schedules(name: str, tmp_path: Path) -> None:
    program, _ = kernel(name)
    assert not export_program(program, tmp_path).file.holes
    write_case(program.module, MORE_SCHEDULES[name], tmp_path)
    build(tmp_path, ["-O1"])
    answer = run_mock(tmp_path, 2)
    assert answer["ok"], answer


@pytest.mark.parametrize("project", ["attention_forward_hopper", "gemm_hopper"])
def test_persistent_and_in_another_order(project: str, tmp_path: Path) -> None:
    module, loop = scheduled(project)
    export_schedules(module, [loop], tmp_path, Options(persistent=True, order=Order.LONGEST_FIRST))
    write_case(module, SCHEDULED[project], tmp_path)
    build(tmp_path)
    answer = run_mock(tmp_path)
    assert answer["ok"], answer


def without(pattern: str) -> Callable[[str], str]:
    """The text without the lines that match."""

    def change(text: str) -> str:
        changed = re.sub(rf"^ *{pattern}.*\n", "", text, flags=re.MULTILINE)
        assert changed != text, pattern
        return changed

    return change


def replaced(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


FAULTS = [
    without(r"tw::bar_wait\(s\.a_6_full"),
    without(r"tw::bar_arrive\(g, s\.b_7_free"),
    without(r"tw::mma_wait<0>"),
    without(r"tw::bar_wait\(s\.b_7_free"),
    replaced("tw::mma_wait<1>", "tw::mma_wait<2>"),
    replaced("wait_a_6_free.parity ^ 1", "wait_a_6_free.parity"),
    without(r"tw::async_fence\(\)"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: Callable[[str], str], tmp_path: Path) -> None:
    """With more iterations than slots, so that every wait and release matters."""
    module, loop = scheduled("gemm_hopper")
    export_schedules(module, [loop], tmp_path)
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(fault(kernel.read_text(encoding="utf-8")), encoding="utf-8")
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype(np.float64) for shape in ((128, 448), (448, 128)))
    arguments = {"a_desc": a, "b_desc": b, "c_desc": np.zeros((128, 128)), "M": 128, "N": 128, "K": 448}
    batch = checked_batch(module, "gemm_tma", [Case("long", arguments, (1,))])
    (tmp_path / "cases.bin").write_bytes(batch)
    build(tmp_path)
    assert not run_mock(tmp_path, 30)["ok"]


def test_holes_compile_and_stop_the_run(tmp_path: Path) -> None:
    name = "gemm_call_sm90_m64n64k32-f16_v39_pre"
    module = load_module(SAMPLES / f"{name}.ttgir")
    exported = export_straight(module, kernel_of(name), tmp_path)
    (hole,) = exported.file.holes
    assert hole.op == "tt.call" and "weight_of" in hole.text
    text = (tmp_path / "kernel.cu").read_text(encoding="utf-8")
    assert f"HOLE: line {hole.line} " in text and f"void {hole.function}(float& r0, int32_t x0, float x1)" in text
    write_case(module, name, tmp_path)
    build(tmp_path)
    answer = run_mock(tmp_path, 1)
    assert not answer["ok"] and hole.function in answer["failure"]


def test_wrong_batch_files_are_refused(tmp_path: Path) -> None:
    module = load_module(SAMPLES / "axpby_sm90_n1024-f32_v39_pre.ttgir")
    export_straight(module, "axpby", tmp_path)
    build(tmp_path)
    for text in ("", "twill.batch/1 5\ncase\n", "twill.batch/1 22\narray x f32 4 1 1 1 1\n"):
        (tmp_path / "cases.bin").write_text(text, encoding="utf-8")
        done = subprocess.run(["./mock"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 3 and done.stderr
