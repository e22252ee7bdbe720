"""Every `pre` file for sm_90 of the corpus as CUDA: exported, compiled by nvcc, run in the CPU mock against the
interpreter; a table of results and holes.

  python -m tests.bench.cuda_corpus [-o TABLE.md] [--only WORD ...] [--no-nvcc] [--no-mock] [--keep FOLDER]
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
from core.export.cuda.folder import export_straight
from core.ir.interpret import parameters
from core.ir.source import load_module

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "core" / "ir" / "interpret"))
from kernel_cases import case_for  # noqa: E402

CORPUS = ROOT.parent / "shared" / "ttgir"
NVCC = ("nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-I.", "-Xptxas", "-v")
MOCK = ("g++", "-std=c++17", "-O2", "-DTWILL_MOCK", "-x", "c++", "-I.", "-pthread", "kernel.cu", "-o", "mock")


@dataclass
class Row:
    """What became of a file."""

    name: str
    export: str = ""
    nvcc: str = ""
    mock: str = ""
    holes: list[str] = field(default_factory=list[str])


def function_of(name: str) -> str:
    return name.split("_sm")[0].removesuffix("_cta2")


def run_file(path: Path, folder: Path, *, nvcc: bool, mock: bool) -> Row:
    """Exports one file and tries it."""
    row = Row(path.name)
    module = load_module(path)
    name = function_of(path.name)
    try:
        exported = export_straight(module, name, folder).file
    except InputError as problem:
        row.export = f"refused: {problem.diagnostics[0].message}"
        return row
    row.export = f"yes, {exported.shared_bytes} B"
    row.holes = [f"{hole.op} line {hole.line}: {hole.reason}" for hole in exported.holes]
    if nvcc:
        row.nvcc = compiled(folder)
    if mock and not exported.holes:
        row.mock = mocked(module, name, path, folder)
    return row


def compiled(folder: Path) -> str:
    done = subprocess.run(
        [*NVCC, "-DTWILL_NO_DRIVER", "-cubin", "kernel.cu", "-o", "kernel.cubin"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    text = done.stdout + done.stderr
    if done.returncode:
        return "error: " + next((line for line in text.splitlines() if "error" in line), text[:200])
    used = next((line.partition("Used ")[2].split(",")[0] for line in text.splitlines() if "Used " in line), "")
    stack = next((line.strip() for line in text.splitlines() if "stack frame" in line), "")
    quiet = stack.startswith("0 bytes stack frame, 0 bytes spill stores")
    warned = [word for word in text.split() if word.startswith("(C75")]
    return f"ok, {used}" + ("" if quiet else f", {stack}") + (f", {' '.join(warned)}" if warned else "")


def mocked(module, name: str, path: Path, folder: Path) -> str:
    case = case_for(path.name)
    given = parameters(module, name)
    arguments = {parameter.name: value for parameter, value in zip(given, case.arguments, strict=True)}
    try:
        (folder / "cases.bin").write_bytes(checked_batch(module, name, [Case(path.stem, arguments, case.grid)]))
    except InputError as problem:
        return f"not interpreted: {problem.diagnostics[0].message}"
    built = subprocess.run(MOCK, cwd=folder, capture_output=True, text=True, check=False)
    if built.returncode:
        return "error: " + next((line for line in built.stderr.splitlines() if "error" in line), "")
    try:
        done = subprocess.run(
            ["./mock", "--seeds", "2"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        return "more than 300 s"
    if not done.stdout:
        return f"exit {done.returncode} {done.stderr[:200]}"
    found = json.loads(done.stdout)
    errors = ", ".join(
        f"{key} {value:.1e}" if value is not None else f"{key} NaN"
        for key, value in found.get("relative_error", {}).items()
    )
    return f"{'ok' if found['ok'] else 'WRONG'} {errors}{found.get('failure', '')}"


def table(rows: Sequence[Row]) -> str:
    lines = ["| file | exported | nvcc | mock | holes |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        cells = (row.name.removesuffix("_pre.ttgir"), row.export, row.nvcc, row.mock, "; ".join(row.holes))
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "tests/bench/results/cuda_corpus.md")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--no-nvcc", action="store_true")
    parser.add_argument("--no-mock", action="store_true")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    rows: list[Row] = []
    for path in sorted(CORPUS.glob("*sm90*_pre.ttgir")):
        if arguments.only and not any(word in path.name for word in arguments.only):
            continue
        started = time.monotonic()
        folder = arguments.keep / path.stem if arguments.keep else Path(tempfile.mkdtemp())
        folder.mkdir(parents=True, exist_ok=True)
        row = run_file(path, folder, nvcc=not arguments.no_nvcc, mock=not arguments.no_mock)
        rows.append(row)
        cells = (row.name, row.export, row.nvcc, row.mock, "; ".join(row.holes))
        print(f"{time.monotonic() - started:.0f} s", " | ".join(cells), flush=True)
        if not arguments.keep:
            shutil.rmtree(folder)
        arguments.output.write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
