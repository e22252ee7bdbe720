"""`twill sweep` with the real solver on small graphs: answers known by hand or proven, resume, cancel, exit codes."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from core.cli import main
from core.resources import data_folder

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "data" / "cases"
KERNELS = CASES / "kernels"
FIGURE_1 = data_folder("projects") / "paper_figure_1"


def twill(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `twill sweep`."""
    code = main(["sweep", *map(str, arguments)])
    output = capsys.readouterr()
    return code, output.out, output.err


def documents(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_registers_of_figure_1_and_resume(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The accumulator always lives: with one register no other value fits. With two, S and P may not live at once,
    which takes three cycles (S, P, O one after another); the figure's own II 2 needs three."""
    results, table, plot = tmp_path / "results.jsonl", tmp_path / "table.csv", tmp_path / "plot.svg"
    arguments = (FIGURE_1, "--over", "registers=3,2,1", "--resume", results)
    code, out, err = twill(capsys, *arguments, "--json", "-o", table)
    rows = documents(out)
    assert code == 0
    assert [row["values"] for row in rows] == [{"registers": 3}, {"registers": 2}, {"registers": 1}]
    assert [(row["status"], row["ii"]) for row in rows] == [("optimal", 2), ("optimal", 3), ("infeasible", None)]
    assert [(row["groups"], row["registers"]) for row in rows] == [(1, 3), (1, 2), (None, None)]
    assert rows[0]["length"] == 4
    assert err.count("\n") == 3
    with table.open() as file:
        assert [(line["values.registers"], line["ii"]) for line in csv.DictReader(file)] == [
            ("3", "2"),
            ("2", "3"),
            ("1", ""),
        ]

    written = results.read_bytes()
    monkeypatch.setattr("core.commands.sweep.local_workers", None)  # nothing is solved again
    code, again, err = twill(capsys, *arguments, "--json", "-o", plot)
    assert (code, again) == (0, out)
    assert err == f"3 of 3 points are answered in {results}\n"
    assert results.read_bytes() == written
    marks = [title.text for title in ElementTree.parse(plot).iter("{http://www.w3.org/2000/svg}title")]
    assert marks[1:] == ["registers=3: optimal, II 2", "registers=2: optimal, II 3", "registers=1: infeasible"]
    code, text, _ = twill(capsys, *arguments)
    assert [line.split()[:3] for line in text.splitlines()[1:]] == [
        ["3", "optimal", "2"],
        ["2", "optimal", "3"],
        ["1", "infeasible", "-"],
    ]


def test_resume_solves_what_is_new(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """II 1 in any case, but each cycle of hand-off makes the pipeline of a and b a cycle longer."""
    results = tmp_path / "results.jsonl"
    case = KERNELS / "deeper_at_ii_1.yaml"
    twill(capsys, case, "--over", "hand_off=0", "--resume", results, "--workers", "1")
    code, out, err = twill(capsys, case, "--json", "--over", "hand_off=5,0", "--resume", results, "--workers", "1")
    assert code == 0
    assert [(row["ii"], row["length"]) for row in documents(out)] == [(1, 7), (1, 2)]
    assert err.splitlines()[0] == f"1 of 2 points are answered in {results}"
    assert err.splitlines()[1].startswith("1/1 hand_off=5: optimal, II 1 (")
    assert len(results.read_text().splitlines()) == 3


def test_rings_of_a_matrix_product(capsys: pytest.CaptureFixture[str]) -> None:
    """The loads take the copy unit one after the other (256 cycles each), and so do the matrix ops on theirs: the first
    tile is held for 256 + 856 (latency of the second) + 256 + 320 (until the second op has read it) = 1688 cycles."""
    arguments = ("--json", "--over", "rings=1,3,4", "--objective", "ii")
    code, out, _ = twill(capsys, KERNELS / "gemm.yaml", *arguments)
    assert code == 0
    expected = [max(512, math.ceil(1688 / depth)) for depth in (1, 3, 4)]
    assert [(row["status"], row["ii"]) for row in documents(out)] == [("optimal", ii) for ii in expected]


def test_proven_answers_of_tiny_graphs_by_two_workers(capsys: pytest.CaptureFixture[str]) -> None:
    known = yaml.safe_load((CASES / "tiny" / "expected.yaml").read_text())["cases"]
    names = sorted(known)[:24]
    over = f"input={','.join(str(CASES / 'tiny' / f'{name}.yaml') for name in names)}"
    arguments = (CASES / "tiny" / "t000.yaml", "--over", over, "--max-ii", "6", "--objective", "ii", "--workers", "2")
    code, out, _ = twill(capsys, *arguments, "--json")
    rows = documents(out)
    assert code == 0
    assert [Path(row["values"]["input"]).stem for row in rows] == names
    assert [row["ii"] for row in rows] == [known[name]["least_ii"] for name in names]
    assert all((row["status"] == "infeasible") == (row["ii"] is None) for row in rows)


def test_no_answer_in_time_is_exit_code_4(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    arguments = ("--over", "registers=180", "--limit-s", "0.001", "--resume", results, "--json")
    for _ in range(2):
        code, out, err = twill(capsys, KERNELS / "fa_fwd_hopper_2x64.yaml", *arguments)
        (row,) = documents(out)
        assert (code, row["status"], row["ii"]) == (4, "unknown", None)
        assert "are answered" not in err


def test_a_broken_worker_is_exit_code_70_and_no_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(points: Any, *_: object) -> Any:
        yield points[0], ValueError("oops")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("core.commands.sweep.solve_points", broken)
    results = tmp_path / "results.jsonl"
    code, out, err = twill(capsys, FIGURE_1, "--json", "--over", "registers=3", "--resume", results)
    (row,) = documents(out)
    assert (code, row["status"], row["ii"], row["seconds"]) == (70, "failed", None, None)
    assert "registers=3: internal error: ValueError: oops" in err
    assert not results.exists()


MANY = ",".join(map(str, range(248, 148, -4)))
"""Registers: the first points are solved quickly, all of them take long."""


def running(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = stat.read_text().split(" ", 1)
        except OSError:
            continue  # it has ended meanwhile
        state, _, _, its_session = rest.rpartition(")")[2].split()[:4]
        if int(its_session) == session and state != "Z":
            found.append(int(pid))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts processes in /proc")
@pytest.mark.parametrize("how", ["Ctrl+C", "SIGTERM"])
def test_cancel_keeps_what_is_done_and_leaves_no_process(how: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    arguments = [str(KERNELS / "fa_fwd_hopper_2x64.yaml"), "--over", f"registers={MANY}", "--objective", "ii"]
    arguments += ["--workers", "2", "--json", "--resume", str(results)]
    with subprocess.Popen(
        [sys.executable, "-m", "core.cli", "sweep", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("1/25 registers=")
        assert len(running(process.pid)) >= 3
        if how == "Ctrl+C":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    rows = documents(out)
    assert process.returncode == 130
    assert 1 <= len(rows) < 25
    assert err.endswith(f"interrupted: {len(rows)} of 25 points are done\n")
    assert "Traceback" not in err
    _, *lines = documents(results.read_text())
    kept = {line["values"]["registers"]: line for line in lines}
    assert len(kept) == len(rows)
    for row in rows:
        assert row.items() <= kept[row["values"]["registers"]].items()
    deadline = time.monotonic() + 10
    while running(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)  # the interpreter's own tracker of resources leaves on its own
    assert running(process.pid) == []


def test_bad_usage_is_exit_code_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    case = str(KERNELS / "gemm.yaml")
    for arguments, word in (
        ([case], "--over"),
        ([case, "--over", "register=3"], "did you mean 'registers'?"),
        ([case, "--over", "groups.comput=1"], "did you mean 'compute'?"),
        ([case, "--over", "registers=3", "-o", "plot.png"], "-o: the name of the file ends in .csv or .svg"),
        ([case, "--over", "registers=3", "--workers", "0"], "--workers"),
        ([case, "--over", "registers=3", "--workers", "2", "--cluster", "localhost:8786"], "--workers: a cluster"),
        ([case, "--over", "registers=3", "--cluster", "some where"], "an address is HOST:PORT"),
        ([case, "--over", "registers=3", "--objective", "speed"], "--objective: 'speed'"),
        ([case, "--over", "registers=3", "--schedule", "main"], "there is no schedule 'main'"),
    ):
        code, out, err = twill(capsys, *arguments)
        assert (code, out) == (2, ""), arguments
        assert word in err, arguments


def test_bad_files_are_exit_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bad = ROOT / "tests" / "data" / "bad" / "truncated.ttgir"
    code, out, err = twill(capsys, KERNELS / "gemm.yaml", "--json", "--over", f"input={bad}")
    assert code == 3
    assert err.startswith(f"{bad}:60:")
    assert documents(out)[0]["input"] == str(KERNELS / "gemm.yaml")
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    code, _, err = twill(capsys, KERNELS / "gemm.yaml", "--over", "registers=3", "--resume", notes)
    assert (code, notes.read_text()) == (3, "mine")
    assert err.startswith(f"{notes}:1: error: this is no results file")
    code, _, err = twill(capsys, FIGURE_1, "--over", "registers=3", "--resume", tmp_path)
    assert code == 3
    assert err.startswith(f"{tmp_path}: error: cannot read the file")


def test_help_lists_the_axes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = twill(capsys, "--help")
    assert code == 0
    assert "\n  groups.KIND      warp groups of a kind at most\n" in out
