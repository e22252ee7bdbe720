"""Exports of the corpus as one batch for a machine with a Hopper GPU: one upload, one run.

  python -m tests.bench.cuda_batch FOLDER [--only WORD ...] [--schedules NAME=FOLDER ...]
  (there) python3 FOLDER/run.py [--mock] [--sanitize PROGRAM ...] > results.jsonl
  python -m tests.bench.cuda_batch --read results.jsonl [-o TABLE.md]

Each file is exported in program order, and once more for each folder of schedules: NAME.yaml of the main loop, beside
it the project NAME/project.yaml if it has groups of its own. What cannot be exported is there with its reason.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.diagnostics import InputError
from core.export.cuda.batch import Case, checked_batch
from core.export.cuda.folder import Exported, export_schedules, export_straight
from core.export.cuda.options import Options
from core.export.roles.places import ScheduledLoop
from core.ir.interpret import parameters
from core.ir.model import Module
from core.ir.source import load_module
from core.project.load import load_project
from core.project.opened import open_project
from core.schedule.read import load_schedule

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "core" / "ir" / "interpret"))
import kernel_cases  # noqa: E402

CORPUS = ROOT.parent / "shared" / "ttgir"
MACHINE = "h100"
ORDER = "program order"
RUNTIME = ("twill.cuh", "driver.hpp", "twill")


def small_persistent(t: Any) -> Any:
    """Fewer tiles than programs, so that the batch stays small."""
    m, n, k = 3 * t.m - 40, 2 * t.n + 8, t.k + 8
    a, b = t.numbers(m, k), t.numbers(k, n)
    return kernel_cases.Case([a, b, np.zeros((m, n)), m, n, k], (132,), {2: a @ b})


def kernel_of(name: str) -> str:
    return name.split("_sm")[0].removesuffix("_cta2")


def exports(path: Path, folder: Path, schedules: dict[str, Path]) -> Iterator[tuple[str, Path, Exported | str]]:
    """Each way in which a file is exported: its name, where to, and what came of it."""
    place = folder / f"{path.stem}--order"
    yield ORDER, place, attempt(partial(export_straight, load_module(path), kernel_of(path.stem), place))
    for name, known in schedules.items():
        schedule = known / f"{path.stem}.yaml"
        if not schedule.exists():
            continue
        for persistent in (False, True):
            way = f"{name}, persistent" if persistent else name
            place = folder / f"{path.stem}--{way.replace(', ', '-').replace(' ', '_')}"
            yield way, place, attempt(partial(scheduled, path, schedule, place, Options(persistent=persistent)))


def scheduled(path: Path, schedule: Path, place: Path, options: Options) -> Exported:
    own = schedule.parent / path.stem / "project.yaml"
    opened = open_project(load_project(own) if own.exists() else load_project(path, MACHINE))
    assert opened.tiles is not None and opened.module is not None
    loop = ScheduledLoop(opened.tiles, opened.graph, load_schedule(schedule, opened.graph), opened.fusion)
    return export_schedules(opened.module, [loop], place, options)


def attempt(export: Callable[[], Exported]) -> Exported | str:
    try:
        return export()
    except InputError as problem:
        return problem.diagnostics[0].message


def batch_of(module: Module, name: str) -> bytes | str:
    """The calls of a file's kernel, or why the interpreter refuses it."""
    kernel, case = kernel_of(name), kernel_cases.case_for(f"{name}.ttgir")
    arguments = {p.name: value for p, value in zip(parameters(module, kernel), case.arguments, strict=True)}
    try:
        return checked_batch(module, kernel, [Case(name, arguments, case.grid)])
    except InputError as problem:
        return f"not interpreted: {problem.diagnostics[0].message}"


def write(folder: Path, only: Sequence[str], schedules: dict[str, Path]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "cases").mkdir(parents=True)
    programs: list[dict[str, Any]] = []
    for path in sorted(CORPUS.glob("*sm90*_pre.ttgir")):
        if only and not any(word in path.name for word in only):
            continue
        cases = batch_of(load_module(path), path.stem)
        if isinstance(cases, bytes):
            (folder / "cases" / path.stem).write_bytes(cases)
        for way, place, found in exports(path, folder, schedules):
            row: dict[str, Any] = {"file": path.stem, "way": way, "folder": place.name}
            if isinstance(found, str):
                row["refused"] = found
            else:
                row["shared_bytes"] = found.file.shared_bytes
                row["holes"] = [f"{hole.op} line {hole.line}: {hole.reason}" for hole in found.file.holes]
                for name in RUNTIME:
                    runtime, own = folder / "runtime" / name, place / name
                    runtime.parent.mkdir(exist_ok=True)
                    if not runtime.exists():
                        own.rename(runtime)
                    elif own.is_dir():
                        shutil.rmtree(own)
                    else:
                        own.unlink()
            row["cases"] = "" if isinstance(cases, bytes) else cases
            programs.append(row)
    (folder / "programs.json").write_text(json.dumps(programs, indent=1), encoding="utf-8")
    shutil.copy(Path(__file__).with_name("cuda_batch_run.py"), folder / "run.py")


def table(rows: Sequence[dict[str, Any]]) -> str:
    lines = ["| file | way | shared memory | nvcc | CPU mock | H200 | holes |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        cells = [row["file"].removesuffix("_pre"), row["way"]]
        if "refused" in row:
            cells += [f"refused: {row['refused']}", "", "", "", ""]
        else:
            cells += [f"{row['shared_bytes']} B", row.get("nvcc", ""), row.get("mock", row["cases"])]
            cells += [row.get("gpu", ""), "; ".join(row["holes"])]
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--schedules", nargs="*", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--read", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "tests/bench/results/cuda_corpus.md")
    arguments = parser.parse_args()
    kernel_cases.CASES["gemm_persistent"] = small_persistent
    if arguments.read:
        text = arguments.read.read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        arguments.output.write_text(table(rows), encoding="utf-8")
    else:
        schedules = dict(entry.split("=", 1) for entry in arguments.schedules)
        write(arguments.folder, arguments.only, {name: Path(folder) for name, folder in schedules.items()})


if __name__ == "__main__":
    main()
