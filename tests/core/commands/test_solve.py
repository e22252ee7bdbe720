"""`twill solve`: verdicts, exit codes, files, and the same bytes in every run."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.cli import main
from core.graph.read import load_graph
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.check import check
from core.schedule.read import load_schedule
from core.solve.events import Event, Incumbent

PROJECTS = data_folder("projects")
KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"
FIGURE = PROJECTS / "paper_figure_1"


def solve(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, the JSON documents, and standard error."""
    code = main(["solve", "--json", *(str(argument) for argument in arguments)])
    output = capsys.readouterr()
    return code, [json.loads(line) for line in output.out.splitlines()], output.err


def test_figure_1_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    code, (document,), err = solve(capsys, FIGURE)
    assert (code, err) == (0, "")
    assert (document["status"], document["ii"], document["length"]) == ("optimal", 2, 4)
    assert document["proved_lower_bound"] == 2
    starts = {op: place["start"] for op, place in document["schedule"]["ops"].items()}
    assert starts["o"] - starts["s"] == 3
    assert starts["p"] - starts["s"] in (1, 2)
    (group,) = document["groups"]
    assert group["max_live_registers"] == 3
    assert set(group["ops"]) == {"s", "p", "o"}
    assert document["levels"][0]["name"] == "ii"
    for entry in document["ii_trail"]:
        assert set(entry) == {"ii", "verdict", "seconds", "by", "confirmed_by", "horizon", "proof"}


def test_infeasible_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, (document,), _ = solve(capsys, FIGURE, "--ii", "1")
    assert (code, document["status"], document["ii"], document["schedule"]) == (1, "infeasible", None, None)


def test_time_out_is_exit_code_4(capsys: pytest.CaptureFixture[str]) -> None:
    code, (document,), _ = solve(capsys, KERNELS / "fa_fwd_hopper_1x128.yaml", "--limit-s", "0.001")
    assert (code, document["status"], document["schedule"]) == (4, "unknown", None)


def test_several_inputs_answer_in_order_with_the_worst_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, documents, err = solve(capsys, FIGURE, KERNELS / "missing.yaml", FIGURE, "--ii", "1")
    assert code == 3
    assert [document.get("status") for document in documents] == ["infeasible", None, "infeasible"]
    assert "missing.yaml: error" in err


def test_files_of_several_inputs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    case = KERNELS / "deeper_at_ii_1.yaml"
    code, documents, _ = solve(capsys, FIGURE, case, "-o", tmp_path / "out")
    assert code == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "paper_figure_1.yaml",
        "paper_figure_1.record.yaml",
        "deeper_at_ii_1.yaml",
        "deeper_at_ii_1.record.yaml",
    }
    graph = load_graph(case)
    schedule = load_schedule(tmp_path / "out" / "deeper_at_ii_1.yaml", graph)
    assert check(graph, schedule).legal
    assert (schedule.ii, documents[1]["ii"], documents[1]["length"]) == (1, 1, 3)
    record = yaml.safe_load((tmp_path / "out" / "deeper_at_ii_1.record.yaml").read_text())
    assert (record["schedule"], record["status"], record["ii"]) == ("deeper_at_ii_1.yaml", "optimal", 1)
    assert record["versions"].keys() == {"twill-explorer", "ortools", "z3-solver", "python"}


def test_a_folder_of_one_input_is_written_with_a_slash(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, (document,), _ = solve(capsys, FIGURE, "--objective", "ii", "-o", f"{tmp_path / 'new'}/")
    assert (code, document["schedule_file"]) == (0, (tmp_path / "new" / "paper_figure_1.yaml").as_posix())
    assert (tmp_path / "new" / "paper_figure_1.yaml").is_file()


@pytest.mark.parametrize("place", ["file/below/out.yaml", "long" * 100 + "/out.yaml", "taken/"])
def test_a_place_that_cannot_be_written_is_told_before_the_solve(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("solved for nothing")

    monkeypatch.setattr("core.solve.solve.answer", never)
    (tmp_path / "file").touch()
    (tmp_path / "taken" / "paper_figure_1.yaml").mkdir(parents=True)
    code, (document,), err = solve(capsys, FIGURE, "-o", f"{tmp_path}/{place}")
    assert (code, document["diagnostics"][0]["code"]) == (3, "cannot-write")
    assert "cannot write the file" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]


@pytest.mark.parametrize("folder", ["paper_figure_1", "gemm_hopper"])
def test_the_same_bytes_in_every_run(capsys: pytest.CaptureFixture[str], tmp_path: Path, folder: str) -> None:
    for name in ("first", "second"):
        assert solve(capsys, PROJECTS / folder, "-o", tmp_path / f"{name}.yaml")[0] == 0
    first = (tmp_path / "first.yaml").read_bytes()
    assert first == (tmp_path / "second.yaml").read_bytes()
    graph = open_project(load_project(PROJECTS / folder)).graph
    assert check(graph, load_schedule(tmp_path / "first.yaml", graph)).legal


def test_conditions_change_the_answer_and_are_recorded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    case, output = KERNELS / "gemm.yaml", tmp_path / "gemm.yaml"
    options = ("--objective", "ii", "--seed", "3", "-o", output)
    code, (document,), _ = solve(capsys, case, *options)
    assert (code, document["ii"]) == (0, 512)
    assert "conditions" not in yaml.safe_load((tmp_path / "gemm.record.yaml").read_text())
    code, (document,), _ = solve(capsys, case, *options, "--without", "unit")
    assert (code, document["ii"]) == (0, 256)
    record = yaml.safe_load((tmp_path / "gemm.record.yaml").read_text())
    assert record["conditions"] == {"without": ["unit"]}
    assert (record["limits"]["seed"], record["limits"]["objective"]) == (3, ["ii"])
    code, (document,), _ = solve(capsys, case, "--groups", "compute=0", "--objective", "ii")
    assert (code, document["status"]) == (1, "infeasible")
    code, (document,), _ = solve(capsys, case, "--registers", "64", "--objective", "ii")
    assert (code, document["status"]) == (1, "infeasible")


def test_several_optima(capsys: pytest.CaptureFixture[str]) -> None:
    case = KERNELS / "fa_fwd_hopper_1x64.yaml"
    options = ("--ii", "1424", "--objective", "ii,length")
    code, (document,), _ = solve(capsys, case, "--best", "9", *options)
    assert (code, document["schedules_complete"]) == (0, True)
    assert document["schedules"][0] == document["schedule"]
    orders = set[tuple[str, ...]]()
    for schedule in document["schedules"]:
        starts = {op: place["start"] % document["ii"] for op, place in schedule["ops"].items()}
        orders.add(tuple(sorted(("cast0", "sum0", "rescale0"), key=lambda op: (starts[op] - starts["max0"]) % 1424)))
    assert len(orders) == len(document["schedules"]) == 2
    _, (document,), _ = solve(capsys, case, *options)
    assert "schedules" not in document
    assert main(["solve", str(case), "--best", "2", *options]) == 0
    assert "structurally different optima: 2; there are no more" in capsys.readouterr().out


def test_every_optimum_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    case = KERNELS / "fa_fwd_hopper_1x64.yaml"
    options = ("--ii", "1424", "--objective", "ii,length")
    output = tmp_path / "best.yaml"
    code, (document,), _ = solve(capsys, case, "--best", "9", *options, "-o", output)
    files = [tmp_path / "best.yaml", tmp_path / "best.2.yaml"]
    assert code == 0
    assert document["schedule_file"] == str(output)
    assert document["schedule_files"] == [str(file) for file in files]
    assert [yaml.safe_load(file.read_text()) for file in files] == document["schedules"]
    for file in files:
        assert main(["check", str(case), "--schedule", str(file)]) == 0
        record = yaml.safe_load(file.with_suffix(".record.yaml").read_text())
        assert (record["schedule"], record["limits"]["best"]) == (file.name, 9)
    capsys.readouterr()
    assert main(["solve", str(case), "--best", "2", *options, "-o", str(output)]) == 0
    assert f"written: {files[0].as_posix()}, {files[1].as_posix()}\n" in capsys.readouterr().out
    other = tmp_path / "best.2.yaml"
    assert main(["solve", str(output), str(other), "--best", "2", "-o", str(tmp_path / "out")]) == 2
    assert "two inputs would have the same file name" in capsys.readouterr().err


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_brings_the_best_so_far(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    def press(event: Event) -> None:
        if isinstance(event, Incumbent):
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("core.commands.solve._ignore", press)
    long = KERNELS / "fa_fwd_blackwell_2x128__2_groups.yaml"
    code, documents, err = solve(capsys, long, FIGURE, "-o", tmp_path)
    assert (code, err) == (130, "interrupted\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if times == 2:
        assert documents == [] and list(tmp_path.iterdir()) == []
        return
    (document,) = documents  # the second input is left out
    assert document["status"] == "feasible" and document["ii"] > document["proved_lower_bound"]
    assert main(["check", str(long), "--schedule", document["schedule_file"]]) == 0
    capsys.readouterr()
    code, (document,), err = solve(capsys, long)
    assert (code, err, document["status"]) == (0, "", "feasible")


def test_text_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(FIGURE)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("figure 1 of the paper: optimal, II 2, length 4, ")
    for words in ("critical recurrence: o -> o", "tensor_core 2", "verdict", "compute"):
        assert words in text
