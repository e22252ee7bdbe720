"""How far off an output may be: what the text rounds decides, not what it reads."""

from __future__ import annotations

import pytest
from mock_runs import SAMPLES, kernel_cases, kernel_of

from core.export.cuda.batch import Case, checked_batch
from core.ir.interpret import parameters
from core.ir.source import load_module

BOUNDS = {
    "fa_fwd_ptr_sm90_d128m64n64-bf16-causal_v39_pre": {"o_ptr": 4e-3},
    "fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre": {"o_desc": 1e-3, "lse_ptr": 1e-3},  # the weights are rounded too
    "gemm_splitk_sm90_m64n128k64-f16_v39_pre": {"c_ptr": 2e-5},  # f16 that is only read, sums in f32
    "gemm_ptr_sm90_m64n64k32-f32_v39_pre": {"c_ptr": 2e-5},  # tf32 products
    "gemm_fp8_blockscale_sm90_m128n128k128-f8_v39_pre": {"c_desc": 4e-3},  # fp8 that is only read, rounded to bf16
    "softmax_rows_sm90_m4n512-f16_v39_pre": {"y_ptr": 1e-3},
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_those_of_the_coarsest_rounding(name: str) -> None:
    module, kernel = load_module(SAMPLES / f"{name}.ttgir"), kernel_of(name)
    case = kernel_cases.case_for(f"{name}.ttgir")
    arguments = {p.name: value for p, value in zip(parameters(module, kernel), case.arguments, strict=True)}
    batch = checked_batch(module, kernel, [Case(name, arguments, case.grid)])
    first, rest = batch.split(b"\n", 1)
    found: dict[str, float] = {}
    array = ""
    for line in rest[: int(first.split()[1])].decode().splitlines():
        kind, *words = line.split()
        if kind == "array":
            array = words[0]
        elif kind == "expect":
            found[array] = float(words[1])
    assert found == BOUNDS[name]
