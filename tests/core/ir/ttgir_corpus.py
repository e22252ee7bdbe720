"""Sample TTGIR files and what Triton's own parser counted in them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from core.ir.inspect import inspect_module
from core.ir.loops import inside
from core.ir.model import Module

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data"
SAMPLES = DATA / "ttgir"
_BESIDE = ROOT.parent / "shared" / "ttgir"
WHOLE_CORPUS = _BESIDE if _BESIDE.is_dir() else None


def load_yaml(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def sample_rows() -> list[dict[str, Any]]:
    return load_yaml(SAMPLES / "manifest.yaml")


def corpus_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a whole corpus in the form of the samples' manifest."""
    uses = load_yaml(folder / "manifest_uses.yaml")
    rows = load_yaml(folder / "manifest.yaml")["files"]
    for row in rows:
        row["target"] = "cuda:" + row["arch"].removeprefix("sm_")
        row["loops"] = [loop | use for loop, use in zip(row["loops"], uses.get(row["file"], []), strict=True)]
    return rows


def differences(module: Module, row: dict[str, Any]) -> list[str]:
    """In what the module differs from its row."""
    report = inspect_module(module)
    found = []
    if report.ops_total != row["ops"]:
        found.append(f"ops: {Counter(report.ops_total)} for {row['ops']}")
    if report.target != row["target"]:
        found.append(f"target {report.target}")
    wanted = [
        (loop["line"], loop["op"], loop["depth"], loop["uses"], loop["internal"], loop["carried"], loop["ops_nested"])
        for loop in row["loops"]
    ]
    given = [
        (loop.line, loop.kind, loop.depth, loop.uses, loop.internal, loop.carried, sum(loop.ops.values()))
        for loop in report.loops
    ]
    if given != wanted:
        found.append(f"loops: {given} for {wanted}")
    ends = [module.text.count("\n", 0, loop.operation.span.end) + 1 for loop in module.loops]
    if ends != [loop["end_line"] for loop in row["loops"]]:
        found.append(f"last lines of loops: {ends}")
    if any(
        sum(1 for _ in inside(loop)) != sum(entry.ops.values())
        for loop, entry in zip(module.loops, report.loops, strict=True)
    ):
        found.append("ops inside loops")
    main = row["main_loop"]
    if (report.main_loop is None) != (main is None) or (main and report.main_loop not in main["candidates"]):
        found.append(f"main loop {report.main_loop} for {main}")
    if main and report.main_loop == main["index"] and report.loops[main["index"]].ops != main["ops_nested"]:
        found.append("ops of the main loop")
    found += [f"unknown op: {entry.message}" for entry in report.diagnostics if entry.code == "unknown-op"]
    return found
