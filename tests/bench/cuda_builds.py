"""Every export for sm_90a as nvcc builds it: registers by role, spills, messages, shared memory, holes, matrix ops.

    python -m tests.bench.cuda_builds [--only WORD ...] [--ways WAY ...] [--limit-s S] [--resume] [--into FOLDER]

The sample projects for Hopper with their own schedules; then, where the corpus is there, each of its files for sm_90
before Triton's pipeliner that can be scheduled: in program order, and with a quick schedule of its main loop, on two
groups of 4 warps and on one of 8. `--resume` goes on with schedules and builds that are there; `--into` keeps the
exported folders. Nothing runs here.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from core.diagnostics import InputError, Severity
from core.export.cuda.folder import Exported, export_program, export_straight
from core.export.roles.build import scheduled_program
from core.export.roles.places import ScheduledLoop
from core.graph.model import GroupKind
from core.ir.source import load_module
from core.ir.tiles import Category
from core.project.load import load_project
from core.project.model import InputKind, Project
from core.project.opened import open_project
from core.project.record import save_schedule
from core.resources import data_folder
from core.schedule.check import check
from core.schedule.read import load_schedule
from core.solve.events import SolveOptions
from core.solve.solve import solve
from core.toolchain.messages import read_messages
from core.toolchain.nvcc import DEFAULT_ARCHITECTURE, Nvcc, find_nvcc, run_nvcc
from core.toolchain.resources import read_resources
from tests.bench.report import RESULTS, UNFINISHED, Kept, environment, table, write

CORPUS = Path(__file__).parents[3] / "shared" / "ttgir"
MACHINE = "h100"
ORDER, TWO, ONE = "program order", "two groups", "one group of 8"
SAMPLES = "samples"
WAYS = (TWO, ONE)
HEAD = (
    "file",
    "way",
    "built",
    "registers",
    "of each role alone",
    "spilled",
    "messages",
    "shared memory",
    "wgmma",
    "holes",
    "s",
)
NOTES = (
    "Clean: no spills, no stack, none of the messages C75xx, by which the assembler says that it serialises matrix "
    "ops. Registers: of the launch, then of each role compiled alone with as many as it likes. wgmma: instructions in "
    "the kernel's PTX. Seconds of the wall clock for nvcc, kernel and roles in one run. Quick schedules: what the "
    "solver has after the limit, under the default objective; the grants are the schedule's."
)

ALONE = """
extern "C" __global__ void __launch_bounds__({threads}, 1) {name}(const __grid_constant__ Params p) {{
  extern __shared__ __align__(1024) unsigned char of_{function}[];
  {function}(p, *reinterpret_cast<Smem*>(of_{function}));
}}
"""
"""A role as a kernel of its own."""

Make = Callable[[Path], Exported]
"""Writes an export into a folder."""


class NoScheduleError(Exception):
    """No schedule was found, with the status of the search."""


def main() -> None:
    """Builds all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="files and projects whose name has it")
    parser.add_argument("--ways", nargs="+", default=[SAMPLES, ORDER, *WAYS], metavar="WAY")
    parser.add_argument("--limit-s", type=float, default=10.0, help="seconds for one schedule")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted")
    parser.add_argument("--into", type=Path, help="keep the exported folders here")
    parser.add_argument("--out", type=Path, help="write the table here; without --only into the results")
    options = parser.parse_args()
    nvcc = find_nvcc()
    if nvcc is None:
        raise SystemExit("no nvcc")
    schedules = UNFINISHED / "cuda_builds"
    if not options.resume:
        shutil.rmtree(schedules, ignore_errors=True)
    schedules.mkdir(parents=True, exist_ok=True)
    kept = Kept(UNFINISHED / "cuda_builds.jsonl", options.resume)
    rows: list[Sequence[object]] = []
    for name, way, make in exports(options.ways, schedules, options.limit_s):
        if options.only and not any(word in name for word in options.only):
            continue
        rows.append(cells(name, way, built(nvcc, kept, f"{name} {way}", make, options.into)))
        print(*rows[-1], sep="\t", flush=True)
    out = options.out or (None if options.only else RESULTS / "cuda_builds.md")
    if out is not None:
        clean = sum(row[2] == "clean" for row in rows)
        head = f"nvcc {nvcc.version}, {DEFAULT_ARCHITECTURE}: {clean} of {len(rows)} exports build cleanly."
        write(out, "# What nvcc makes of every export", environment(), head, table(HEAD, rows), NOTES)


def exports(ways: Sequence[str], schedules: Path, limit_s: float) -> Iterator[tuple[str, str, Make]]:
    """Every export by file and way."""
    if SAMPLES in ways:
        yield from samples()
    manifest = CORPUS / "manifest.yaml"
    if not manifest.is_file():
        print("the corpus is not there: samples only")
        return
    for entry in yaml.safe_load(manifest.read_text(encoding="utf-8"))["files"]:
        file = CORPUS / entry["file"]
        if entry["arch"] != "sm_90" or not entry["file"].endswith("_pre.ttgir"):
            continue
        if not str(entry["expect"]).startswith("schedulable"):
            continue
        for way in ways:
            if way == ORDER:
                yield file.stem, way, in_order(file, entry["kernel"])
            elif way in WAYS:
                yield file.stem, way, quick(file, way, schedules, limit_s)


def samples() -> Iterator[tuple[str, str, Make]]:
    """The Hopper projects: each schedule of a loop, or those of a kernel's loops together."""
    for folder in sorted(path for path in data_folder("projects").iterdir() if path.is_dir()):
        project = load_project(folder)
        if project.input.kind is not InputKind.TTGIR or "sm_90" not in project_target(project):
            continue
        kernel = project.kernel_schedules
        if kernel:
            yield folder.name, "all loops", of_schedules(project, kernel)
        for name in project.schedules:
            if name not in kernel:
                yield folder.name, name, of_schedules(project, (name,))


def project_target(project: Project) -> str:
    target = load_module(project.input.path).target
    return f"sm_{target.rpartition(':')[2]}" if target else ""


def of_schedules(project: Project, names: Sequence[str]) -> Make:
    """The kernel with these schedules of the project; a loop that holds another one runs in the order of the text."""

    def make(folder: Path) -> Exported:
        loops: list[ScheduledLoop] = []
        for name in names:
            opened = open_project(project.for_schedule(name))
            assert opened.tiles is not None
            if len(names) > 1 and any(op.category is Category.LOOP for op in opened.tiles.ops.values()):
                continue
            schedule = load_schedule(project.schedules[name].file, opened.graph)
            loops.append(ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion))
        return export_program(scheduled_program(loops), folder)

    return make


def in_order(file: Path, kernel: str) -> Make:
    """The kernel without a schedule."""
    return lambda folder: export_straight(load_module(file), kernel, folder)


def quick(file: Path, way: str, schedules: Path, limit_s: float) -> Make:
    """The kernel with a quick schedule of its main loop, solved once."""

    def make(folder: Path) -> Exported:
        project = load_project(file, MACHINE)
        opened = open_project(project)
        if way == ONE:
            loading = [kind for kind in opened.graph.groups if kind.variable_latency]
            opened = open_project(replace(project, groups=(*loading, GroupKind("compute", 8, 1))))
        assert opened.tiles is not None
        known = schedules / f"{file.stem}--{way.replace(' ', '_')}.yaml"
        none = known.with_suffix(".none")  # so that it is not looked for again
        if none.exists():
            raise NoScheduleError(none.read_text(encoding="utf-8"))
        if not known.exists():
            result = solve(opened.graph, SolveOptions(limit_s=limit_s))
            found = result.schedule
            if found is None:
                none.write_text(result.status.value, encoding="utf-8")
                raise NoScheduleError(result.status.value)
            assert check(opened.graph, found).legal
            save_schedule(found, known)
        schedule = load_schedule(known, opened.graph)
        loop = ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)
        return export_program(scheduled_program([loop]), folder)

    return make


def built(nvcc: Nvcc, kept: Kept, name: str, make: Make, into: Path | None) -> dict[str, Any]:
    """What came of an export; from the kept ones if its text is still the same."""
    with TemporaryDirectory(prefix="twill-builds-") as scratch:
        folder = into / name.replace(" ", "_") if into else Path(scratch)
        try:
            exported = make(folder)
        except InputError as problem:
            return {"refused": problem.diagnostics[0].message}
        except NoScheduleError as problem:
            return {"refused": f"no schedule: {problem}"}
        key = f"{name} {digest(folder)}"
        return kept.get(key) or kept.put(key, build(nvcc, folder, exported))


def digest(folder: Path) -> str:
    """Of everything that the device's code is made of."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".cu", ".cuh", ".inc", ".hpp") and not file.name.startswith(("mock", "driver")):
            found.update(file.read_bytes())
    return found.hexdigest()[:12]


def build(nvcc: Nvcc, folder: Path, exported: Exported) -> dict[str, Any]:
    """The kernel and, beside it, each of its roles as a kernel of its own, in one compilation."""
    roles = {f"alone_{role['function']}": role for role in exported.file.description["roles"]}
    with TemporaryDirectory(prefix="twill-builds-") as scratch:
        source = Path(scratch) / "kernel.cu"
        alone = [
            ALONE.format(name=name, function=role["function"], threads=32 * role["warps"])
            for name, role in roles.items()
        ]
        source.write_text(
            f'#define TWILL_NO_DRIVER\n#include "{folder.resolve()}/kernel.cu"\n{"".join(alone)}', encoding="utf-8"
        )
        began = time.perf_counter()
        keep = ["-keep", f"-keep-dir={scratch}", "-cubin", f"-I{folder}", "-o", f"{scratch}/kernel.cubin", str(source)]
        outcome = run_nvcc(nvcc, keep, DEFAULT_ARCHITECTURE)
        seconds = time.perf_counter() - began
        ptx = "".join(file.read_text(encoding="utf-8") for file in Path(scratch).glob("*.ptx"))
    messages = [one for one in read_messages(outcome.output, str(source)) if "alone_role_" not in one.message]
    found = {one.function: one for one in read_resources(outcome.output)}
    kernels = [one for name, one in found.items() if name not in roles]
    return {
        "code": outcome.code,
        "messages": sorted({one.code.removeprefix("ptxas-") for one in messages if one.severity is Severity.ERROR}),
        "registers": max((one.registers for one in kernels), default=0),
        "spilled": sum(one.spill_stores + one.spill_loads for one in kernels),
        "stack": sum(one.stack for one in kernels),
        "roles": {role["name"]: found[name].registers for name, role in roles.items() if name in found},
        "shared": exported.file.shared_bytes,
        "holes": [f"{hole.op} line {hole.line}: {hole.reason}" for hole in exported.file.holes],
        "wgmma": sum(part.count("wgmma.mma_async") for part in ptx.split(".entry ") if not part.startswith("alone_")),
        "seconds": round(seconds, 1),
    }


def cells(name: str, way: str, row: dict[str, Any]) -> list[object]:
    """A row of the table."""
    short = name.removesuffix("_pre")
    if "refused" in row:
        return [short, way, f"refused: {row['refused'].replace('|', '/')}", *[""] * (len(HEAD) - 3)]
    clean = not (row["code"] or row["messages"] or row["spilled"] or row["stack"])
    roles = ", ".join(f"{role} {registers}" for role, registers in row["roles"].items())
    spilled = f"{row['spilled']} B, stack {row['stack']} B" if row["spilled"] or row["stack"] else "no"
    verdict = "clean" if clean else "does not compile" if row["code"] else "not clean"
    tail = (row["wgmma"], "; ".join(row["holes"]), row["seconds"])
    return [short, way, verdict, row["registers"], roles, spilled, ", ".join(row["messages"]), row["shared"], *tail]


if __name__ == "__main__":
    main()
