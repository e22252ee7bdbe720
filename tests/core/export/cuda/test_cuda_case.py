"""Case files: the calls of the exported test program, read with places of what is wrong in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mock_runs import ROOT, build, needs_compiler, run_mock, scheduled

from core.cli import main
from core.diagnostics import InputError
from core.export.cuda.case import load_batch

CASE = ROOT / "tests" / "data" / "cuda" / "attention_two_heads.yaml"
PROJECT = ROOT / "projects" / "attention_forward_hopper"


def edited(tmp_path: Path, old: str, new: str) -> Path:
    text = CASE.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "case.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@needs_compiler
def test_exported_with_a_case_and_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["export", str(PROJECT), "--format", "cuda", "--case", str(CASE), "--persistent", "-o", str(tmp_path)]
    assert main([*arguments, "--json"]) == 0
    assert "cases.bin" in capsys.readouterr().out
    build(tmp_path)
    answer = run_mock(tmp_path)
    assert answer["ok"] and answer["case"] == "two_heads" and answer["relative_error"]["o_desc"] < 1e-3


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("  seq: 256\n", "", "missing-argument", 9),
        ("  seq: 256", "  sequence: 256", "unknown-argument", 10),
        ("  o_desc: {shape: [512, 128]}\n", "", "missing-argument", 4),
        ("  o_desc: {shape: [512, 128]}\nnumbers:", "numbers:\n  o_desc: 1", "unknown-argument", 9),
        ("normal: 1.0, seed: 1", "normel: 1.0, seed: 1", "unknown-key", 5),
        ("grid: [2, 2]", "grid: [2, 0]", "bad-value", 3),
    ],
)
def test_mistakes_have_a_place(old: str, new: str, code: str, line: int, tmp_path: Path) -> None:
    module, _ = scheduled("attention_forward_hopper")
    with pytest.raises(InputError) as caught:
        load_batch(edited(tmp_path, old, new), module, "fa_fwd_2q")
    found = caught.value.diagnostics[0]
    assert (found.code, found.line) == (code, line)


def test_calls_that_are_only_timed_hold_no_data(tmp_path: Path) -> None:
    module, _ = scheduled("attention_forward_hopper")
    path = edited(tmp_path, "name: two_heads", "name: two_heads\nchecked: false\nflops: 1.0e9\npeak: 4096")
    text = load_batch(path, module, "fa_fwd_2q").decode()
    assert text.startswith("twill.batch/1 ") and "fill 1.0 2" in text and "flops 1000000000.0 4096.0" in text


def test_options_of_cuda_are_for_cuda(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["export", str(PROJECT), "--format", "json", "--persistent", "-o", str(tmp_path / "x.json")]
    assert main(arguments) == 2
    assert "--format cuda" in capsys.readouterr().err
