"""Exit codes, JSON lines and messages of the commands, run in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.cli import main
from core.resources import data_folder

DATA = Path(__file__).parents[2] / "data"
BAD = DATA / "bad"
KERNELS = DATA / "cases" / "kernels"
PROJECTS = data_folder("projects")
EXPECTED: list[dict[str, Any]] = yaml.safe_load((BAD / "expected.yaml").read_text())


def twill(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    code = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def test_inspect_answers_in_order_also_for_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    good = PROJECTS / "gemm_hopper" / "input.ttgir"
    names = [good, BAD / "truncated.ttgir", BAD / "no_loop.ttgir", BAD / "missing.ttgir", good]
    code, out, err = twill(capsys, "inspect", "--json", *names)
    documents = [json.loads(line) for line in out.splitlines()]
    assert code == 3
    assert [document["input"] for document in documents] == [str(name) for name in names]
    assert documents[0] == documents[4]
    assert documents[0]["main_loop"] == 0
    assert [len(document["diagnostics"]) for document in documents] == [0, 1, 1, 1, 0]
    assert documents[1]["diagnostics"][0]["line"] == 60
    assert "truncated.ttgir:60:" in err
    assert out.count("\n") == len(names)


@pytest.mark.parametrize("name", ["no_loop.ttgir", "two_loops.ttgir", "loop_with_if.ttgir", "unknown_op.ttgir"])
def test_inspect_of_sound_text_is_an_answer(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = twill(capsys, "inspect", BAD / name)
    assert code == 0
    assert out
    assert "warning" in err


@pytest.mark.parametrize("command", ["inspect", "graph", "solve"])
def test_bad_ttgir_is_exit_code_3_with_its_line(capsys: pytest.CaptureFixture[str], command: str) -> None:
    for case in EXPECTED:
        if case["outcome"] != "error":
            continue
        path = BAD / case["file"]
        code, out, err = twill(capsys, command, path)
        assert (code, out) == (3, ""), path
        assert err.startswith(f"{path}:{case['line']}:" if case["line"] else f"{path}:")
        assert "Traceback" not in err


@pytest.mark.parametrize("command", ["inspect", "graph"])
@pytest.mark.parametrize(
    ("name", "place", "words"),
    [
        ("bom.ttgir", "1:1", "the text begins with a byte order mark"),
        ("unknown_op.ttgir", "25:16", "unknown operation acme.fancy_mma"),
    ],
)
def test_what_is_odd_about_a_text_is_said(
    capsys: pytest.CaptureFixture[str], command: str, name: str, place: str, words: str
) -> None:
    code, _, err = twill(capsys, command, BAD / name)
    assert code == 0
    assert err.startswith(f"{BAD / name}:{place}: warning: {words}")


def test_loop_that_cannot_be_scheduled_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    for name, word in (("no_loop.ttgir", "no loop"), ("loop_with_if.ttgir", "scf.if")):
        code, out, err = twill(capsys, "graph", "--json", BAD / name)
        assert code == 3
        assert word in err
        (diagnostic,) = json.loads(out)["diagnostics"]
        assert (diagnostic["severity"], diagnostic["file"]) == ("error", str(BAD / name))
    assert diagnostic["line"] == 34


def test_graph_prints_the_format_it_reads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = twill(capsys, "graph", "--json", KERNELS / "fa_fwd_hopper_2x64.yaml")
    assert code == 0
    document = json.loads(out)
    assert document["bounds"]["min_ii"] == document["bounds"]["res_mii"] == 2048
    assert document["bounds"]["rec_mii"] == 648
    copy = tmp_path / "copy.json"
    copy.write_text(out)
    assert twill(capsys, "graph", "--json", copy)[:2] == (0, out)


def test_check_of_legal_and_refused_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    case = KERNELS / "carried_hand_off.yaml"
    code, out, _ = twill(capsys, "check", "--json", case, "--schedule", KERNELS / "schedules" / case.name)
    assert (code, json.loads(out)["legal"], json.loads(out)["violations"]) == (0, True, [])
    refused = KERNELS / "schedules" / "carried_hand_off__refused.yaml"
    code, out, _ = twill(capsys, "check", "--json", case, "--schedule", refused)
    document = json.loads(out)
    assert (code, document["legal"]) == (1, False)
    (violation,) = document["violations"]
    assert (violation["family"], violation["required"], violation["available"]) == ("dependence", 4, 1)
    assert set(document["peaks"]) == {"registers", "shared_memory", "tensor_memory", "units"}
    code, out, _ = twill(capsys, "check", case, "--schedule", refused)
    assert code == 1
    assert out.startswith("not legal at II 2\n")


def test_schedule_of_another_loop_is_a_bad_file(capsys: pytest.CaptureFixture[str]) -> None:
    other = KERNELS / "schedules" / "gemm.yaml"
    code, out, err = twill(capsys, "check", KERNELS / "carried_hand_off.yaml", "--schedule", other)
    assert (code, out) == (3, "")
    line = next(n for n, text in enumerate(other.read_text().splitlines(), 1) if text.strip().startswith("load_a:"))
    assert f"{other}:{line}:3: error: the graph has no op 'load_a'" in err


def test_usage_errors_are_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    case = str(KERNELS / "gemm.yaml")
    for arguments in (
        [],
        ["frobnicate"],
        ["inspect"],
        ["graph", case, "--loop", "-1"],
        ["graph", case, "--loop", "0"],
        ["solve", case, "--ii", "0"],
        ["solve", case, "--groups", "compute"],
        ["solve", case, "--groups", "comput=1"],
        ["solve", case, "--groups", "compute=1", "compute=2"],
        ["explain", case, "--groups", "comput=1"],
        ["explain", case, "--groups", "compute=1", "--groups", "compute=2"],
        ["solve", case, "--ii", "600", "--max-ii", "599"],
        ["graph", case, "--machine", "h1000"],
        ["graph", case, "--machine", ""],
        ["solve", case, "--without", "dependence"],
        ["solve", case, "--objective", "ii,speed"],
        ["solve", case, "--limit-s", "soon"],
        ["solve", case, "--seed", str(2**31)],
        ["solve", case, "--ii", str(10**30)],
        ["solve", case, "--max-ii", "9" * 5000],
        ["solve", case, "--groups", f"compute={10**30}"],
        ["solve", case, str(KERNELS / "figure_1.yaml"), "-o", case],
        ["solve", case, "--schedule", "main"],
        ["check", case],
        ["export", case, "--format", "png", "-o", "x"],
    ):
        code, out, err = twill(capsys, *arguments)
        assert (code, out) == (2, ""), arguments
        assert "error: " in err or err.startswith("twill ")
        assert "Traceback" not in err


def test_options_that_do_not_go_with_one_input_do_not_stop_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    names = [KERNELS / "gemm.yaml", KERNELS / "figure_1.yaml", KERNELS / "gemm.yaml"]
    code, out, err = twill(capsys, "solve", "--json", "--ii", "1", *names, "--groups", "load=1")
    documents = [json.loads(line) for line in out.splitlines()]
    assert code == 2
    assert [document["input"] for document in documents] == [str(name) for name in names]
    assert [document.get("status") for document in documents] == ["infeasible", None, "infeasible"]
    (diagnostic,) = documents[1]["diagnostics"]
    assert (diagnostic["code"], diagnostic["file"]) == ("usage", str(names[1]))
    assert f"{names[1]}: error: --groups: there is no group kind 'load' (known: compute)" in err


def test_help_is_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = twill(capsys, "solve", "--help")
    assert code == 0
    assert "--max-ii" in out


def test_internal_errors_are_exit_code_70_and_do_not_stop_the_rest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = KERNELS / "gemm.yaml"
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def broken(_: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("core.commands.graph.bounds", broken)
    code, out, err = twill(capsys, "graph", "--json", good)
    assert code == 70
    assert json.loads(out)["input"] == str(good)
    assert "internal error: KeyError: 'oops'" in err
    assert "Traceback" not in err
    (report,) = tmp_path.glob("twill-crash-*.txt")
    assert "in broken" in report.read_text()


def test_a_missing_package_is_exit_code_5(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ModuleNotFoundError("No module named 'ortools.sat'", name="ortools.sat")

    monkeypatch.setattr("core.commands.graph.bounds", broken)
    code, out, err = twill(capsys, "graph", KERNELS / "gemm.yaml")
    assert (code, out) == (5, "")
    assert "pip install ortools" in err


PROJECT = """\
schema: twill.project/1
name: copy
machine: h100
input: {ttgir: input.ttgir, function: gemm_tma, loop: 0}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("machine", "machin", "unknown key 'machin'"),
        ("h100", "h1000", "there is no machine 'h1000'"),
        ("h100", "mine/h100.yaml", "there is no machine file"),
        ("input.ttgir", "gone.ttgir", "there is no file"),
        ("0", "7", "there is no loop 7; the module has 1"),
        ("0", "zero", "input.loop: input should be a valid integer"),
        ("gemm_tma", "gemm_tme", "the module has no function 'gemm_tme'"),
    ],
)
def test_bad_projects_are_told_with_their_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "input.ttgir").write_bytes((PROJECTS / "gemm_hopper" / "input.ttgir").read_bytes())
    project = tmp_path / "project.yaml"
    head, _, tail = PROJECT.rpartition(old)
    project.write_text(f"{head}{new}{tail}")
    code, out, err = twill(capsys, "graph", tmp_path)
    line, column = head.count("\n") + 1, len(head.rpartition("\n")[2]) + 1
    assert (code, out) == (3, "")
    assert err.startswith(f"{project}:{line}:{column}: error: {message}")


def test_an_input_is_never_replaced(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gemm.yaml").write_bytes((KERNELS / "gemm.yaml").read_bytes())
    (tmp_path / "schedule.yaml").write_bytes((KERNELS / "schedules" / "gemm.yaml").read_bytes())
    (tmp_path / "project.yaml").write_text(
        "schema: twill.project/1\nname: x\ninput: {graph: gemm.yaml}\nschedules: {main: schedule.yaml}\nactive: main\n"
    )
    (tmp_path / "link.yaml").symlink_to("gemm.yaml")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for arguments in (
        ["solve", "gemm.yaml", "-o", "gemm.yaml"],
        ["solve", "gemm.yaml", "-o", "."],
        ["solve", "gemm.yaml", "-o", ""],
        ["solve", "gemm.yaml", "-o", "link.yaml"],
        ["solve", ".", "-o", "project.yaml"],
        ["solve", ".", "-o", tmp_path / "gemm.yaml"],
        ["repair", "gemm.yaml", "--schedule", "schedule.yaml", "-o", "gemm.yaml"],
        ["repair", ".", "-o", "project.yaml"],
        ["export", ".", "--format", "json", "-o", "project.yaml"],
        ["export", ".", "--format", "json", "-o", "schedule.yaml"],
        ["export", "gemm.yaml", "--schedule", "schedule.yaml", "--format", "svg", "-o", "gemm.yaml"],
    ):
        code, out, err = twill(capsys, *arguments)
        assert (code, out) == (2, ""), arguments
        assert "-o: " in err and "is an input, and would be replaced" in err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["x" * 300, "loop/loop", "file/below"])
def test_a_path_that_nothing_can_be_at(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    case = KERNELS / "gemm.yaml"
    (tmp_path / "project.yaml").write_text(f"schema: twill.project/1\nname: x\ninput: {{ttgir: {name}}}\n")
    for arguments in (
        ["inspect", name],
        ["graph", name],
        ["graph", "."],
        ["graph", case, "--machine", f"{name}.yaml"],
        ["check", case, "--schedule", name],
        ["solve", case, "-o", name, "--objective", "ii"],
        ["export", case, "--format", "json", "-o", name, "--schedule", KERNELS / "schedules" / "gemm.yaml"],
    ):
        code, _, err = twill(capsys, *arguments)
        assert code == 3, (arguments, err)
        assert "error: " in err


def test_a_machine_of_the_command_line_is_not_told_at_the_project_s_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    project, gone = PROJECTS / "gemm_hopper", tmp_path / "gone.yaml"
    code, _, err = twill(capsys, "graph", project, "--machine", gone)
    assert (code, err) == (3, f"{gone}: error: --machine: there is no such file [unknown-machine]\n")
    code, _, err = twill(capsys, "graph", project, "--machine", "h1000")
    assert code == 2 and "--machine: there is no machine 'h1000' (known: b200, h100, " in err


def test_a_folder_without_a_project(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = twill(capsys, "graph", tmp_path)
    assert code == 3
    assert err.startswith(f"{tmp_path}: error: the folder has no project.yaml")
