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
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core.diagnostics import InputError, Severity
from core.export.cuda.folder import Exported
from core.export.cuda.options import DEFAULTS
from core.toolchain.messages import read_messages
from core.toolchain.nvcc import DEFAULT_ARCHITECTURE, Nvcc, find_nvcc, run_nvcc
from core.toolchain.resources import read_resources
from tests.bench.cuda_exports import LIMIT_S, ORDER, SAMPLES, SCHEDULES, WAYS, Make, NoScheduleError, exports
from tests.bench.report import RESULTS, UNFINISHED, Kept, environment, table, write

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


def main() -> None:
    """Builds all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="files and projects whose name has it")
    parser.add_argument("--ways", nargs="+", default=[SAMPLES, ORDER, *WAYS], metavar="WAY")
    parser.add_argument("--limit-s", type=float, default=LIMIT_S, help="seconds for one schedule")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted")
    parser.add_argument("--into", type=Path, help="keep the exported folders here")
    parser.add_argument("--out", type=Path, help="write the table here; without --only into the results")
    options = parser.parse_args()
    nvcc = find_nvcc()
    if nvcc is None:
        raise SystemExit("no nvcc")
    if not options.resume:
        shutil.rmtree(SCHEDULES, ignore_errors=True)
    SCHEDULES.mkdir(parents=True, exist_ok=True)
    kept = Kept(UNFINISHED / "cuda_builds.jsonl", options.resume)
    rows: list[Sequence[object]] = []
    for one in exports(options.ways, SCHEDULES, options.limit_s):
        if options.only and not any(word in one.name for word in options.only):
            continue
        row = built(nvcc, kept, f"{one.name} {one.way}", one.make, options.into)
        rows.append(cells(one.name, one.way, row))
        print(*rows[-1], sep="\t", flush=True)
    out = options.out or (None if options.only else RESULTS / "cuda_builds.md")
    if out is not None:
        clean = sum(row[2] == "clean" for row in rows)
        head = f"nvcc {nvcc.version}, {DEFAULT_ARCHITECTURE}: {clean} of {len(rows)} exports build cleanly."
        write(out, "# What nvcc makes of every export", environment(), head, table(HEAD, rows), NOTES)


def built(nvcc: Nvcc, kept: Kept, name: str, make: Make, into: Path | None) -> dict[str, Any]:
    """What came of an export; from the kept ones if its text is still the same."""
    with TemporaryDirectory(prefix="twill-builds-") as scratch:
        folder = into / name.replace(" ", "_") if into else Path(scratch)
        try:
            exported = make(folder, DEFAULTS)
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
