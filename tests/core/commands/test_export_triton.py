"""`twill export --format triton`: Triton's own final text where Triton 3.9 is installed, and what is said where it is
not, refuses the text, or falls over."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
import yaml
from triton_oracle import parse_with_triton

from core.cli import main
from core.diagnostics import InputError
from core.export.triton_roles import asking_for_roles, made_roles, role_differences
from core.ir.parser import parse_module
from core.ir.source import load_module
from core.project.load import load_project
from core.project.opened import OpenProject, open_project
from core.resources import data_folder
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from core.toolchain import triton

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton 3.9 is not installed (extra 'triton')")
PROJECTS = data_folder("projects")
DATA = Path(__file__).parents[2] / "data" / "ttgir"


@needs_triton
@pytest.mark.parametrize(
    ("project", "function", "target", "matrix_op"),
    [
        ("gemm_hopper", "gemm_tma", "cuda:90", "ttng.warp_group_dot "),
        ("attention_forward_hopper", "fa_fwd_2q", "cuda:90", "ttng.warp_group_dot "),
        ("gemm_blackwell", "gemm_tma", "cuda:100", "ttng.tc_gen5_mma "),
    ],
)
def test_triton_pipelines_the_annotated_text(
    project: str, function: str, target: str, matrix_op: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own parser reads the result; loads have become copies with barriers, and no annotation of a stage is left."""
    command = ["export", str(PROJECTS / project), "--format", "triton", "-o", str(tmp_path), "--json"]
    assert main(command) == 0
    answer = json.loads(capsys.readouterr().out)
    (file,) = map(Path, answer["files"])
    assert file.stem == function and file.suffix == ".ttgir"
    assert f"ir_override='{file.as_posix()}'" in answer["note"] and "TRITON_KERNEL_OVERRIDE=1" in answer["note"]
    text = file.read_text(encoding="utf-8")
    assert "ttng.async_tma_copy_global_to_local" in text and "ttng.wait_barrier" in text
    assert not re.search(r"loop\.stage|loop\.cluster|tt\.scheduled_max_stage", text)
    before = (PROJECTS / project / "input.ttgir").read_text(encoding="utf-8")
    places = set(re.findall(r'loc\("([^"]*)":', text))
    assert places == {"input.ttgir"}, "lines are those of the input, not of a scratch file"
    assert text.count(matrix_op) >= before.count(matrix_op) > 0
    assert f"@{function}" in parse_with_triton(file, target)


@needs_triton
def test_what_triton_refuses_is_told_with_its_words() -> None:
    with pytest.raises(InputError) as refused:
        triton.final_ttgir("module { nothing.known }", 90, "input.ttgir")
    (said,) = refused.value.diagnostics
    assert (said.code, said.file) == ("triton-failed", "input.ttgir") and "error" in said.message


@pytest.mark.parametrize("program", ["import os; os.abort()", "raise ValueError('no pass')", "print('no file')"])
def test_a_process_that_falls_over_is_a_diagnostic(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "remaining_passes.py").write_text(program, encoding="utf-8")
    monkeypatch.setattr(triton, "data_folder", lambda _: tmp_path)
    with pytest.raises(InputError) as refused:
        triton.final_ttgir("", 90, "input.ttgir")
    assert refused.value.diagnostics[0].code == "triton-failed"


def test_passes_that_are_stopped_end_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = tmp_path / "begun"
    program = f"import os, pathlib, time; pathlib.Path({str(begun)!r}).write_text(str(os.getpid())); time.sleep(600)"
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "remaining_passes.py").write_text(program, encoding="utf-8")
    monkeypatch.setattr(triton, "data_folder", lambda _: tmp_path)
    with pytest.raises(InputError) as refused:
        triton.final_ttgir("", 90, "input.ttgir", begun.exists)
    assert refused.value.diagnostics[0].code == "triton-stopped"
    assert begun.exists() and psutil.Process().children() == []


@pytest.mark.parametrize("found", [None, "3.6.0"])
def test_without_the_release_the_command_says_what_to_install(
    found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(triton, "triton_version", lambda: found)
    assert main(["export", str(PROJECTS / "gemm_hopper"), "--format", "triton", "-o", str(tmp_path)]) == 5
    said = capsys.readouterr().err
    assert "Triton 3.9 is needed" in said and "twill-explorer[triton]" in said and (found or "not found") in said


def test_a_graph_has_no_text_to_compile(tmp_path: Path) -> None:
    assert main(["export", str(PROJECTS / "paper_figure_1"), "--format", "triton", "-o", str(tmp_path)]) == 2


@needs_triton
@pytest.mark.parametrize("project", ["gemm_blackwell", "attention_forward_blackwell"])
def test_triton_makes_the_groups_of_the_schedule(
    project: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Roles and the matrix ops of each as in the schedule file; without the request Triton makes one role of all."""
    assert main(["export", str(PROJECTS / project), "--format", "triton", "-o", str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["warnings"] == []
    file = yaml.safe_load((PROJECTS / project / "schedules" / "main.yaml").read_text(encoding="utf-8"))
    matrix = Counter(place["group"] for op, place in file["ops"].items() if op.startswith("tc_gen5_mma"))
    wanted = sorted((matrix[group] for group in file["groups"]), reverse=True)
    assert made_roles(load_module(Path(answer["files"][0]))) == wanted
    annotated = tmp_path / "annotated.ttgir"
    assert main(["export", str(PROJECTS / project), "--format", "ttgir", "-o", str(annotated)]) == 0
    alone = triton.final_ttgir(annotated.read_text(encoding="utf-8"), 100, "annotated.ttgir")
    assert made_roles(parse_module(alone, "alone.ttgir")) == [sum(wanted)]


def project_of(folder: str, name: str = "main") -> tuple[OpenProject, Schedule]:
    """A sample project with one of its schedules."""
    project = load_project(PROJECTS / folder).for_schedule(name)
    opened = open_project(project)
    return opened, load_schedule(project.schedules[name].file, opened.graph)


def test_roles_are_read_from_specialized_texts_and_compared() -> None:
    """A text that Triton 3.6 made, with two matrix ops in each of two partitions and none in its default region."""
    opened, schedule = project_of("attention_forward_hopper")
    made = load_module(DATA / "fa_fwd_sm90_d64m64n64-f16-full_v36_ws3.ttgir")
    assert made_roles(made) == [2, 2, 0]
    assert role_differences(opened.graph, schedule, made) == []  # one group of loads, two with two matrix ops each
    product, its = project_of("gemm_hopper")
    assert role_differences(product.graph, its, made) == ["the schedule has 2 groups, Triton made 3 roles"]
    moved = {
        op: replace(place, group="compute.0") if opened.graph.ops[op].matrix else place
        for op, place in schedule.ops.items()
    }
    assert role_differences(opened.graph, replace(schedule, ops=moved), made) == [
        "matrix ops of each role: 4, 0, 0 in the schedule, 2, 2, 0 in what Triton made"
    ]
    plain = load_module(PROJECTS / "attention_forward_hopper" / "input.ttgir")
    assert role_differences(opened.graph, schedule, plain) == ["the schedule has 3 groups, Triton made 1 roles"]


def test_only_scheduled_loops_ask_for_roles_and_once() -> None:
    text = "scf.for {\n} {tt.scheduled_max_stage = 2 : i32}\nscf.for {\n} {a = 1}\n"
    asked = asking_for_roles(text)
    assert asked == text.replace("{tt.scheduled", "{tt.warp_specialize, tt.scheduled")
    assert asking_for_roles(asked) == asked
