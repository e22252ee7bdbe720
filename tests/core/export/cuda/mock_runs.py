"""Builds an export with the host compiler against the CPU mock and runs it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.export.cuda.batch import Case, checked_batch
from core.export.roles.places import ScheduledLoop
from core.ir.interpret import parameters
from core.ir.model import Module
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.read import load_schedule

ROOT = Path(__file__).parents[4]
SAMPLES = ROOT / "tests" / "data" / "ttgir"
PROJECTS = ROOT / "projects"
sys.path.insert(0, str(ROOT / "tests" / "core" / "ir" / "interpret"))
import kernel_cases  # noqa: E402
from case_parts import Tile  # noqa: E402

COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")


def kernel_of(name: str) -> str:
    """The function of a sample file."""
    return name.split("_sm")[0].removesuffix("_cta2")


def write_case(module: Module, name: str, folder: Path) -> None:
    """The batch file of a sample: its case, with what the interpreter makes of it."""
    case, kernel = kernel_cases.case_for(f"{name}.ttgir"), kernel_of(name)
    arguments = {p.name: value for p, value in zip(parameters(module, kernel), case.arguments, strict=True)}
    (folder / "cases.bin").write_bytes(checked_batch(module, kernel, [Case(name, arguments, case.grid)]))


def sized_case(kernel: str, sizes: dict[str, int], element: str) -> kernel_cases.Case:
    """The case of a kernel for tiles of other sizes than its own: more or fewer iterations."""
    return kernel_cases.CASES[kernel](Tile(sizes, element, frozenset(), np.random.default_rng(5)))


def scheduled(project: str) -> tuple[Module, ScheduledLoop]:
    """The module of a sample project, and its loop with its active schedule."""
    loaded = load_project(PROJECTS / project / "project.yaml")
    assert loaded.active is not None
    opened = open_project(loaded.for_schedule(loaded.active))
    schedule = load_schedule(loaded.schedules[loaded.active].file, opened.graph)
    assert opened.tiles is not None and opened.module is not None
    return opened.module, ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)


def build(folder: Path, options: Sequence[str] = ()) -> Path:
    """Compiles the folder's kernel; warnings are errors."""
    assert COMPILER is not None
    program = folder / "mock"
    command = [COMPILER, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable"]
    command += ["-Wno-unused-but-set-variable", "-Wno-unused-parameter", "-Wno-unknown-pragmas", *options]
    command += ["-DTWILL_MOCK", "-x", "c++", "-I.", "-pthread", "kernel.cu", "-o", str(program)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return program


def run_mock(folder: Path, seeds: int = 3) -> dict[str, Any]:
    """The answer for the only case of the folder."""
    (answer,) = run_all(folder, seeds)
    return answer


def run_one(folder: Path, seed: int) -> dict[str, Any]:
    """The answer for the only case of the folder, with one seed."""
    command = ["./mock", "--seed", str(seed), "--seeds", "1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in (0, 1) and done.stdout, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout)


def run_all(folder: Path, seeds: int = 3) -> list[dict[str, Any]]:
    """The answers for all cases of the folder."""
    command = ["./mock", "--seeds", str(seeds)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in (0, 1) and done.stdout, (done.returncode, done.stdout, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]
