"""`twill export --format triton`: Triton's own final text where Triton 3.9 is installed, and what is said where it is
not, refuses the text, or falls over."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from triton_oracle import parse_with_triton

from core.cli import main
from core.diagnostics import InputError
from core.resources import data_folder
from core.toolchain import triton

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="Triton 3.9 is not installed (extra 'triton')")
PROJECTS = data_folder("projects")


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


@pytest.mark.parametrize("found", [None, "3.6.0"])
def test_without_the_release_the_command_says_what_to_install(
    found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("core.commands.triton.triton_version", lambda: found)
    assert main(["export", str(PROJECTS / "gemm_hopper"), "--format", "triton", "-o", str(tmp_path)]) == 5
    said = capsys.readouterr().err
    assert "Triton 3.9 is needed" in said and "twill-explorer[triton]" in said and (found or "not found") in said


def test_a_graph_has_no_text_to_compile(tmp_path: Path) -> None:
    assert main(["export", str(PROJECTS / "paper_figure_1"), "--format", "triton", "-o", str(tmp_path)]) == 2
