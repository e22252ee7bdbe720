"""`twill explain`: its JSON fields, exit codes, and questions that do not go together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.resources import data_folder

FIGURE = data_folder("projects") / "paper_figure_1"
HOPPER = data_folder("projects") / "attention_forward_hopper"
KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"
FIELDS = {"verdict", "state", "cores", "confirmed_by", "relaxations", "seconds"}


def explain(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    code = main(["explain", "--json", *(str(argument) for argument in arguments)])
    (line,) = capsys.readouterr().out.splitlines()
    return code, json.loads(line)


def test_one_less_than_the_schedule_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = explain(capsys, FIGURE)
    assert code == 0
    assert document.keys() >= FIELDS
    assert (document["ii"], document["verdict"], document["state"]) == (1, "infeasible", "proved_minimal")
    assert document["confirmed_by"] == "z3"
    ((reason,),) = document["cores"]
    assert reason.keys() == {"family", "subject", "required", "available", "ops", "sentence"}
    assert (reason["family"], reason["subject"], reason["required"], reason["available"]) == (
        "unit",
        "tensor_core",
        2,
        1,
    )
    assert set(reason["ops"]) == {"s", "o"}
    changes = {change["what"]: (change["old"], change["new"]) for change in document["relaxations"]}
    assert changes == {"ii": (1, 2), "capacity": (1, 2)}
    assert all(change.keys() >= {"what", "old", "new", "sentence"} for change in document["relaxations"])


def test_what_is_possible_is_told_with_what_binds(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = explain(capsys, FIGURE, "--ii", "2")
    assert (code, document["verdict"], document["cores"]) == (0, "feasible", [])
    assert [reason["subject"] for reason in document["binding"]] == ["tensor_core"]


@pytest.mark.parametrize("question", [("--ii", "2048"), ("--ii", "2100"), ("--registers", "200")])
def test_what_the_schedule_shows_to_be_possible_takes_no_search(
    capsys: pytest.CaptureFixture[str], question: tuple[str, str]
) -> None:
    code, document = explain(capsys, HOPPER, *question, "--limit-s", "1e-9")
    assert (code, document["verdict"], document["state"]) == (0, "feasible", "proved")
    code, document = explain(capsys, HOPPER, "--registers", "192", "--limit-s", "1e-9")  # the schedule has 200
    assert (code, document["verdict"]) == (4, "unknown")


def test_groups_registers_and_ops(capsys: pytest.CaptureFixture[str]) -> None:
    gemm = KERNELS / "gemm.yaml"
    _, document = explain(capsys, gemm, "--groups", "compute=0")
    assert {reason["family"] for reason in document["cores"][0]} == {"groups"}
    assert [r["new"] for r in document["relaxations"] if r["what"] == "groups"] == [1]
    _, document = explain(capsys, gemm, "--registers", "64")
    assert document["verdict"] == "infeasible"
    assert "registers" in {reason["family"] for reason in document["cores"][0]}
    _, document = explain(capsys, gemm, "--op", "dot0_0", "--group", "load")
    assert [reason["family"] for reason in document["cores"][0]] == ["variable_latency"]
    _, document = explain(capsys, FIGURE, "--op", "o", "--start", "0")
    assert {reason["family"] for reason in document["cores"][0]} == {"dependence"}
    assert {violation["family"] for violation in document["in_place"]} >= {"dependence"}


def test_sensitivity_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    _, document = explain(capsys, FIGURE)
    assert (document["least_ii"], document["sensitivity"]) == (None, [])
    _, document = explain(capsys, FIGURE, "--sensitivity")
    assert document["least_ii"] == 2
    (found,) = document["sensitivity"]
    assert found.pop("sentence")
    wanted = {"what": "cycles on tensor_core", "ops": ["s", "o"], "old": 1, "least": 1, "most": 1, "proved": True}
    assert found == wanted


def test_no_answer_in_time_is_exit_code_4(capsys: pytest.CaptureFixture[str]) -> None:
    hard = KERNELS / "fa_fwd_blackwell_2x128__2_groups.yaml"
    code, document = explain(capsys, hard, "--ii", "2123", "--limit-s", "0.001")
    assert (code, document["verdict"], document["state"], document["cores"]) == (4, "unknown", "unknown", [])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--groups", "computer=1"), "compute"),
        (("--op", "oo", "--start", "1"), "no op 'oo'"),
        (("--op", "o"), "--group, --start or --with"),
        (("--group", "compute"), "--op"),
        (("--op", "o", "--group", "elsewhere"), "no group 'elsewhere'"),
        (("--op", "o", "--with", "o"), "the op itself"),
        (("--op", "o", "--start", "1", "--registers", "8"), "one at a time"),
    ],
)
def test_bad_usage(capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str) -> None:
    assert main(["explain", str(FIGURE), *options]) == 2
    assert words in capsys.readouterr().err
