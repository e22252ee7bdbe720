"""`twill solve --model paper`: what the answer says, in which cycles, and what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.cli import main
from core.graph.read import load_graph
from core.schedule.check import check
from core.schedule.read import load_schedule

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"
HOPPER = KERNELS / "fa_fwd_hopper_2x64.yaml"


def solve(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """Exit code and the JSON document."""
    code = main(["solve", "--json", *(str(argument) for argument in arguments)])
    return code, json.loads(capsys.readouterr().out)


def judged(paper: dict[str, Any], folder: Path) -> dict[str, int]:
    """Violations by family of the answer's schedule on the answer's graph, both read back from the answer alone."""
    for key in ("graph", "schedule"):
        (folder / f"{key}.yaml").write_text(yaml.safe_dump(paper[key]), encoding="utf-8")
    graph = load_graph(folder / "graph.yaml")
    families = [v.family.value for v in check(graph, load_schedule(folder / "schedule.yaml", graph)).violations]
    return {family: families.count(family) for family in families}


def test_the_answer_names_its_unit_and_what_the_judge_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, document = solve(capsys, HOPPER, "--model", "paper", "-o", tmp_path / "found.yaml")
    paper = document["paper"]
    assert code == 0
    assert (document["ii"], document["proved_lower_bound"]) == (2048, 2048)
    assert paper["verdict"] == paper["attempts"][-1]["verdict"] == "feasible"
    assert paper["schedule"]["ii"] * paper["unit"] == pytest.approx(2048, rel=0.02)
    assert paper["violations"] == judged(paper, tmp_path)
    assert paper["in_cycles_of_the_loop"] == {"ii": 2048, "violations": {}}
    graph = load_graph(HOPPER)
    assert check(graph, load_schedule(tmp_path / "found.yaml", graph)).legal
    record = yaml.safe_load((tmp_path / "found.record.yaml").read_text(encoding="utf-8"))
    assert (record["limits"]["model"], record["paper"]) == ("paper", paper)


def test_without_a_legal_schedule_there_is_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nothing the system has a solution for up to II 2, which says nothing of the loop: no answer, and no file."""
    file = tmp_path / "found.yaml"
    code, document = solve(capsys, KERNELS / "deeper_at_ii_1.yaml", "--model", "paper", "--max-ii", "2", "-o", file)
    assert (code, document["status"], document["ii"]) == (4, "unknown", None)
    assert document["paper"]["verdict"] == "infeasible"
    assert not file.exists()


def test_the_text_says_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(KERNELS / "carried_hand_off.yaml"), "--model", "paper"]) == 0
    text = capsys.readouterr().out
    assert "the paper's model, in cycles of its own of 1 cycles each: feasible" in text
    assert "in cycles of the loop its groups and orders reach II" in text


def test_the_exact_model_says_nothing_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert "paper" not in solve(capsys, KERNELS / "figure_1.yaml", "--model", "exact")[1]


def test_a_project_may_ask_for_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = f"schema: twill.project/1\nname: figure\ninput: {{graph: {KERNELS / 'figure_1.yaml'}}}\n"
    (tmp_path / "project.yaml").write_text(text + "solve: {model: paper}\n", encoding="utf-8")
    assert "paper" in solve(capsys, tmp_path)[1]
    assert "paper" not in solve(capsys, tmp_path, "--model", "exact")[1]
    (tmp_path / "project.yaml").write_text(text + "solve: {model: papre}\n", encoding="utf-8")
    code, document = solve(capsys, tmp_path)
    assert (code, document["diagnostics"][0]["line"]) == (3, 4)


def test_an_unknown_model_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(HOPPER), "--model", "papre"]) == 2
    assert "papre" in capsys.readouterr().err
