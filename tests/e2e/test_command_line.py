"""The command line as a process: what it loads, what a closed pipe and Ctrl+C do to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECTS = ROOT / "projects"
HEAVY = ("ortools", "z3", "networkx", "triton", "PySide6", "numpy", "pydantic")


def test_help_loads_no_solver() -> None:
    code = "import sys; from core.cli import main; main(['--help']); print('LOADED', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    help_text, _, modules = run.stdout.partition("LOADED")
    assert "solve" in help_text
    assert not set(HEAVY) & set(modules.split())


def test_inspect_as_a_module() -> None:
    command = [sys.executable, "-m", "core.cli", "inspect", str(PROJECTS / "gemm_hopper" / "input.ttgir")]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "target cuda:90; functions: gemm_tma" in run.stdout


def test_a_closed_pipe_is_quiet() -> None:
    files = " ".join(str(path) for path in sorted(PROJECTS.glob("*/input.ttgir")))
    command = f"'{sys.executable}' -m core.cli inspect --json {files} {files} {files} | head -c 10"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stderr == ""
    assert len(run.stdout) == 10


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    source = tmp_path / "naïve ü.ttgir"
    source.write_bytes((PROJECTS / "gemm_hopper" / "input.ttgir").read_bytes())
    module = f"'{sys.executable}' -m core.cli inspect --json"
    for command, code, out, err in (
        (f"{module} '{source}' >/dev/full", 2, "", "No space left on device"),
        (f"{module} '{source}' >&-", 0, "", ""),
        (f"{module} missing.ttgir >&- 2>&-", 3, "", ""),
        (f"{module} missing.ttgir 2>&-", 3, '{"input": "missing.ttgir", ', ""),
        (f"PYTHONIOENCODING=ascii {module} '{source}'", 0, '{"input": ', ""),
        (f"PYTHONIOENCODING=ascii {module} '{source}x'", 3, '{"input": ', "na\\xefve"),
    ):
        run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=False)
        assert run.returncode == code, (command, run.stderr)
        assert run.stdout.startswith(out)
        for line in run.stdout.splitlines():
            assert json.loads(line)["input"]
        assert err in run.stderr
        assert "internal error" not in run.stderr


def test_ctrl_c_ends_quietly_and_leaves_no_half_written_file(tmp_path: Path) -> None:
    """While an input is solved it brings what there is of it; before, it ends the program."""
    projects = [str(PROJECTS / name) for name in ("paper_figure_1", "attention_forward_hopper")]
    command = [sys.executable, "-m", "core.cli", "solve", "--json", *projects, "-o", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["status"] == "optimal"  # the second input is being solved now
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    written = ["paper_figure_1"]
    if out:
        status = json.loads(out)["status"]
        assert (process.returncode, err) == ({"unknown": 4, "feasible": 0}[status], "")
        written += ["attention_forward_hopper"] if status == "feasible" else []
    else:
        assert (process.returncode, err) == (130, "interrupted\n")
    expected = {f"{name}{end}" for name in written for end in (".yaml", ".record.yaml")}
    assert {path.name for path in tmp_path.iterdir()} == expected


def test_processes_agree_on_every_byte_of_a_schedule(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "core.cli", "solve", str(PROJECTS / "gemm_blackwell"), "-o", f"{seed}.yaml"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "1.yaml").read_bytes() == (tmp_path / "2.yaml").read_bytes()
