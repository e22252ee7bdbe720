"""The table of what a batch of exports did on a machine with a GPU, from the lines that its `run.py` wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.report import table

Row = Mapping[str, Any]
CALLS = ("small", "long")
MOST_ULPS = 4.0
NOTES = (
    "Calls: for each output the relative error by Frobenius norms against the interpreter with the casts of the text, "
    "then by how many units in its last place the worst element is off beyond what that bound allows an element of "
    "mean size. Right: the first at most 1e-3 (f16), 4e-3 (bf16) or 2e-5 (f32 all the way; reasons in "
    f"`core/export/cuda/batch.py`), the second at most {MOST_ULPS:.0f}, and all numbers finite. The long call's loop "
    "fills every slot of every ring twice and goes on for three more iterations. Quick schedules are not made to keep "
    "registers low: spills and C75xx there fail `twill compile`."
)


def read(results: Path) -> str:
    """The whole page."""
    lines = results.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    about = next(row for row in rows if "about" in row)
    programs = sorted((row for row in rows if "way" in row), key=lambda row: ("_sm90_" in row["file"], row["program"]))
    looks = [row for row in rows if "tool" in row]
    parts = ["# The exports for sm_90a on a GPU", head(about), summary(programs, looks)]
    parts.append(table(("file", "way", "shared memory", "nvcc", "small call", "long call", "holes"), cells(programs)))
    parts.append(NOTES)
    if looks:
        said = "The smallest file of each kernel, and the projects. Errors as the tools count them."
        parts += ["# compute-sanitizer", said, sanitized(programs, looks)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def head(about: Row) -> str:
    said = about["about"]
    release = re.search(r"V[\d.]+", said["nvcc"])
    where = (
        "the CPU mock" if about["mock"] else f"{said['gpu'] or 'no GPU'}, nvcc {release.group() if release else '?'}"
    )
    return f"`python -m tests.bench.cuda_batch`, {about['date']}, {where}."


def summary(programs: Sequence[Row], looks: Sequence[Row]) -> str:
    built = [row for row in programs if row.get("nvcc") == "ok"]
    calls = [one for row in programs for one in row.get("runs", {}).items()]
    clean = sum(not (row["stack"] or row["spilled"] or row["messages"]) for row in built)
    counts = {
        "exports": len(programs),
        "refused with the reason": sum("refused" in row for row in programs),
        "built by nvcc": len(built),
        "of them without spills, stack and C75xx": clean,
        "with holes": sum(bool(row.get("holes")) for row in programs),
        "run": sum(bool(row.get("runs")) for row in programs),
        "right in all calls": sum(right(row) for row in programs),
    }
    for kind in CALLS:
        of_kind = [answer for name, answer in calls if name == kind]
        counts[f"{kind} calls right, of {len(of_kind)}"] = sum(answer.get("ok") is True for answer in of_kind)
    for column in columns(looks):
        of_column = [row for row in looks if key(row) == column]
        counts[f"{name_of(column)} clean, of {len(of_column)}"] = sum(is_clean(row["said"]) for row in of_column)
    return "; ".join(f"{name}: {count}" for name, count in counts.items()) + "."


def columns(looks: Sequence[Row]) -> list[tuple[str, ...]]:
    """What the tools looked at: version, tool, call and build, in the order of their beginning."""
    return list(dict.fromkeys(map(key, looks)))


def key(look: Row) -> tuple[str, ...]:
    return look["version"], look["tool"], look["call"], ", each thread arrives" if look.get("each") else ""


def name_of(column: tuple[str, ...]) -> str:
    version, tool, kind, built = column
    return f"{tool} {version}, {kind} calls{built}"


def right(row: Row) -> bool:
    return bool(row.get("runs")) and all(answer.get("ok") is True for answer in row["runs"].values())


def is_clean(said: str) -> bool:
    """Whether the tool's last line counts no errors and no hazards."""
    return re.match(r"0 (errors|hazards)", said) is not None


def cells(programs: Sequence[Row]) -> list[Sequence[object]]:
    return [[short(row["file"]), row["way"], *rest(row)] for row in programs]


def rest(row: Row) -> list[str]:
    if "refused" in row:
        return [f"refused: {plain(row['refused'])}", "", "", "", ""]
    runs = row.get("runs", {})
    calls = [call(runs[kind]) if kind in runs else "" for kind in CALLS]
    if not any(calls):
        calls[0] = plain(row["not_run"])
    return [f"{row['shared_bytes']} B", build(row), *calls, plain("; ".join(row["holes"]))]


def build(row: Row) -> str:
    if row.get("nvcc") != "ok":
        return plain(row.get("nvcc", ""))
    said = f"{row['registers']} registers"
    if row["stack"] or row["spilled"]:
        said += f", {row['stack']} B of stack, {row['spilled']} B spilled"
    return ", ".join([said, *row["messages"]])


def call(answer: Row) -> str:
    if "failure" in answer:
        return f"FAILED: {plain(answer['failure'])}"
    errors, ulps = answer["relative_error"], answer["ulps"]
    said = [
        f"{name} NaN" if errors[name] is None else f"{name} {errors[name]:.1e}, {ulps[name]:.1f} ulps"
        for name in errors
    ]
    return ("" if answer["ok"] else "WRONG: ") + "; ".join(said)


def sanitized(programs: Sequence[Row], looks: Sequence[Row]) -> str:
    """A row for each program that a tool looked at."""
    found = {(row["program"], *key(row)): row["said"] for row in looks}
    there = columns(looks)
    rows = [
        [short(row["file"]), row["way"], *(found.get((row["program"], *column), "") for column in there)]
        for row in programs
        if any((row["program"], *column) in found for column in there)
    ]
    return table(("file", "way", *map(name_of, there)), rows)


def short(file: str) -> str:
    return file.removesuffix("_pre")


def plain(text: str) -> str:
    """As a cell of a table may have it."""
    return text.replace("|", "/").replace("\n", " ")
