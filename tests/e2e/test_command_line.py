"""The command line as a process: what it loads, what a closed pipe and Ctrl+C do to it."""

from __future__ import annotations

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
