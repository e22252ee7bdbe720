"""Exports built with -DTWILL_TRACE, run on the CPU: each op of each iteration once, on its group, in the plan's order;
and `twill run --trace` with a compiler that makes the CPU's program."""

from __future__ import annotations

import json
import stat
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from mock_runs import COMPILER, PROJECTS, build, needs_compiler, run_mock, scheduled, write_case
from readback import is_free, kernel

from core.cli import main
from core.export.cuda.batch import Case, checked_batch
from core.export.cuda.folder import export_program, export_schedules
from core.export.marks_file import read_marks
from core.export.measured import compared

pytestmark = needs_compiler

ITERATIONS = 7


def export_product(folder: Path) -> None:
    """The matrix product, and a call with seven iterations."""
    module, loop = scheduled("gemm_hopper")
    export_schedules(module, [loop], folder)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype(np.float64) for shape in ((128, 64 * ITERATIONS), (64 * ITERATIONS, 128)))
    arguments = {"a_desc": a, "b_desc": b, "c_desc": np.zeros((128, 128)), "M": 128, "N": 128, "K": 64 * ITERATIONS}
    (folder / "cases.bin").write_bytes(checked_batch(module, "gemm_tma", [Case("long", arguments, (1,))]))


def test_marks_are_the_schedule_s_issues(tmp_path: Path) -> None:
    export_product(tmp_path)
    build(tmp_path, ["-DTWILL_TRACE"])
    subprocess.run(["./mock", "--trace", "marks.json"], cwd=tmp_path, check=True, capture_output=True)
    _, (expected,) = kernel("gemm_hopper")
    marks = read_marks(tmp_path / "marks.json", expected.loop.tiles.loop.index)
    assert marks.clock == "changes"
    found: set[tuple[str, int]] = set()
    for role, seen in marks.roles.items():
        times = [expected.starts[mark.op] + expected.ii * mark.iteration for mark in seen]
        assert times == sorted(times)
        assert all(expected.groups[mark.op] == role for mark in seen)
        assert all(a.end <= b.begin for a, b in pairwise(seen))
        found |= {(mark.op, mark.iteration) for mark in seen}
    ops = [op for op in expected.starts if not is_free(expected, op)]
    assert found == {(op, iteration) for op in ops for iteration in range(ITERATIONS)}
    loop = expected.loop
    assert compared(loop.graph, loop.schedule, loop.fusion, marks).iterations == ITERATIONS


def test_loops_of_one_kernel_have_marks_of_their_own(tmp_path: Path) -> None:
    program, loops = kernel("layer_norm_hopper")
    export_program(program, tmp_path)
    write_case(program.module, "layer_norm_sm90_n1024-bf16_v36_pre", tmp_path)
    build(tmp_path, ["-DTWILL_TRACE"])
    subprocess.run(["./mock", "--trace", "marks.json"], cwd=tmp_path, check=True, capture_output=True)
    for expected in loops:
        marks = read_marks(tmp_path / "marks.json", expected.loop.tiles.loop.index)
        seen = {mark.op for of_role in marks.roles.values() for mark in of_role}
        assert seen == {op for op in expected.starts if not is_free(expected, op)}


def test_without_the_macro_there_are_no_marks(tmp_path: Path) -> None:
    export_product(tmp_path)
    build(tmp_path)
    assert run_mock(tmp_path, 1)["ok"]
    done = subprocess.run(
        ["./mock", "--trace", "marks.json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3 and "-DTWILL_TRACE" in done.stderr


NVCC = """#!/bin/sh
if [ "$1" = --version ]; then echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0; fi
for option do
  shift
  case "$option" in
    -gencode=* | -Xptxas=* | -O3) ;;
    *.cu) set -- "$@" -x c++ "$option" ;;
    *) set -- "$@" "$option" ;;
  esac
done
exec {compiler} -DTWILL_MOCK -pthread "$@"
"""


def test_the_command_writes_the_marks_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, tools, marks = tmp_path / "export", tmp_path / "tools" / "bin", tmp_path / "marks.json"
    export_product(folder)
    tools.mkdir(parents=True)
    for name, text in (
        ("nvcc", NVCC.format(compiler=COMPILER)),
        ("nvidia-smi", "#!/bin/sh\necho 'NVIDIA H200, 9.0, 580.159.04'\n"),
    ):
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("CUDA_HOME", str(tools.parent))
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    assert main(["run", str(folder), "--trace", str(marks), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["device"] == "NVIDIA H200" and answer["ok"]
    assert set(answer["cycles_per_iteration"]) == {"0"} and answer["cycles_per_iteration"]["0"] > 0
    output = tmp_path / "trace.json"
    project = str(PROJECTS / "gemm_hopper")
    assert main(["export", project, "--format", "trace", "--measured", str(marks), "-o", str(output)]) == 0
    events = json.loads(output.read_text(encoding="utf-8"))["traceEvents"]
    assert sum(event.get("cat") == "seen" for event in events) == 3 * ITERATIONS
