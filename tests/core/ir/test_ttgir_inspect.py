"""The fields of `twill inspect`."""

from __future__ import annotations

import json

from ttgir_corpus import SAMPLES

from core.ir.inspect import inspect_module
from core.ir.source import load_module


def test_fields_and_reasons() -> None:
    report = inspect_module(load_module(SAMPLES / "gemm_call_sm90_m64n64k32-f16_v39_pre.ttgir")).as_json()
    assert list(report) == ["functions", "target", "ops_total", "loops", "main_loop", "diagnostics"]
    assert list(report["loops"][0]) == [
        *("index", "line", "kind", "depth", "ops", "uses", "internal", "carried", "schedulable", "why_not"),
    ]
    assert len(report["functions"]) == report["ops_total"]["tt.func"] == 2
    assert report == json.loads(json.dumps(report))


def test_each_obstacle_is_named_with_its_line() -> None:
    for file, word in (
        ("gemm_call_sm90_m64n64k32-f16_v39_pre.ttgir", "tt.call"),
        ("gemm_skip_sm90_m64n64k32-f16_v39_pre.ttgir", "scf.if"),
        ("chain_while_sm90_n128-f32_v39_pre.ttgir", "scf.while"),
    ):
        module = load_module(SAMPLES / file)
        report = inspect_module(module)
        assert report.main_loop is not None
        loop = report.loops[report.main_loop]
        assert not loop.schedulable
        assert loop.why_not is not None and word in loop.why_not
        (warning,) = [entry for entry in report.diagnostics if entry.code == "not-schedulable"]
        assert warning.line is not None
        assert word in module.text.splitlines()[warning.line - 1]
        assert loop.why_not.startswith(f"line {warning.line}:")


def test_an_outer_loop_waits_for_its_inner_one() -> None:
    report = inspect_module(load_module(SAMPLES / "fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre.ttgir"))
    assert [loop.schedulable for loop in report.loops] == [True, True]
    assert [entry.code for entry in report.diagnostics] == ["several-loops"]
