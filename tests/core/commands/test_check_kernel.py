"""`twill check` of a kernel of several loops, and which of its loops `--loop` means."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.project.load import load_project
from core.resources import data_folder


def twill(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON document ({} where there is none) and standard error."""
    command, *rest = (str(argument) for argument in arguments)
    code = main([command, *rest, "--json"])
    output = capsys.readouterr()
    return code, json.loads(output.out) if output.out else {}, output.err


@pytest.fixture
def kernel(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of a project, of causal attention where the test names none."""
    name = getattr(request, "param", "attention_causal_hopper")
    return Path(shutil.copytree(data_folder("projects") / name, tmp_path / "kernel"))


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    "kernel", ["attention_causal_hopper", "layer_norm_hopper", "gemm_persistent_blackwell"], indirect=True
)
def test_all_loops_are_judged_as_each_is_by_itself(capsys: pytest.CaptureFixture[str], kernel: Path) -> None:
    code, document, _ = twill(capsys, "check", kernel)
    assert (code, document["legal"], document["violations"]) == (0, True, [])
    names = load_project(kernel).kernel_schedules
    assert set(document["loops"]) == set(names) and len(names) > 1
    for name in names:
        code, alone, _ = twill(capsys, "check", kernel, "--schedule", name)
        assert (code, alone) == (0, document["loops"][name])
        for resource in ("shared_memory", "tensor_memory"):
            assert alone["peaks"][resource] <= document["peaks"][resource]
        assert all(used <= document["peaks"]["registers"][group] for group, used in alone["peaks"]["registers"].items())


def test_a_group_is_the_same_warps_in_every_loop(capsys: pytest.CaptureFixture[str], kernel: Path) -> None:
    edit(kernel / "schedules" / "full.yaml", "grant: 24}", "grant: 32}")
    code, document, _ = twill(capsys, "check", kernel)
    assert (code, document["legal"]) == (1, False)
    assert all(loop["legal"] for loop in document["loops"].values())
    (violation,) = document["violations"]
    assert (violation["loop"], violation["family"], violation["subject"]) == (None, "groups", "load.0")
    assert {violation["required"], violation["available"]} == {24, 32}
    assert main(["check", str(kernel)]) == 1
    assert "2 loops as one kernel: not legal\n" in capsys.readouterr().out


def test_a_tile_of_both_loops_has_one_ring(capsys: pytest.CaptureFixture[str], kernel: Path) -> None:
    edit(kernel / "schedules" / "masked.yaml", "rings: {descriptor_load.0: 2", "rings: {descriptor_load.0: 3")
    code, document, _ = twill(capsys, "check", kernel)
    rings = {ring["value"]: ring for ring in document["rings"]}
    assert code == 0
    assert rings["descriptor_load.0"]["depths"] == {"full": 2, "masked": 3}
    assert rings["descriptor_load.0"]["depth"] == 3
    assert set(rings) == {"descriptor_load.0", "descriptor_load.1"}


def test_a_violation_says_which_loop_has_it(capsys: pytest.CaptureFixture[str], kernel: Path) -> None:
    edit(kernel / "schedules" / "masked.yaml", "ii: 2048", "ii: 2047")
    code, document, _ = twill(capsys, "check", kernel)
    assert (code, document["legal"], document["loops"]["full"]["legal"]) == (1, False, True)
    assert {violation["loop"] for violation in document["violations"]} == {"masked"}
    own = document["loops"]["masked"]["violations"]
    assert [{**violation, "loop": "masked"} for violation in own] == document["violations"]


def test_a_loop_without_a_schedule_is_told_with_how_to_make_it(
    capsys: pytest.CaptureFixture[str], kernel: Path
) -> None:
    (kernel / "schedules" / "masked.yaml").unlink()
    code, document, err = twill(capsys, "check", kernel)
    (diagnostic,) = document["diagnostics"]
    line = next(n for n, text in enumerate((kernel / "project.yaml").read_text().splitlines(), 1) if "masked" in text)
    assert (code, diagnostic["code"], diagnostic["line"]) == (3, "missing-schedule", line)
    assert f"make it: twill solve {kernel / 'project.yaml'} -o {kernel / 'schedules'}" in err


@pytest.mark.parametrize("kernel", ["gemm_persistent_blackwell"], indirect=True)
def test_a_loop_around_an_illegal_one_is_left_out(capsys: pytest.CaptureFixture[str], kernel: Path) -> None:
    edit(kernel / "schedules" / "steps.yaml", "ii: 256", "ii: 255")
    code, document, _ = twill(capsys, "check", kernel)
    assert (code, list(document["loops"])) == (1, ["steps"])
    assert {violation["loop"] for violation in document["violations"]} == {"steps"}


def test_a_loop_by_its_number(capsys: pytest.CaptureFixture[str], kernel: Path) -> None:
    for number, name in enumerate(("full", "masked")):
        assert twill(capsys, "check", kernel, "--loop", str(number)) == twill(
            capsys, "check", kernel, "--schedule", name
        )
        _, by_number, _ = twill(capsys, "graph", kernel, "--loop", str(number))
        _, by_name, _ = twill(capsys, "graph", kernel, "--schedule", name)
        assert by_number == by_name
    assert by_number != twill(capsys, "graph", kernel, "--schedule", "full")[1]
    for command in ("check", "graph"):
        code, _, err = twill(capsys, command, kernel, "--loop", "0", "--schedule", "masked")
        assert (code, "the schedule 'masked' is of loop 1" in err) == (2, True)
    code, _, err = twill(capsys, "check", kernel, "--loop", "7")
    assert (code, "there is no schedule of loop 7" in err) == (2, True)
    code, _, err = twill(capsys, "graph", kernel, "--loop", "7")
    assert (code, "there is no loop 7" in err) == (3, True)


def test_a_number_of_a_loop_that_is_not_there_is_told_at_its_schedule(
    capsys: pytest.CaptureFixture[str], kernel: Path
) -> None:
    project = kernel / "project.yaml"
    edit(project, "masked.yaml, loop: 1", "masked.yaml, loop: 9")
    before = project.read_text().partition("9}")[0]
    code, _, err = twill(capsys, "check", kernel)
    place = f"{project}:{before.count(chr(10)) + 1}:{len(before.rpartition(chr(10))[2]) + 1}"
    assert code == 3 and err.startswith(f"{place}: error: there is no loop 9; the module has 2")
