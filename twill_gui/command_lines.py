"""What the window does as a command line of `twill`, to be repeated in a script or on another computer."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.project.model import InputKind, Project
from core.schedule.compare import compare
from core.schedule.model import Placement, Schedule
from core.solve.events import SolveOptions
from core.solve.repair.request import Place
from twill_gui.document.state import ProjectState


def solve_command(state: ProjectState) -> str:
    """Solves the shown loop as the window does. The limits of an unsaved project are given as options."""
    options = state.project.solve
    words = ["solve", *_input(state)]
    if state.project.file is None:
        words += _solve_options(options)
    elif state.active in state.project.schedules:
        words += ["--schedule", state.active, "-o", str(state.project.schedules[state.active].file)]
    return _line(words)


def check_command(state: ProjectState) -> str:
    """Judges the shown schedule."""
    return _line(["check", *_input(state), *_schedule(state)])


def repair_command(state: ProjectState, saved: Schedule) -> str:
    """Puts the ops that differ from the schedule on disk where the shown one has them, and repairs the rest."""
    shown = state.variant.schedule
    moved = compare(saved, shown).moved if shown else {}
    return moves_command(state, {op: place for op, (_, place) in moved.items() if place is not None})


def moves_command(state: ProjectState, places: Mapping[str, Place | Placement]) -> str:
    """Puts ops of the schedule on disk there, and repairs the rest or says why that is impossible."""
    moves = [f"{op}={place.start}@{place.group}" for op, place in places.items()]
    return _line(["repair", *_input(state), *_schedule(state), "--rotate", *(["--move", *moves] if moves else [])])


def explain_command(state: ProjectState, *question: str) -> str:
    """Asks why not; `question` holds the options of `twill explain`, such as --ii 2047."""
    words = ["explain", *_input(state)]
    if state.project.file is not None and state.active in state.project.schedules:
        words += ["--schedule", state.active]
    return _line([*words, *question])


def export_command(state: ProjectState, wanted: str, file: Path, *options: str) -> str:
    """Writes the shown schedule in a format, with the options that belong to it."""
    return _line(["export", *_input(state), *_schedule(state), "--format", wanted, "-o", str(file), *options])


def kernel_command(state: ProjectState, wanted: str, file: Path, *options: str) -> str:
    """As `export_command` for a format of the whole kernel: where it has several loops, all take part."""
    chosen = [] if state.project.file is not None and state.project.kernel_schedules else _schedule(state)
    return _line(["export", *_input(state), *chosen, "--format", wanted, "-o", str(file), *options])


def sweep_command(state: ProjectState, axes: Sequence[str]) -> str:
    """Solves at every combination of the axes' values."""
    words = ["sweep", *_input(state), "--over", *axes]
    if state.project.file is not None and state.active in state.project.schedules:
        words += ["--schedule", state.active]
    return _line(words)


def _input(state: ProjectState) -> list[str]:
    """The project file; for what was never saved the input, with what the window chose of it."""
    project = state.project
    if project.file is not None:
        return [str(project.file)]
    words = [str(project.input.path)]
    if project.machine is not None:
        words += ["--machine", str(project.machine)]
    loop = state.variant.opened.loop
    if project.input.kind is InputKind.TTGIR and loop is not None:
        words += ["--loop", str(loop.index)]
    return words


def _schedule(state: ProjectState) -> list[str]:
    """The shown schedule by name, or by the file that a save makes."""
    entry = state.project.schedules.get(state.active)
    if state.project.file is not None and entry is not None:
        return ["--schedule", state.active]
    return ["--schedule", str(entry.file if entry else _unsaved_place(state.project, state.active))]


def _unsaved_place(project: Project, name: str) -> Path:
    return project.input.path.parent / "schedules" / f"{name}.yaml"


def _solve_options(options: SolveOptions) -> list[str]:
    default = SolveOptions()
    words: list[str] = []
    if options.limit_s != default.limit_s:
        words += ["--limit-s", f"{options.limit_s:g}"]
    if options.seed != default.seed:
        words += ["--seed", str(options.seed)]
    if options.max_ii is not None:
        words += ["--max-ii", str(options.max_ii)]
    if options.model is not default.model:
        words += ["--model", options.model.value]
    return words


def _line(words: Sequence[str]) -> str:
    return shlex.join(["twill", *words])
