"""`twill export` and `twill check` of a project with text: files that read back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from core.cli import main
from core.export.ttgir import read_annotations
from core.ir.source import load_module
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.expansion import MOST_INSTANCES
from core.schedule.metrics import stages
from core.schedule.read import load_schedule

SCHEDULE = """\
schema: twill.schedule/1
ii: 1024
groups: {load: {kind: load, grant: 24}, compute: {kind: compute, grant: 160}}
ops:
  descriptor_load.0: {start: 0, group: load}
  descriptor_load.1: {start: 300, group: load}
  warp_group_dot.0: {start: 1100, group: compute}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the Hopper GEMM project with a schedule of known places."""
    folder = tmp_path / "gemm"
    shutil.copytree(data_folder("projects") / "gemm_hopper", folder)
    (folder / "schedules" / "mine.yaml").parent.mkdir(exist_ok=True)
    (folder / "schedules" / "mine.yaml").write_text(SCHEDULE)
    text = (folder / "project.yaml").read_text()
    (folder / "project.yaml").write_text(
        text.replace("main: schedules/main", "mine: schedules/mine").replace("main", "mine")
    )
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def test_schedule_by_name_by_file_and_the_active_one(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    answers = [
        run(capsys, "check", "--json", project),
        run(capsys, "check", "--json", project, "--schedule", "mine"),
        run(capsys, "check", "--json", project, "--schedule", project / "schedules" / "mine.yaml"),
    ]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][0] == 0
    assert json.loads(answers[0][1])["legal"] is True


def test_schedule_that_names_ops_that_are_not_there(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    file = project / "schedules" / "mine.yaml"
    file.write_text(SCHEDULE.replace("warp_group_dot.0", "warp_group_dot.1"))
    code, out, err = run(capsys, "check", project)
    assert (code, out) == (3, "")
    assert f"{file}:7:3: error: the graph has no op 'warp_group_dot.1'" in err
    assert "did you mean 'warp_group_dot.0'?" in err


def test_missing_schedule_file(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    code, out, err = run(capsys, "check", project, "--schedule", "nowhere.yaml")
    assert (code, out) == (3, "")
    assert err.startswith("nowhere.yaml: error: cannot read the file")


def test_a_schedule_that_is_not_solved_yet_is_told_at_its_line(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    (project / "schedules" / "mine.yaml").unlink()
    code, out, err = run(capsys, "check", project)
    text = (project / "project.yaml").read_text()
    before = text[: text.index("schedules/mine.yaml")].split("\n")
    assert (code, out) == (3, "")
    assert err.startswith(f"{project / 'project.yaml'}:{len(before)}:{len(before[-1]) + 1}: error: there is no file")
    assert "twill solve" in err


def test_ttgir_reads_back(capsys: pytest.CaptureFixture[str], project: Path, tmp_path: Path) -> None:
    output = tmp_path / "out" / "annotated.ttgir"
    code, out, _ = run(capsys, "export", "--json", project, "--format", "ttgir", "-o", output)
    assert (code, json.loads(out)) == (0, {"files": [str(output)], "warnings": [], "holes": []})
    opened = open_project(load_project(project))
    again = open_project(load_project(output, machine="h100"))
    assert again.graph.ops == opened.graph.ops
    module = load_module(output)
    schedule = load_schedule(project / "schedules" / "mine.yaml", opened.graph)
    assert read_annotations(module, module.loops[0]).ops == schedule.ops


def test_trace_and_json(capsys: pytest.CaptureFixture[str], project: Path, tmp_path: Path) -> None:
    schedule = load_schedule(project / "schedules" / "mine.yaml", open_project(load_project(project)).graph)
    for wanted in ("trace", "json"):
        assert run(capsys, "export", project, "--format", wanted, "-o", tmp_path / wanted)[0] == 0
    trace = json.loads((tmp_path / "trace").read_text())
    assert trace["otherData"]["iterations"] > stages(schedule)
    bundle = json.loads((tmp_path / "json").read_text())
    assert bundle["check"]["legal"] is True
    assert bundle["schedule"]["ii"] == 1024


def test_graph_files_have_no_text_to_annotate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kernels = Path(__file__).parents[2] / "data" / "cases" / "kernels"
    arguments = ("--schedule", kernels / "schedules" / "gemm.yaml", "--format", "ttgir", "-o", tmp_path / "x")
    code, out, err = run(capsys, "export", kernels / "gemm.yaml", *arguments)
    assert (code, out) == (2, "")
    assert "TTGIR" in err
    assert not (tmp_path / "x").exists()


def test_a_place_that_cannot_be_written(capsys: pytest.CaptureFixture[str], project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = run(capsys, "export", project, "--format", "json", "-o", tmp_path / "file" / "x.json")
    assert (code, out) == (3, "")
    assert "cannot write" in err


def test_trace_of_millions_of_stages_is_cut_and_says_so(
    capsys: pytest.CaptureFixture[str], project: Path, tmp_path: Path
) -> None:
    far = project / "schedules" / "mine.yaml"
    far.write_text(SCHEDULE.replace("ii: 1024", "ii: 1").replace("start: 1100", "start: 1000000000"))
    code, out, err = run(capsys, "export", project, "--format", "trace", "-o", tmp_path / "t.json", "--json")
    (warning,) = json.loads(out)["warnings"]
    assert (code, warning["code"]) == (0, "trace-cut")
    assert "of the 1000000005 iterations" in err
    slices = [event for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if event["ph"] == "X"]
    assert 10_000 < len(slices) <= 3 * MOST_INSTANCES


def test_pictures_show_every_group_and_unit(capsys: pytest.CaptureFixture[str], project: Path, tmp_path: Path) -> None:
    files = {suffix: tmp_path / "pictures" / f"out.{suffix}" for suffix in ("svg", "png", "pdf")}
    for suffix, file in files.items():
        code, out, _ = run(capsys, "export", "--json", project, "--format", suffix, "-o", file)
        assert code == 0 and json.loads(out)["files"] == [file.as_posix()]
    texts = [text for element in ElementTree.parse(files["svg"]).iter() if (text := (element.text or "").strip())]
    assert {"load", "compute", "tensor_core", "tma", "descriptor_load.0", "shared memory"} <= set(texts)
    run(capsys, "export", project, "--format", "svg", "--unrolled", "-o", files["svg"])
    texts = [text for element in ElementTree.parse(files["svg"]).iter() if (text := (element.text or "").strip())]
    assert {"prologue", "steady state", "epilogue"} <= set(texts)
    code, _, err = run(capsys, "export", project, "--format", "json", "--unrolled", "-o", tmp_path / "out.json")
    assert code == 2 and "--unrolled is for pictures" in err
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert files["pdf"].read_bytes().startswith(b"%PDF")


def test_a_picture_without_qt_is_a_missing_tool(
    capsys: pytest.CaptureFixture[str], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.commands.export._PAINTER", "twill_gui.not_there")
    code, _, err = run(capsys, "export", project, "--format", "png", "-o", tmp_path / "out.png")
    assert code == 5
    assert "Qt" in err and "not_there" in err
    assert not (tmp_path / "out.png").exists()
