"""`twill solve` on a kernel of several loops: one answer, a schedule for each loop, common groups."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import main

TTGIR = Path(__file__).parents[2] / "data" / "ttgir"


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """Layer norm's three loops."""
    text = TTGIR / "layer_norm_sm90_n1024-bf16_v36_pre.ttgir"
    (tmp_path / "project.yaml").write_text(
        f"schema: twill.project/1\nname: layer norm\ninput: {{ttgir: {text.as_posix()}}}\n"
        "groups:\n- {kind: compute, warps: 4, count: 2}\nsolve: {objective: [ii]}\n"
        "schedules:\n  mean: {file: out/mean.yaml, loop: 0}\n  variance: {file: out/variance.yaml, loop: 1}\n"
        "  normalise: {file: out/normalise.yaml, loop: 2}\nactive: mean\n"
    )
    return tmp_path


def test_one_answer_for_all_loops_and_a_file_for_each(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(kernel), "--json", "-o", str(kernel / "out")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "optimal" and answer["violations"] == [] and answer["register_limit"] is None
    assert list(answer["loops"]) == ["mean", "variance", "normalise"]
    common = {group["name"]: {"kind": group["kind"], "grant": group["grant"]} for group in answer["groups"]}
    for name, loop in answer["loops"].items():
        assert loop["schedule"]["groups"] == common
        assert loop["ii"] == loop["proved_lower_bound"]
        assert loop["schedule_file"] == (kernel / "out" / f"{name}.yaml").as_posix()
        # Each is judged as its own loop's schedule, though the input's main loop is another.
        assert main(["check", str(kernel), "--schedule", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["legal"]


def test_one_loop_can_be_asked_for_alone(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(kernel), "--json", "--schedule", "variance"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "loops" not in answer and "subf.0" in answer["schedule"]["ops"]


def test_text_and_bad_usage(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(kernel)]) == 0
    said = capsys.readouterr().out
    assert "loop variance\n" in said and "3 loops: optimal" in said
    assert main(["solve", str(kernel), "-o", str(kernel / "project.yaml")]) == 2
    assert "need a folder" in capsys.readouterr().err


def test_a_graph_is_one_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "project.yaml").write_text(
        "schema: twill.project/1\nname: g\ninput: {graph: g.yaml}\nschedules:\n  a: {file: a.yaml, loop: 1}\n"
    )
    assert main(["solve", str(tmp_path)]) == 3
    assert "project.yaml:5:" in capsys.readouterr().err
