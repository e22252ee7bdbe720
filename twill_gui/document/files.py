"""Between files and the document's state: opening, and saving what changed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from core.diagnostics import Diagnostic, InputError, Severity
from core.export.ttgir import read_annotations
from core.files import is_file, write_atomically
from core.ir.loops import main_loop
from core.ir.model import Loop, Module
from core.machine.load import parse_machine
from core.machine.model import Machine
from core.project.load import load_project
from core.project.model import Project, ScheduleEntry
from core.project.opened import OpenProject, open_project
from core.project.save import save_project
from core.schedule.edits import USER
from core.schedule.fit import misfits
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from core.yaml_source import read_text
from twill_gui.document.records import load_record, write_schedule
from twill_gui.document.state import SCHEDULE_FOLDER, ProjectState, Variant

DEFAULT_SCHEDULE = "main"
DEFAULT_MACHINE = "machine"
MISSING_SCHEDULE = "missing-schedule"


@dataclass(frozen=True, slots=True)
class Opened:
    """A project ready to be shown, and what is worth saying of its files.

    `candidates`: the loops among which the first was taken, because neither the file nor the caller named one.
    """

    state: ProjectState
    diagnostics: tuple[Diagnostic, ...]
    candidates: tuple[Loop, ...] = ()


def open_state(path: Path, loop: int | None = None) -> Opened:
    """Opens a project, TTGIR or graph file, with all schedules it names.

    A schedule that cannot be read, or no longer fits its loop, is left out with a diagnostic; everything else that is
    wrong raises InputError.
    """
    project = load_project(path, loop=loop)
    machine_text = _text_of(project.machine)
    loops = _Loops(project, machine_text)
    shown = loops.opened(project.active)
    diagnostics = list(shown.diagnostics)
    variants: dict[str, Variant] = {}
    for name, entry in project.schedules.items():
        opened, schedule, record = shown, None, None
        try:
            opened = loops.opened(name)
            if entry.file.exists():
                schedule = load_schedule(entry.file, opened.graph)
                record = load_record(entry.file, opened.graph.pins)
            else:
                diagnostics.append(_missing(project, name, entry.file))
        except InputError as fault:
            diagnostics += [replace(d, severity=Severity.WARNING) for d in fault.diagnostics]
        variants[name] = Variant(opened, schedule, record)
    if not variants:
        schedule, notes = _written_in_text(shown)
        variants[DEFAULT_SCHEDULE] = Variant(shown, schedule)
        diagnostics += notes
    state = ProjectState(project, variants, project.active or next(iter(variants)), machine_text)
    return Opened(state, tuple(diagnostics), _candidates(project, shown))


def _text_of(machine: str | Path | None) -> str | None:
    """The text of a machine file; None for one of the program's, and for a missing one, which is told of later."""
    return read_text(machine) if isinstance(machine, Path) and is_file(machine) else None


class _Loops:
    """Opens the project's loops once for each set of groups and transforms that its schedules ask for, on the machine
    of the text where there is one. `inner`: schedules by name that count in the place of their files. `module`: the
    text of the loops, where it has been read before."""

    def __init__(
        self,
        project: Project,
        machine_text: str | None = None,
        inner: Mapping[str, Schedule] | None = None,
        module: Module | None = None,
    ) -> None:
        self._project = project
        self._module = module
        self._machine_text = machine_text
        self._inner = inner
        self._opened: dict[tuple[object, ...], OpenProject] = {}

    def opened(self, name: str | None) -> OpenProject:
        """The loop for the named schedule, or for the project itself. Raises InputError."""
        project = self._project.for_schedule(name) if name else self._project
        key = (project.input, project.groups, project.transform)
        if key not in self._opened:
            self._opened[key] = open_project(project, self._machine, self._inner, self._module)
            self._module = self._opened[key].module
        return self._opened[key]

    def _machine(self, machine: Machine) -> Machine:
        return machine if self._machine_text is None else parse_machine(self._machine_text, machine.file)


def _written_in_text(opened: OpenProject) -> tuple[Schedule | None, list[Diagnostic]]:
    """The schedule in the loop's own attributes, as an export leaves it there."""
    if opened.module is None or opened.loop is None or "twill.ii" not in opened.loop.operation.attributes:
        return None, []
    try:
        schedule = read_annotations(opened.module, opened.loop)
    except InputError as fault:
        return None, [replace(d, severity=Severity.WARNING) for d in fault.diagnostics]
    for misfit in misfits(opened.graph, schedule):
        line = opened.loop.operation.name_span.line
        message = f"the schedule in the text does not fit the loop: {misfit.message}"
        return None, [Diagnostic(Severity.WARNING, misfit.code, message, opened.module.file, line, hint=misfit.hint)]
    return schedule, []


def _missing(project: Project, name: str, file: Path) -> Diagnostic:
    message = f"the schedule '{name}' has no file yet"
    return project.diagnostic(
        Severity.NOTE, MISSING_SCHEDULE, message, ("schedules", name), hint=f"solve and save to make {file.name}"
    )


def _candidates(project: Project, opened: OpenProject) -> tuple[Loop, ...]:
    if opened.module is None or project.input.loop is not None or project.input.function is not None:
        return ()
    _, candidates = main_loop(opened.module)
    return candidates if len(candidates) > 1 else ()


def reopened(state: ProjectState, project: Project, machine_text: str | None) -> ProjectState:
    """The state with other settings of the project or another machine: all loops are read again.

    A schedule that does not fit its loop any more is left out. Where the graph has changed, the proof of the solve is
    gone, since it was about another graph. Raises InputError.
    """
    inner = {name: variant.schedule for name, variant in state.variants.items() if variant.schedule is not None}
    module = state.variant.opened.module if project.input.path == state.project.input.path else None
    loops = _Loops(project, machine_text, inner, module)
    variants = {name: _refitted(old, loops, name, project) for name, old in state.variants.items()}
    return replace(state, project=project, variants=variants, machine_text=machine_text)


def _refitted(old: Variant, loops: _Loops, name: str, project: Project) -> Variant:
    opened = loops.opened(name if name in project.schedules else None)
    if opened.graph == old.graph:
        return replace(old, opened=opened)
    if old.schedule is None or any(misfits(opened.graph, old.schedule)):
        return Variant(opened)
    return Variant(opened, replace(old.schedule, origin=USER))


def save_state(state: ProjectState, file: Path, saved: ProjectState | None = None) -> ProjectState:
    """Writes the project file and the schedules, and returns the state as it is kept there.

    Schedules that are the same in `saved`, the state on disk, with the same records are not written again. Raises
    OSError, InputError if there is another kind of file in the project's place.
    """
    moved = saved is None or saved.project.file != file
    entries: dict[str, ScheduleEntry] = {}
    for name, variant in state.variants.items():
        entry = state.project.schedules.get(name)
        if variant.schedule is None:
            if entry is not None:
                entries[name] = entry
            continue
        place = entry.file if entry and not moved else file.parent / SCHEDULE_FOLDER / f"{name}.yaml"
        entries[name] = replace(entry, file=place) if entry else ScheduleEntry(place)
        old = saved.variants.get(name) if saved else None
        if moved or old is None or old.schedule is not variant.schedule or old.record is not variant.record:
            write_schedule(variant.schedule, variant.record, place)
    machine = _write_machine(state, file.parent)
    project = replace(state.project, machine=machine, schedules=entries, active=_active(state, entries))
    return replace(state, project=save_project(project, file))


def _write_machine(state: ProjectState, folder: Path) -> str | Path | None:
    """Writes the machine's text where it differs from its file; one of the program's goes to a new file in the folder.
    Returns how the project names it."""
    machine, text = state.project.machine, state.machine_text
    if text is None:
        return machine
    opened = state.variant.opened.machine
    name = Path(opened.file).stem if opened else DEFAULT_MACHINE
    place = machine if isinstance(machine, Path) else _free_place(folder, name, text)
    if not is_file(place) or read_text(place) != text:
        write_atomically(place, text)
    return place


def _free_place(folder: Path, stem: str, text: str) -> Path:
    """A file of the folder that does not exist, or has the text already."""
    for number in itertools.count(1):
        place = folder / (f"{stem}.yaml" if number == 1 else f"{stem}_{number}.yaml")
        if not place.exists() or (is_file(place) and read_text(place) == text):
            return place
    raise AssertionError("unreachable: numbers do not end")


def _active(state: ProjectState, entries: Mapping[str, ScheduleEntry]) -> str | None:
    """What the file says already, or the first schedule that the project ever had."""
    written = state.project.active if state.project.schedules else state.active
    return written if written in entries else None
