"""From a command's arguments to open projects and schedules."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from core.commands.answers import UsageError
from core.diagnostics import InputError, Severity
from core.files import is_file
from core.project.load import load_project
from core.project.model import InputKind, Project
from core.project.opened import OpenProject, open_project
from core.schedule.model import Schedule
from core.schedule.read import load_schedule


def open_input(name: str, arguments: argparse.Namespace) -> OpenProject:
    """The project of `chosen_project`, opened."""
    return open_project(chosen_project(name, arguments))


def chosen_project(name: str, arguments: argparse.Namespace) -> Project:
    """The project that the input stands for, with the settings of `--schedule` or of its active schedule."""
    project = _load(name, arguments)
    chosen = arguments.schedule or project.active
    if chosen is None:
        return project
    if chosen not in project.schedules:
        known = ", ".join(project.schedules) or "none"
        raise UsageError(f"--schedule: there is no schedule '{chosen}'; the project's: {known}")
    return project.for_schedule(chosen)


def kernel_project(name: str, arguments: argparse.Namespace) -> Project | None:
    """The project, if it has schedules of several loops and no single one is asked for."""
    if arguments.schedule is not None or arguments.loop is not None:
        return None
    project = _load(name, arguments)
    return project if project.kernel_schedules else None


def open_schedule(name: str, arguments: argparse.Namespace) -> tuple[OpenProject, Schedule]:
    """The project, and the schedule that `--schedule` names: one of the project's or a file; without it the active
    one. A schedule of the project brings its settings along, another file is judged under those of the active one."""
    project = _load(name, arguments)
    written = arguments.schedule or project.active
    if written is None:
        raise UsageError("there is no active schedule: give one with --schedule")
    entry = _entry_name(project, written)
    file = Path(written) if entry is None else project.schedules[entry].file
    if entry is not None and not is_file(file):
        message, hint = f"there is no file '{file}' yet", f"make it: twill solve {name} -o {file}"
        path = ("schedules", entry)
        raise InputError(project.diagnostic(Severity.ERROR, "missing-schedule", message, path, hint=hint))
    settings = entry or project.active
    opened = open_project(project.for_schedule(settings) if settings else project)
    return opened, load_schedule(file, opened.graph)


def _load(name: str, arguments: argparse.Namespace) -> Project:
    project = load_project(Path(name), arguments.machine, arguments.loop)
    if arguments.loop is not None and project.input.kind is InputKind.GRAPH:
        raise UsageError("--loop: this is a graph, which is one loop")
    return project


def _entry_name(project: Project, written: str) -> str | None:
    if written in project.schedules:
        return written
    path = os.path.realpath(written)
    return next((name for name, entry in project.schedules.items() if os.path.realpath(entry.file) == path), None)
