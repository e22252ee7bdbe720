"""`twill export`: a schedule for other tools, or as a picture."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from core.commands.answers import Answer, ExitCode, MissingToolError, UsageError, answer_each, writing
from core.commands.inputs import open_schedule
from core.commands.measured import comparison_text
from core.commands.outputs import require_output
from core.commands.scheduled_loops import scheduled_kernel
from core.commands.triton import export_triton
from core.diagnostics import Diagnostic
from core.export.cuda.case import write_case
from core.export.cuda.folder import export_schedules
from core.export.cuda.options import Options, Order
from core.export.exported import TextFormat, exported_text
from core.export.marks_file import read_marks
from core.export.measured import measured_trace
from core.export.roles.build import scheduled_program
from core.export.sheet import sheet_json, sheet_markdown
from core.files import write_atomically
from core.graph.write import dump_graph
from core.project.opened import OpenProject
from core.schedule.model import Schedule
from core.schedule.wording import counted
from core.schedule.write import dump_schedule

_PICTURES = ("svg", "png", "pdf")
_PAINTER = "twill_gui.schedule_picture"  # a program of its own: the library has no Qt


def run(arguments: argparse.Namespace) -> ExitCode:
    """Writes the file and answers for the input."""
    return answer_each(arguments.inputs, lambda name: _export(name, arguments), arguments.json)


def _export(name: str, arguments: argparse.Namespace) -> Answer:
    path = Path(arguments.output)
    if arguments.unrolled and arguments.format not in _PICTURES:
        raise UsageError("--unrolled is for pictures: svg, png or pdf")
    for_cuda = (arguments.case, arguments.persistent, arguments.longest_first, arguments.allow_inline_asm)
    if any(for_cuda) and arguments.format != "cuda":
        raise UsageError("--case, --persistent, --longest-first and --allow-inline-asm are for --format cuda")
    if arguments.measured and arguments.format != "trace":
        raise UsageError("--measured is for --format trace")
    if arguments.format == "sheet":
        return _sheet(name, arguments, path)
    if arguments.format == "cuda":
        return _cuda(name, arguments, path)
    opened, schedule = open_schedule(name, arguments)
    if arguments.format == "triton":
        return export_triton(opened, schedule, path)
    require_output(path, opened.project, schedule=False)
    if arguments.measured:
        return _measured(opened, schedule, Path(arguments.measured), path)
    if arguments.format in _PICTURES:
        content, warnings = _picture(opened, schedule, arguments.format, arguments.unrolled), ()
    else:
        content, warnings = _text(opened, schedule, TextFormat(arguments.format))
    with writing(path):
        write_atomically(path, content)
    document = {"files": [path.as_posix()], "warnings": [w.as_json() for w in warnings], "holes": []}
    return Answer(document, f"written: {path.as_posix()}", diagnostics=(*opened.diagnostics, *warnings))


def _cuda(name: str, arguments: argparse.Namespace, folder: Path) -> Answer:
    """A folder with the kernel, its runtime and a description; nvcc compiles it."""
    kernel = scheduled_kernel(name, arguments)
    module = kernel.loops[0].tiles.module
    order = Order.LONGEST_FIRST if arguments.longest_first else Order.AS_LAUNCHED
    options = Options(arguments.persistent, order, inline_assembly=arguments.allow_inline_asm)
    with writing(folder):
        exported = export_schedules(module, kernel.loops, folder, options)
        files = [(folder / name).as_posix() for name in exported.names]
        if arguments.case is not None:
            files.append(write_case(Path(arguments.case), module, exported.function, folder).as_posix())
    holes = [hole.as_json() for hole in exported.file.holes]
    text = f"written: {folder.as_posix()}, {counted(len(holes), 'hole')}, "
    text += f"{exported.file.shared_bytes} bytes of shared memory"
    missing = tuple(hole.diagnostic(module.file) for hole in exported.file.holes)
    document = {"files": files, "warnings": [], "holes": holes}
    return Answer(document, text, diagnostics=(*kernel.diagnostics, *missing))


def _sheet(name: str, arguments: argparse.Namespace, path: Path) -> Answer:
    """The role program for a person to lower by hand, and beside it the same as JSON."""
    kernel = scheduled_kernel(name, arguments)
    program = scheduled_program(kernel.loops)
    data = path.with_suffix(".json")
    if data == path:
        raise UsageError("--format sheet writes Markdown and beside it JSON: give the name of the Markdown file")
    with writing(path):
        write_atomically(path, sheet_markdown(program, kernel.loops))
    with writing(data):
        write_atomically(data, sheet_json(program, kernel.loops))
    files = [path.as_posix(), data.as_posix()]
    document = {"files": files, "warnings": [], "holes": []}
    return Answer(document, f"written: {', '.join(files)}", diagnostics=kernel.diagnostics)


def _measured(opened: OpenProject, schedule: Schedule, marks: Path, path: Path) -> Answer:
    """The plan's trace with a run's beside it, and what costs the run proposes."""
    if opened.tiles is None:
        raise UsageError("--measured needs a project with TTGIR text; this one is a graph")
    seen = read_marks(marks, opened.tiles.loop.index)
    trace, comparison = measured_trace(opened.graph, schedule, opened.fusion, seen)
    with writing(path):
        write_atomically(path, json.dumps(trace, ensure_ascii=False) + "\n")
    document = {"files": [path.as_posix()], "warnings": [], "holes": [], "measured": comparison.as_json()}
    text = f"written: {path.as_posix()}\n{comparison_text(comparison)}"
    return Answer(document, text, diagnostics=opened.diagnostics)


def _text(opened: OpenProject, schedule: Schedule, wanted: TextFormat) -> tuple[str, tuple[Diagnostic, ...]]:
    if wanted is TextFormat.TTGIR and opened.tiles is None:
        raise UsageError("--format ttgir needs a project with TTGIR text; this one is a graph")
    return exported_text(wanted, opened.graph, schedule, opened.tiles, opened.fusion)


def _picture(opened: OpenProject, schedule: Schedule, suffix: str, unrolled: bool) -> bytes:
    """The chart and what is held, painted by a process of the window's program."""
    with TemporaryDirectory(prefix="twill-picture-") as name:
        folder = Path(name)
        graph, places, output = folder / "graph.yaml", folder / "schedule.yaml", folder / f"picture.{suffix}"
        graph.write_text(dump_graph(opened.graph), encoding="utf-8")
        places.write_text(dump_schedule(schedule), encoding="utf-8")
        command = [sys.executable, "-m", _PAINTER, str(graph), str(places), str(output)]
        command += ["--unrolled"] if unrolled else []
        painted = subprocess.run(command, capture_output=True, text=True)
        if not output.exists():
            reason = painted.stderr.strip().rpartition("\n")[2] or f"exit code {painted.returncode}"
            raise MissingToolError(f"pictures are painted with Qt, which does not work here: {reason}")
        return output.read_bytes()
