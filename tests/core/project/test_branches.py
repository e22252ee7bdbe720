"""Loops with branches: refused as a rule, one op a branch on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.diagnostics import InputError
from core.graph.model import Space
from core.project.document import project_document
from core.project.load import load_project
from core.project.model import Branches
from core.project.opened import OpenProject, open_project

TTGIR = Path(__file__).parents[2] / "data" / "ttgir"
SKIP = TTGIR / "gemm_skip_sm90_m64n64k32-f16_v39_pre.ttgir"
FLAT = TTGIR / "gemm_persistent_sm90_m128n128k64-f16-flat_v39_pre.ttgir"


def opened(folder: Path, text: Path, transform: str, loop: int = 0) -> OpenProject:
    file = folder / "project.yaml"
    file.write_text(
        f"schema: twill.project/1\nname: branches\ninput: {{ttgir: {text.as_posix()}, loop: {loop}}}\n"
        f"groups:\n- {{kind: load, warps: 4, count: 1, variable_latency: true}}\n"
        f"- {{kind: compute, warps: 4, count: 2}}\ntransform: {transform}\n"
    )
    return open_project(load_project(file))


def test_refused_with_the_line_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        opened(tmp_path, SKIP, "{}")
    fault = caught.value.diagnostics[0]
    assert (fault.code, fault.line) == ("not-schedulable", 34)
    assert fault.hint is not None and "branches: reduce" in fault.hint


def test_each_branch_is_one_op_that_waits_for_its_condition(tmp_path: Path) -> None:
    project = opened(tmp_path, SKIP, "{branches: reduce}")
    branch = project.graph.ops["if.0"]
    assert list(project.graph.ops) == ["load.0", "if.0.shared", "if.0"]
    # 64 x 64 f32 on 128 threads leaves; two f16 tiles of 64 x 32 stay inside; both sides carry the accumulator.
    assert branch.matrix and branch.result.amount == 64 * 64 // 128
    assert project.graph.ops["if.0.shared"].result.amount == 2 * 64 * 32 * 2
    assert project.graph.ops["if.0.shared"].result.space is Space.SHARED
    assert [(d.source, d.target) for d in project.graph.dependences if d.source == "load.0"] == [("load.0", "if.0")]
    assert ("if.0", "if.0", 1) in [(d.source, d.target, d.distance) for d in project.graph.dependences]
    assert project.fusion is not None
    assert [part.op.id for part in project.fusion.blocks["if.0"]] == [
        *("load.1", "load.2", "warp_group_dot.0", "mulf.0")
    ]
    assert [note.code for note in project.diagnostics] == ["reduced"]
    assert set(project.fusion.original.ops) == {"load.0", "load.1", "load.2", "warp_group_dot.0", "mulf.0"}


def test_a_branch_of_scalars_costs_nothing_and_a_value_may_pass_by(tmp_path: Path) -> None:
    graph = opened(tmp_path, FLAT, "{branches: reduce}", loop=1).graph
    assert "if.0" not in graph.ops and "if.1" in graph.ops
    edges = {(d.source, d.target, d.distance) for d in graph.dependences}
    # The side that stores ends one tile; the other hands the accumulator on.
    assert ("warp_group_dot.0", "if.1", 0) in edges and ("warp_group_dot.0", "warp_group_dot.0", 1) in edges


def test_no_sub_tiles_of_branches(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be split"):
        opened(tmp_path, SKIP, "{branches: reduce, subtile: {axis: m, parts: 2}}")


def test_the_request_is_saved(tmp_path: Path) -> None:
    project = opened(tmp_path, SKIP, "{branches: reduce}").project
    assert project.transform.branches is Branches.REDUCE
    assert project_document(project, tmp_path)["transform"] == {"branches": "reduce"}
