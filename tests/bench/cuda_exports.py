"""Every export for sm_90a by file and way: the sample projects for Hopper with their own schedules and, where the
corpus is there, each of its files before Triton's pipeliner that can be scheduled.

A file is exported in program order, and with a quick schedule of its main loop, on two groups of 4 warps and on one
of 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from core.export.cuda.folder import Exported, export_program, function_named
from core.export.cuda.options import Options
from core.export.roles.build import build_roles, scheduled_program
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
from tests.bench.report import UNFINISHED

CORPUS = Path(__file__).parents[3] / "shared" / "ttgir"
MACHINE = "h100"
ORDER, TWO, ONE = "program order", "two groups", "one group of 8"
SAMPLES = "samples"
WAYS = (TWO, ONE)
LIMIT_S = 10.0
"""Seconds for one quick schedule."""

LONGER_S = {
    "fa_fwd_2q_sm90_d128m2x128n128-f16_v39_pre": 150.0,
    "fa_fwd_2q_sm90_d64m2x128n128-f16_v39_pre": 150.0,
}
"""For files of which nvcc builds no export cleanly unless the search comes to the register level."""

SCHEDULES = UNFINISHED / "quick_schedules"
"""Where they are kept, so that each is solved once."""

Make = Callable[[Path, Options], Exported]
"""Writes an export into a folder. Raises InputError for what cannot be exported, NoScheduleError."""


class NoScheduleError(Exception):
    """No schedule was found, with the status of the search."""


@dataclass(frozen=True, slots=True)
class Export:
    """One way in which a kernel is exported. `name`: of the file or the project; `file`: its TTGIR."""

    name: str
    way: str
    file: Path
    kernel: str
    make: Make


def exports(ways: Sequence[str], schedules: Path, limit_s: float) -> Iterator[Export]:
    """Every export by file and way; `schedules`: where the quick ones are kept."""
    if SAMPLES in ways:
        yield from samples()
    manifest = CORPUS / "manifest.yaml"
    if not manifest.is_file():
        print("the corpus is not there: samples only")
        return
    for entry in yaml.safe_load(manifest.read_text(encoding="utf-8"))["files"]:
        file, kernel = CORPUS / entry["file"], entry["kernel"].removesuffix("_cta2")
        if entry["arch"] != "sm_90" or not entry["file"].endswith("_pre.ttgir"):
            continue
        if not str(entry["expect"]).startswith("schedulable"):
            continue
        for way in ways:
            if way == ORDER:
                yield Export(file.stem, way, file, kernel, in_order(file, kernel))
            elif way in WAYS:
                seconds = LONGER_S.get(file.stem, limit_s)
                yield Export(file.stem, way, file, kernel, quick(file, way, schedules, seconds))


def samples() -> Iterator[Export]:
    """The Hopper projects: each schedule of a loop, or those of a kernel's loops together."""
    for folder in sorted(path for path in data_folder("projects").iterdir() if path.is_dir()):
        project = load_project(folder)
        if project.input.kind is not InputKind.TTGIR or "sm_90" not in project_target(project):
            continue
        file, kernel, together = project.input.path, project.input.function or "", project.kernel_schedules
        if together:
            yield Export(folder.name, "all loops", file, kernel, of_schedules(project, together))
        for name in project.schedules:
            if name not in together:
                yield Export(folder.name, name, file, kernel, of_schedules(project, (name,)))


def project_target(project: Project) -> str:
    target = load_module(project.input.path).target
    return f"sm_{target.rpartition(':')[2]}" if target else ""


def of_schedules(project: Project, names: Sequence[str]) -> Make:
    """The kernel with these schedules of the project; a loop that holds another one runs in the order of the text."""

    def make(folder: Path, options: Options) -> Exported:
        loops: list[ScheduledLoop] = []
        for name in names:
            opened = open_project(project.for_schedule(name))
            assert opened.tiles is not None
            if len(names) > 1 and any(op.category is Category.LOOP for op in opened.tiles.ops.values()):
                continue
            schedule = load_schedule(project.schedules[name].file, opened.graph)
            loops.append(ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion))
        return export_program(scheduled_program(loops), folder, options)

    return make


def in_order(file: Path, kernel: str) -> Make:
    """The kernel without a schedule."""

    def make(folder: Path, options: Options) -> Exported:
        module = load_module(file)
        return export_program(build_roles(module, function_named(module, kernel)), folder, options)

    return make


def quick(file: Path, way: str, schedules: Path, limit_s: float) -> Make:
    """The kernel with a quick schedule of its main loop, solved once."""

    def make(folder: Path, options: Options) -> Exported:
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
        return export_program(scheduled_program([loop]), folder, options)

    return make
