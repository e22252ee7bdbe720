"""Every `pre` file for sm_90 of the corpus as CUDA: exported, compiled by nvcc, run in the CPU mock against the
interpreter, once in program order and once as the role program of a schedule; a table of results and holes.

  python -m tests.bench.cuda_corpus [-o TABLE.md] [--only WORD ...] [--no-nvcc] [--no-mock] [--keep FOLDER]
                                    [--schedules FOLDER] [--solve SECONDS]

`--schedules`: of the main loops, NAME.yaml each, under the default groups; with `--solve` those that lack are solved.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.diagnostics import InputError
from core.export.cuda.batch import Case, checked_batch
from core.export.cuda.folder import Exported, export_schedules, export_straight
from core.export.roles.places import ScheduledLoop
from core.ir.interpret import parameters
from core.ir.model import Module
from core.ir.source import load_module
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.read import load_schedule

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "core" / "ir" / "interpret"))
from kernel_cases import case_for  # noqa: E402

CORPUS = ROOT.parent / "shared" / "ttgir"
MACHINE = "h100"
NVCC = ("nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-I.", "-Xptxas", "-v")
MOCK = ("g++", "-std=c++17", "-O1", "-DTWILL_MOCK", "-x", "c++", "-I.", "-pthread", "kernel.cu", "-o", "mock")
SEEDS = 2


@dataclass
class Row:
    """What became of a file in one of the two ways."""

    name: str
    way: str
    export: str = ""
    nvcc: str = ""
    mock: str = ""
    holes: list[str] = field(default_factory=list[str])

    def cells(self) -> tuple[str, ...]:
        return self.name.removesuffix("_pre"), self.way, self.export, self.nvcc, self.mock, "; ".join(self.holes)


def kernel_of(name: str) -> str:
    return name.split("_sm")[0].removesuffix("_cta2")


def export(path: Path, way: str, folder: Path, schedules: Path | None) -> Exported:
    """Raises InputError."""
    if way == "program order":
        return export_straight(load_module(path), kernel_of(path.stem), folder)
    assert schedules is not None
    opened = open_project(load_project(path, MACHINE))
    schedule = load_schedule(schedules / f"{path.stem}.yaml", opened.graph)
    assert opened.tiles is not None and opened.module is not None
    return export_schedules(opened.module, [ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)], folder)


def run_file(row: Row, path: Path, folder: Path, schedules: Path | None, *, nvcc: bool, mock: bool) -> None:
    """Exports one file and tries it."""
    try:
        exported = export(path, row.way, folder, schedules)
    except InputError as problem:
        row.export = f"refused: {problem.diagnostics[0].message}"
        return
    row.export = f"{exported.file.shared_bytes} B"
    row.holes = [f"{hole.op} line {hole.line}: {hole.reason}" for hole in exported.file.holes]
    if nvcc:
        row.nvcc = compiled(folder)
    if mock and not row.holes:
        row.mock = mocked(load_module(path), path.stem, folder)


def compiled(folder: Path) -> str:
    command = [*NVCC, "-DTWILL_NO_DRIVER", "-cubin", "kernel.cu", "-o", "kernel.cubin"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    if done.returncode:
        return "error: " + next((line for line in lines if "error" in line), "")
    used = next((line.partition("Used ")[2].split(",")[0] for line in lines if "Used " in line), "")
    stack = next((line.strip() for line in lines if "stack frame" in line), "")
    quiet = stack.startswith("0 bytes stack frame, 0 bytes spill stores")
    warned = sorted({word.strip("():") for line in lines for word in line.split() if word.startswith("(C75")})
    return ", ".join(["ok", used, *([] if quiet else [stack]), *warned])


def mocked(module: Module, name: str, folder: Path) -> str:
    case, kernel = case_for(f"{name}.ttgir"), kernel_of(name)
    arguments = {p.name: value for p, value in zip(parameters(module, kernel), case.arguments, strict=True)}
    try:
        (folder / "cases.bin").write_bytes(checked_batch(module, kernel, [Case(name, arguments, case.grid)]))
    except InputError as problem:
        return f"not interpreted: {problem.diagnostics[0].message}"
    built = subprocess.run(MOCK, cwd=folder, capture_output=True, text=True, check=False)
    if built.returncode:
        return "error: " + next((line for line in built.stderr.splitlines() if "error" in line), "")
    command = ["./mock", "--seeds", str(SEEDS)]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return "more than 300 s"
    if not done.stdout:
        return f"exit {done.returncode} {done.stderr[:200]}"
    found = json.loads(done.stdout)
    errors = (
        [f"{key} {'NaN' if value is None else f'{value:.1e}'}" for key, value in found["relative_error"].items()]
        if ("relative_error" in found)
        else [found["failure"]]
    )
    return f"{'ok' if found['ok'] else 'WRONG'} {', '.join(errors)}"


def solve(path: Path, schedule: Path, seconds: float) -> None:
    command = [sys.executable, "-m", "core.cli", "solve", str(path), "--machine", MACHINE]
    command += ["--limit-s", str(seconds), "-o", str(schedule)]
    subprocess.run(command, capture_output=True, check=False, cwd=ROOT)


def table(rows: Sequence[Row]) -> str:
    lines = ["| file | way | shared memory | nvcc | mock | holes |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row.cells()) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "tests/bench/results/cuda_corpus.md")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--no-nvcc", action="store_true")
    parser.add_argument("--no-mock", action="store_true")
    parser.add_argument("--no-order", action="store_true", help="no program order")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--schedules", type=Path)
    parser.add_argument("--solve", type=float, default=0)
    arguments = parser.parse_args()
    rows: list[Row] = []
    for path in sorted(CORPUS.glob("*sm90*_pre.ttgir")):
        if arguments.only and not any(word in path.name for word in arguments.only):
            continue
        ways = [] if arguments.no_order else ["program order"]
        if arguments.schedules:
            schedule = arguments.schedules / f"{path.stem}.yaml"
            if not schedule.exists() and arguments.solve:
                solve(path, schedule, arguments.solve)
            ways += ["schedule"] if schedule.exists() else []
        for way in ways:
            started, row = time.monotonic(), Row(path.stem, way)
            folder = arguments.keep / way.replace(" ", "_") / path.stem if arguments.keep else Path(tempfile.mkdtemp())
            folder.mkdir(parents=True, exist_ok=True)
            nvcc, mock = not arguments.no_nvcc, not arguments.no_mock
            run_file(row, path, folder, arguments.schedules, nvcc=nvcc, mock=mock)
            rows.append(row)
            print(f"{time.monotonic() - started:.0f} s", " | ".join(row.cells()), flush=True)
            if not arguments.keep:
                shutil.rmtree(folder)
            arguments.output.write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
