"""Every export for sm_90a as one batch for a machine with a Hopper GPU: one upload, one run.

  python -m tests.bench.cuda_batch FOLDER [--only WORD ...] [--limit-s S]
  (there) python3 FOLDER/run.py --out OUT
  python -m tests.bench.cuda_batch --read OUT/results.jsonl [-o TABLE.md]

The exports are those of `cuda_exports`. Each runs a small call. The smallest file of each kernel and the projects
are there as persistent kernels too, run also a call whose loop fills every slot of every ring twice and goes on for
three more iterations, and are what compute-sanitizer looks at. What cannot be exported is there with its reason.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core.diagnostics import InputError
from core.export.cuda.folder import Exported
from core.export.cuda.options import DEFAULTS, Options, Order
from tests.bench.cuda_batch_cases import batch_file
from tests.bench.cuda_batch_table import read
from tests.bench.cuda_exports import (
    CORPUS,
    LIMIT_S,
    ONE,
    ORDER,
    SAMPLES,
    SCHEDULES,
    TWO,
    WAYS,
    Export,
    NoScheduleError,
    exports,
)
from tests.bench.report import RESULTS

DEVICE_CODE = ("kernel.cu", "wgmma.inc")
RUNTIME = ("twill.cuh", "driver.hpp", "twill")
BEYOND_DEPTH = 3  # iterations of a long loop beyond twice the slots of the deepest ring
DICTIONARY_BYTES = 1 << 27  # versions of one file have the same inputs, megabytes apart


def write(folder: Path, only: Sequence[str], limit_s: float) -> None:
    """Makes the batch: `run.py` and an archive of all that it builds and runs."""
    SCHEDULES.mkdir(parents=True, exist_ok=True)
    wanted = [
        one
        for one in exports([SAMPLES, ORDER, *WAYS], SCHEDULES, limit_s)
        if not only or any(word in one.name for word in only)
    ]
    with TemporaryDirectory(prefix="twill-batch-") as scratch:
        place = Path(scratch)
        (place / "cases").mkdir()
        programs = [row for _, group in groupby(wanted, key=lambda one: one.name) for row in of_file(place, [*group])]
        for row in programs:
            row["sanitize"] = rank_of(row, programs)
        (place / "programs.json").write_text(json.dumps(programs, indent=1), encoding="utf-8")
        folder.mkdir(parents=True, exist_ok=True)
        filters = [{"id": 0x21, "preset": 2, "dict_size": DICTIONARY_BYTES}]  # LZMA2
        with (
            lzma.open(folder / "batch.tar.xz", "wb", filters=filters) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            for part in sorted(place.iterdir()):
                archive.add(part, part.name)
    shutil.copy(Path(__file__).with_name("cuda_batch_run.py"), folder / "run.py")


def of_file(place: Path, group: Sequence[Export]) -> Iterator[dict[str, Any]]:
    """The exports of a file or project, in all ways; its calls."""
    stem = corpus_stem(group[0])
    rows: list[dict[str, Any]] = []
    for one in group:
        for way, options in variants(one, stem):
            rows.append(exported(place, one, way, options))
            if "refused" in rows[-1]:
                break
    ran = [row for row in rows if "refused" not in row]
    depth = max((row["depth"] for row in ran), default=0)
    calls = {f"{stem}.small": 0}  # the same for a project and the file that it has a copy of
    if ran and is_shown(group[0], stem):
        calls[f"{group[0].name}.long"] = 2 * depth + BEYOND_DEPTH
    cases: list[str] = []
    problem = ""
    for name, iterations in calls.items():
        if not (place / "cases" / name).exists():
            made = batch_file(group[0], stem, iterations)
            if isinstance(made, str):
                problem = made
                continue
            (place / "cases" / name).write_bytes(made)
        cases.append(name)
    for row in rows:
        print(row["file"], row["way"], row.get("refused", f"{row.get('shared_bytes')} B"), sep="\t", flush=True)
        yield row | {"cases": cases, "not_run": problem, "kernel": group[0].kernel}


def corpus_stem(one: Export) -> str:
    """The corpus file of that text: projects have a copy of one."""
    if one.file.parent == CORPUS:
        return one.file.stem
    text = one.file.read_bytes()
    return next(file.stem for file in sorted(CORPUS.glob("*_sm90_*_pre.ttgir")) if file.read_bytes() == text)


def is_newest(stem: str) -> bool:
    """Of the newest version, and neither printed in another way, with other warps nor with inline assembly."""
    return re.search(r"-(loc|num|asm|w4)_|_v3[0-8]_", stem) is None


def is_shown(one: Export, stem: str) -> bool:
    """Whether more is asked of it: projects, and of the files of each kernel the smallest."""
    return one.name != stem or stem == representative(stem)


def representative(stem: str) -> str:
    """The file by which the kernel of this one is represented."""
    kernel = stem.split("_sm90_")[0]
    return min((file.stem for file in CORPUS.glob(f"{kernel}_sm90_*_pre.ttgir")), key=size_of)


def size_of(stem: str) -> tuple[bool, int, str]:
    sizes = re.findall(r"\d+", stem.split("_sm90_")[1].split("-")[0])
    return not is_newest(stem), prod(map(int, sizes)), stem


def variants(one: Export, stem: str) -> Iterator[tuple[str, Options]]:
    """The export as it is, and as a persistent kernel where that is asked for."""
    yield one.way, DEFAULTS
    if is_shown(one, stem) and one.way != ORDER:
        yield f"{one.way}, persistent", Options(persistent=True)
    if one.name != stem and "causal" in stem:
        yield f"{one.way}, persistent, longest first", Options(persistent=True, order=Order.LONGEST_FIRST)


def exported(place: Path, one: Export, way: str, options: Options) -> dict[str, Any]:
    """Writes the export; what is said of it beside what it does on a GPU."""
    program = re.sub(r"[^\w-]+", "_", f"{one.name}--{way}")
    row: dict[str, Any] = {"file": one.name, "way": way, "program": program}
    with TemporaryDirectory(prefix="twill-export-") as scratch:
        try:
            found = one.make(Path(scratch), options)
        except InputError as problem:
            return row | {"refused": problem.diagnostics[0].message}
        except NoScheduleError as problem:
            return row | {"refused": f"no schedule: {problem}"}
        keep(Path(scratch), place, program)
    return row | facts(found)


def keep(scratch: Path, place: Path, program: str) -> None:
    """Of an export's folder what is to be built; the runtime once for all."""
    (place / program).mkdir()
    for name in DEVICE_CODE:
        shutil.copy(scratch / name, place / program / name)
    for name in RUNTIME:
        source, runtime = scratch / name, place / "runtime" / name
        runtime.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, runtime, dirs_exist_ok=True)
        else:
            shutil.copy(source, runtime)


def facts(found: Exported) -> dict[str, Any]:
    rings = found.file.description["rings"]
    return {
        "shared_bytes": found.file.shared_bytes,
        "depth": max((ring["depth"] for ring in rings), default=0),
        "holes": [f"{hole.op} line {hole.line}: {hole.reason}" for hole in found.file.holes],
    }


def rank_of(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> int:
    """When compute-sanitizer looks at it: 1, one program of each family; 2, the sample projects; 0, not."""
    if "refused" in row or row["holes"] or not row["cases"] or "persistent" in row["way"]:
        return 0
    if "_sm90_" not in row["file"]:
        return 2
    if row["file"] != representative(row["file"]):
        return 0
    ways = [other["way"] for other in rows if other["file"] == row["file"] and "refused" not in other]
    return int(row["way"] == next(way for way in (TWO, ONE, ORDER) if way in ways))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--limit-s", type=float, default=LIMIT_S, help="seconds for one quick schedule")
    parser.add_argument("--read", type=Path, metavar="RESULTS")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "cuda_corpus.md")
    arguments = parser.parse_args()
    if arguments.read:
        arguments.output.write_text(read(arguments.read), encoding="utf-8")
    else:
        write(arguments.folder, arguments.only, arguments.limit_s)


if __name__ == "__main__":
    main()
