"""`twill repair`: its JSON fields, files, exit codes, texts, and moves that do not go with the schedule."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.cli import main
from core.graph.read import load_graph
from core.resources import data_folder
from core.schedule.check import check
from core.schedule.read import load_schedule

FIGURE = data_folder("projects") / "paper_figure_1"
GEMM = data_folder("projects") / "gemm_hopper"
SOLVE_FIELDS = {
    "status",
    "ii",
    "proved_lower_bound",
    "ii_trail",
    "stages",
    "length",
    "groups",
    "levels",
    "seconds",
    "schedule",
}


def repair(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    code = main(["repair", "--json", *(str(argument) for argument in arguments)])
    (line,) = capsys.readouterr().out.splitlines()
    return code, json.loads(line)


def test_what_moved_and_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "repaired.yaml"
    code, document = repair(capsys, FIGURE, "--schedule", "main", "--move", "o=4@compute.0", "-o", file)
    assert code == 0
    assert document.keys() >= SOLVE_FIELDS | {"moved"}
    assert (document["status"], document["ii"], document["moved"]) == ("optimal", 2, ["s"])
    graph = load_graph(FIGURE / "figure_1.yaml")
    schedule = load_schedule(file, graph)
    assert check(graph, schedule).legal
    assert schedule.ops["o"].start == 4
    old = load_schedule(FIGURE / "schedules" / "main.yaml", graph)
    assert [op for op in graph.ops if schedule.ops[op] != old.ops[op]] == ["s", "o"]
    assert document["schedule"]["ops"]["s"]["start"] == schedule.ops["s"].start
    record = yaml.safe_load(file.with_name("repaired.record.yaml").read_text(encoding="utf-8"))
    assert record["conditions"] == {"repaired": {"o": {"start": 4, "group": "compute.0"}}}
    levels = {level["name"]: (level["value"], level["proved"]) for level in document["levels"]}
    assert levels == {"moved": (1, True), "movement": (1, True)}


def test_a_schedule_of_a_file_and_a_move_on_the_same_group(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    shutil.copy(FIGURE / "schedules" / "main.yaml", file)
    code, document = repair(capsys, FIGURE, "--schedule", file, "--move", "o=5")
    assert (code, document["moved"], document["moves"]) == (0, [], {"o": {"start": 5, "group": "compute.0"}})


def test_what_is_impossible_is_explained(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "none.yaml"
    code, document = repair(capsys, FIGURE, "--move", "o=0@compute.0", "-o", file)
    assert (code, document["status"], document["schedule"], document["moved"]) == (1, "infeasible", None, [])
    assert not file.exists()
    assert document["explanation"]["verdict"] == "infeasible"
    ((reason,),) = document["explanation"]["cores"]
    assert (reason["family"], reason["ops"]) == ("dependence", ["p", "o"])
    (entry,) = document["ii_trail"]
    assert (entry["verdict"], entry["confirmed_by"]) == ("infeasible", "z3")
    assert {violation["family"] for violation in document["violations"]} == {"dependence", "unit"}


def test_rotation(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = repair(capsys, FIGURE, "--move", "o=0", "--rotate")
    assert (code, document["intervals_later"]) == (0, 2)
    assert document["schedule"]["ops"]["o"]["start"] == 4


def test_a_group_that_may_not_hold_the_op(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = repair(capsys, GEMM, "--move", "warp_group_dot.0=600@load.0")
    assert code == 1
    assert document["ii_trail"][0]["by"] in ("variable_latency", "groups")
    assert {core["family"] for core in document["explanation"]["cores"][0]} <= {"variable_latency", "groups"}


def test_no_answer_in_time_is_exit_code_4(capsys: pytest.CaptureFixture[str]) -> None:
    backward = data_folder("projects") / "attention_backward_hopper"
    code, document = repair(capsys, backward, "--move", "mulf.1=1600", "--limit-s", "0.000001")
    assert (code, document["status"], document["moved"]) == (4, "unknown", [])


def test_a_pin_of_the_project_says_no_by_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "pinned"
    shutil.copytree(FIGURE, folder)
    project = folder / "project.yaml"
    project.write_text(project.read_text(encoding="utf-8") + "pins: {o: {start: 3}}\n", encoding="utf-8")
    code, document = repair(capsys, folder, "--move", "o=4")
    assert (code, document["explanation"]) == (1, None)
    assert main(["repair", str(folder), "--move", "o=4"]) == 1
    assert "o is pinned to start at cycle 3 and starts at 4" in capsys.readouterr().out
    code, document = repair(capsys, folder, "--move", "p=2")
    assert code == 0


def test_the_texts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repair", str(FIGURE), "--move", "o=4"]) == 0
    text = re.sub(r"[\d.]+ s\n", "S s\n", capsys.readouterr().out)
    assert text == (
        "figure 1 of the paper: repaired by moving 1 other op (no fewer would do) by 1 cycle in all "
        "(no less would do), S s\n"
        "  op  from  to  group\n"
        "  s      0   1  compute.0  moved\n"
        "  o      3   4  compute.0  given\n"
    )
    assert main(["repair", str(FIGURE), "--move", "o=5"]) == 0
    assert "legal, no other op moves" in capsys.readouterr().out
    assert main(["repair", str(FIGURE), "--move", "o=0"]) == 1
    text = capsys.readouterr().out
    assert "o waits 1 cycle for p" in text
    assert "--rotate" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--move", "oo=1"), "no op 'oo'"),
        (("--move", "o=1@compute.7"), "no group 'compute.7'"),
        (("--move", "o=1", "o=2"), "moved twice"),
        (("--move", "o"), "OP=START@GROUP"),
        (("--move", "o=1@"), "OP=START@GROUP"),
        (("--move", "o=x"), "not a whole number"),
        (("--schedule", "man"), "man"),
    ],
)
def test_bad_usage(capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str) -> None:
    assert main(["repair", str(FIGURE), *options]) in (2, 3)
    assert words in capsys.readouterr().err
