"""Whole kernels against formulas: every kernel of the corpus, in every precision."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from kernel_cases import Array, case_for

from core.diagnostics import InputError
from core.ir.interpret import Parameter, Precision, parameters, run
from core.ir.source import load_module
from core.ir.types import PointerType, TensorDescType

ROOT = Path(__file__).parents[4]
SAMPLES = ROOT / "tests" / "data" / "ttgir"
CORPUS = ROOT.parent / "shared" / "ttgir"

KERNELS = [
    "axpby_sm90_n1024-f32_v39_pre",
    "chain_while_sm90_n128-f32_v39_pre",
    "solve_while_sm90_n256-f32_v39_pre",
    "layer_norm_sm90_n1024-bf16_v36_pre",
    "softmax_rows_sm90_m4n512-f16_v39_pre",
    "matvec_sm90_m16n256-f16_v39_pre",
    "fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre",
    "fa_fwd_sm90_d128m128n128-f16-full_v39_pre",
    "fa_fwd_2q_sm90_d128m2x64n128-f16_v39_pre",
    "fa_fwd_2q_sm100_d128m2x128n128-f16_v39_pre",
    "fa_fwd_ptr_sm90_d128m64n64-bf16-causal_v39_pre",
    "fa_bwd_dkdv_sm90_d128m64n128-f16-full_v39_sched",
    "fa_bwd_dq_sm90_d64m128n128-bf16-causal_v39_pre",
    "fa_bwd_fused_sm90_d128m64n128-f16_v39_pre",
    "fa_bwd_fused_ptr_sm90_d64m64n128-f16_v39_pre",
    "linear_attn_sm90_c64k64v64-bf16_v39_pre",
    "gemm_tma_sm90_m128n128k64-f16_v39_pre",
    "gemm_tma_sm100_m128n128k64-f16-num_v39_pre",
    "gemm_tma_nt_sm90_m128n128k64-f16_v39_pre",
    "gemm_tma_cta2_sm90_m256n128k64-f16_v39_pre",
    "gemm_persistent_sm90_m128n128k64-f16-flat_v39_pre",
    "gemm_devdesc_sm90_m128n128k64-f16_v39_pre",
    "gemm_ptr_sm90_m128n128k32-f16-loc_v33_pre",
    "gemm_ptr_sm90_m64n64k32-f32_v39_pre",
    "gemm_ptr_sm80_m128n128k32-f16_v39_pre",
    "gemm_ptr_masked_sm90_m128n64k64-bf16_v39_pre",
    "gemm_splitk_sm90_m64n128k64-f16_v39_pre",
    "gemm_bias_gelu_sm90_m128n128k64-f16-erf_v39_pre",
    "gemm_bias_gelu_sm90_m128n128k64-bf16-tanh_v39_pre",
    "gemm_swiglu_sm90_m128n128k64-bf16_v39_pre",
    "gemm_fp8_sm90_m128n128k128-f8_v39_pre",
    "gemm_fp8_blockscale_sm90_m128n128k128-f8_v39_pre",
    "gemm_w8_sm90_m64n128k64-bf16_v39_pre",
    "gemm_call_sm90_m64n64k32-f16_v39_pre",
    "gemm_skip_sm90_m64n64k32-f16_v39_pre",
    "two_gemms_sm90_m64k64-f16_v39_pre",
]

FINAL = [
    "axpby_sm90_n1024-f32-debug_v39_ns3",
    "gemm_devdesc_old_sm100_m128n128k64-f16_v33_ns3",
    "fa_fwd_sm90_d64m64n64-f16-full_v36_ws3",
    "fa_fwd_sm100_d64m128n128-f16-full_v34_ws3",
]
"""Texts behind Triton's pipeliner: rings, mbarriers, asynchronous copies, and warp groups."""

ROUNDING = {"f32": 2.0**-20, "f16": 2.5 * 2.0**-11, "bf16": 2.5 * 2.0**-8, "f8": 2.5 * 2.0**-8}
"""Some halves of a unit in the last place, relative (outputs of the fp8 kernels are bf16)."""

TF32 = 1.5 * 2.0**-10
"""Operands of an f32 product lose their last 13 bits."""

REFUSED = {"asm": "tt.elementwise_inline_asm", "cta2": "mbarriers of several CTAs"}


@dataclass(frozen=True)
class Output:
    """What an array holds after a run and by the formula, and its element type."""

    element: str
    found: Array
    wanted: Array

    @property
    def error(self) -> float:
        """Relative to the formula, in the Frobenius norm."""
        return float(np.linalg.norm(self.found - self.wanted) / np.linalg.norm(self.wanted))


def outputs_of(path: Path, precision: Precision) -> list[Output]:
    """The outputs; those that the formula has are those that are written."""
    module, case = load_module(path), case_for(path.name)
    function = path.name.split("_sm")[0].removesuffix("_cta2")
    given = parameters(module, function)
    arguments = {parameter.name: value for parameter, value in zip(given, case.arguments, strict=True)}
    found = run(module, function, arguments, case.grid, precision=precision)
    wanted = {given[index]: array for index, array in case.expected.items()}
    assert found.keys() == {parameter.name for parameter in wanted}
    return [Output(element_of(parameter), found[parameter.name], array) for parameter, array in wanted.items()]


def element_of(parameter: Parameter) -> str:
    match parameter.type:
        case PointerType(pointee=element) | TensorDescType(element=element):
            return element
        case other:
            raise ValueError(other)


def is_representable(values: Array, element: str) -> bool:
    """Whether all values are values of the format."""
    if element == "f16":
        return np.array_equal(values.astype(np.float16).astype(np.float64), values)
    single = values.astype(np.float32)
    fits = element == "f32" or not (single.view(np.uint32) & np.uint32(0xFFFF)).any()
    return fits and np.array_equal(single.astype(np.float64), values)


@pytest.mark.parametrize("name", KERNELS + FINAL)
def test_agrees_with_the_formula(name: str) -> None:
    for output in outputs_of(SAMPLES / f"{name}.ttgir", Precision.EXACT):
        assert output.error < 1e-13


@pytest.mark.parametrize("precision", [Precision.CASTS, Precision.STATED])
@pytest.mark.parametrize("name", KERNELS)
def test_rounds_as_the_types_say(name: str, precision: Precision) -> None:
    """Outputs are values of their types, and off by no more than a few roundings to the kernel's format."""
    dtype = name.split("-")[1].split("_")[0]
    for output in outputs_of(SAMPLES / f"{name}.ttgir", precision):
        assert is_representable(output.found, output.element)
        assert output.error < (TF32 if dtype == "f32" and "gemm" in name else ROUNDING[dtype])


def test_same_input_same_bits() -> None:
    path = SAMPLES / "fa_bwd_fused_ptr_sm90_d64m64n128-f16_v39_pre.ttgir"
    first, second = outputs_of(path, Precision.STATED), outputs_of(path, Precision.STATED)
    assert all(np.array_equal(one.found, other.found) for one, other in zip(first, second, strict=True))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_whole_corpus() -> None:
    """All texts of all versions and stages, final ones with their barriers too."""
    if not CORPUS.is_dir():
        pytest.skip("the whole corpus is not here: it is looked for in a folder shared/ttgir beside the repository")
    wrong, refused, agreed = {}, [], 0
    for path in sorted(CORPUS.glob("*.ttgir")):
        try:
            error = max(output.error for output in outputs_of(path, Precision.EXACT))
        except InputError as caught:
            refused.append(path.name)
            if not any(mark in path.name and reason in str(caught) for mark, reason in REFUSED.items()):
                wrong[path.name] = str(caught)
            continue
        agreed += 1
        if not error < 1e-13:
            wrong[path.name] = str(error)
    assert wrong == {}
    assert (agreed, len(refused)) == (415, 6)
