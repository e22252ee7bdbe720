"""Functions whose tile ops are in parts compute what the whole does, by the interpreter, and run as scheduled."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from core.diagnostics import InputError
from core.export.roles.build import function_of
from core.export.roles.places import ScheduledLoop
from core.export.roles.simulate import simulate
from core.export.roles.split import SplitFunction, split_function
from core.export.roles.split_places import SplitPlaces
from core.graph.model import Graph, Limits, RegisterFile
from core.ir.interpret import parameters, run
from core.ir.source import load_module
from core.ir.subtile import subtile
from core.ir.tile_loop import tile_loop
from core.schedule.model import Schedule
from tests.core.export.roles.programs import CORPUS, sample

sys.path.insert(0, str(Path(__file__).parents[2] / "ir" / "interpret"))
from kernel_cases import case_for

NO_GRAPH = Graph("", Limits({}, RegisterFile(0, 0)), (), {})
NO_SCHEDULE = Schedule(1, {}, {})


def split(stem: str, axis: str = "m", parts: int = 2) -> SplitFunction:
    """The function of a kernel with all tile ops of its loops in parts."""
    module = load_module(CORPUS / f"{stem}.ttgir")
    loops = [
        ScheduledLoop(subtile(tile_loop(module, loop), axis, parts), NO_GRAPH, NO_SCHEDULE)  # type: ignore[arg-type]
        for loop in module.loops
    ]
    function = function_of(module, loops)
    assert function is not None
    here = [(one, {op: op for op in one.tiles.loop.operation.walk()}) for one in loops]
    return split_function(module, function, SplitPlaces(module, function, here))


@pytest.mark.parametrize(
    ("stem", "kernel", "axis"),
    [
        ("fa_fwd_sm90_d128m128n128-f16-full_v39_pre", "fa_fwd", "m"),
        ("fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre", "fa_fwd", "m"),
        ("gemm_swiglu_sm90_m128n128k64-bf16_v39_pre", "gemm_swiglu", "m"),
        ("gemm_tma_nt_sm90_m128n128k64-f16_v39_pre", "gemm_tma_nt", "m"),
        ("gemm_tma_nt_sm90_m128n128k64-f16_v39_pre", "gemm_tma_nt", "n"),
        ("gemm_bias_gelu_sm90_m128n128k64-f16-erf_v39_pre", "gemm_bias_gelu", "m"),
    ],
)
def test_parts_compute_what_the_whole_does(stem: str, kernel: str, axis: str) -> None:
    """Bit for bit: no sum runs along the axis of the split."""
    whole = load_module(CORPUS / f"{stem}.ttgir")
    case = case_for(f"{stem}.ttgir")
    arguments = {p.name: value for p, value in zip(parameters(whole, kernel), case.arguments, strict=True)}
    expected = run(whole, kernel, arguments, case.grid)
    found = split(stem, axis)
    assert len(list(found.function.walk())) > len(list(function_of(whole).walk()))  # type: ignore[union-attr]
    result = run(found.module, kernel, arguments, case.grid)
    assert result.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(result[name], array)


def test_operations_know_their_places_in_the_new_function() -> None:
    found = split("fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre")
    for op in found.function.walk():
        if op is not found.function and op.block is not None:
            assert any(other is op for other in op.block.operations)
        for index, result in enumerate(op.results):
            assert result.producer is op and result.index == index
    assert {loop.operation for loop in found.module.loops} <= set(found.function.walk())


def test_what_no_role_program_covers_is_refused_with_its_line() -> None:
    with pytest.raises(InputError) as refused:
        sample("attention_forward_blackwell")
    assert "values in tensor memory" in str(refused.value)
    assert refused.value.diagnostics[0].line is not None


@pytest.mark.parametrize(
    ("folder", "name"), [("swiglu_hopper", "two_row_tiles"), ("attention_backward_hopper", "two_key_tiles")]
)
def test_a_kernel_in_two_parts_runs_without_fault(folder: str, name: str) -> None:
    """Also where a matrix op sums over both parts, which come from two groups."""
    program = sample(folder, name)
    assert {role.name for role in program.roles} == {"load.0", "compute.0", "compute.1"}
    for trips in range(6):
        for seed in range(4):
            assert simulate(program, trips, seed).faults == ()
