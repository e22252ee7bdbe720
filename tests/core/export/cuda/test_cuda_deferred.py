"""Which row sums stay in parts until a loop is over, and which must not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mock_runs import ROOT, SAMPLES, build, needs_compiler, run_mock, write_case

from core.export.cuda.folder import export_schedules, function_named
from core.export.cuda.kernel import kernel_file
from core.export.cuda.options import Options
from core.export.roles.build import build_roles
from core.export.roles.places import ScheduledLoop
from core.ir.model import Module
from core.ir.parser import parse_module
from core.ir.source import load_module
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.read import load_schedule

WAVES = (ROOT / "tests" / "data" / "cuda" / "waves.ttgir").read_text(encoding="utf-8")
ROWS = "tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>"


def text_of(module: Module, function: str, options: Options | None = None) -> str:
    program = build_roles(module, function_named(module, function))
    return kernel_file(program, options or Options()).source


def count(text: str, call: str) -> int:
    return len(re.findall(rf"tw::{call}<", text))


def test_a_sum_stays_in_parts_and_a_maximum_does_not() -> None:
    text = text_of(parse_module(WAVES, "waves.ttgir"), "waves")
    assert (count(text, "reduce_own"), count(text, "reduce_threads"), count(text, "reduce")) == (1, 1, 1)
    behind = text.index("tw::reduce_threads<")
    assert text.rindex("for (int", 0, behind) < text.rindex("\n  }\n", 0, behind)  # the loop is closed before


def test_not_if_nobody_wants_it() -> None:
    text = text_of(parse_module(WAVES, "waves.ttgir"), "waves", Options(sums_in_parts=False))
    assert (count(text, "reduce_own"), count(text, "reduce_threads"), count(text, "reduce")) == (0, 0, 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # another reader of the carried sum, of the new one, of the reduction's result
        ("%peak1 = arith.maxnumf %peak, %p", "%peak1 = arith.maxnumf %sum, %p"),
        ("%peak1 = arith.maxnumf %peak, %p", "%peak1 = arith.maxnumf %sum1, %p"),
        ("%peak1 = arith.maxnumf %peak, %p", "%peak1 = arith.maxnumf %t, %p"),
        # not from zero; no sum of the carried value; another reduction
        ("%sum = %none", "%sum = %low"),
        ("%sum1 = arith.addf %sum, %t", "%sum1 = arith.subf %sum, %t"),
        ("%a2 = arith.addf %a0, %a1", "%a2 = arith.mulf %a0, %a1"),
    ],
)
def test_not_if_the_parts_would_be_seen(old: str, new: str) -> None:
    assert old in WAVES
    text = text_of(parse_module(WAVES.replace(old, new), "waves.ttgir"), "waves")
    assert (count(text, "reduce_own"), count(text, "reduce")) == (0, 2)


def test_with_a_factor() -> None:
    line = f"      %sum1 = arith.addf %sum, %t : {ROWS}"
    assert line in WAVES
    factor = f"      %fade = tt.splat %decay : f32 -> {ROWS}\n      %less = arith.mulf %sum, %fade : {ROWS}\n"
    text = text_of(
        parse_module(WAVES.replace(line, factor + line.replace("%sum, %t", "%less, %t")), "waves.ttgir"), "waves"
    )
    assert (count(text, "reduce_own"), count(text, "reduce_threads")) == (1, 1)


def test_a_second_loop_goes_on_with_the_parts() -> None:
    """Causal attention: the loop over whole blocks, then the one over masked blocks."""
    module = load_module(SAMPLES / "fa_fwd_sm90_d64m128n64-f16-causal-loc_v39_pre.ttgir")
    text = text_of(module, "fa_fwd")
    assert (count(text, "reduce_own"), count(text, "reduce_threads"), count(text, "reduce")) == (2, 1, 2)


@needs_compiler
def test_parts_are_put_together_once_where_few_iterations_have_a_way_of_their_own(tmp_path: Path) -> None:
    name = "softmax_rows_sm90_m4n512-f16_v39_pre"
    opened = open_project(load_project(SAMPLES / f"{name}.ttgir", machine="h100"))
    assert opened.module is not None and opened.tiles is not None
    schedule = load_schedule(ROOT / "tests" / "data" / "cuda" / "softmax_two_groups.yaml", opened.graph)
    loop = ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)
    exported = export_schedules(opened.module, [loop], tmp_path)
    assert "tw::reduce_own<" in exported.file.source
    write_case(opened.module, name, tmp_path)
    build(tmp_path)
    assert run_mock(tmp_path, 1)["ok"]
