"""From a command's arguments to open projects and schedules."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from core.commands.answers import UsageError
from core.diagnostics import InputError, Severity, error
from core.files import is_file
from core.machine.load import machine_names
from core.project.load import load_project
from core.project.model import InputKind, Project
from core.project.opened import OpenProject, open_project
from core.project.schema import machine_reference
from core.schedule.model import Schedule
from core.schedule.read import load_schedule


def open_input(name: str, arguments: argparse.Namespace) -> OpenProject:
    """The project of `chosen_project`, opened."""
    return open_project(chosen_project(name, arguments))


def chosen_project(name: str, arguments: argparse.Namespace) -> Project:
    """The project that the input stands for, with the settings of the schedule that `--schedule` names, of the one for
    `--loop`, or of the active one."""
    project = _load(name, arguments)
    if arguments.schedule is not None and arguments.schedule not in project.schedules:
        known = ", ".join(project.schedules) or "none"
        raise UsageError(f"--schedule: there is no schedule '{arguments.schedule}'; the project's: {known}")
    chosen = _settings(project, arguments.schedule, arguments.loop)
    return project if chosen is None else project.for_schedule(chosen)


def kernel_project(name: str, arguments: argparse.Namespace) -> Project | None:
    """The project, if it has schedules of several loops and no single one is asked for."""
    if arguments.schedule is not None or arguments.loop is not None:
        return None
    project = _load(name, arguments)
    return project if project.kernel_schedules else None


def open_schedule(name: str, arguments: argparse.Namespace) -> tuple[OpenProject, Schedule]:
    """The project, and the schedule that `--schedule` names: one of the project's or a file; without it the one for
    `--loop`, or else the active one. A schedule of the project brings its settings along, another file is judged under
    those of the one for the loop or of the active one."""
    project = _load(name, arguments)
    entry = None if arguments.schedule is None else _entry_name(project, arguments.schedule)
    settings = _settings(project, entry, arguments.loop)
    if arguments.schedule is not None and entry is None:
        opened = open_project(project if settings is None else project.for_schedule(settings))
        return opened, load_schedule(Path(arguments.schedule), opened.graph)
    if settings is None:
        of = "active schedule" if arguments.loop is None else f"schedule of loop {arguments.loop}"
        known = f" (the project's: {', '.join(project.schedules)})" if project.schedules else ""
        raise UsageError(f"there is no {of}: give one with --schedule{known}")
    return open_kept(project, settings)


def open_kept(project: Project, entry: str) -> tuple[OpenProject, Schedule]:
    """The project under the settings of its schedule `entry`, and that schedule."""
    file = project.schedules[entry].file
    if not is_file(file):
        message = f"there is no file '{file}' yet"
        path, hint = ("schedules", entry), project.how_to_make(entry)
        raise InputError(project.diagnostic(Severity.ERROR, "missing-schedule", message, path, hint=hint))
    opened = open_project(project.for_schedule(entry))
    return opened, load_schedule(file, opened.graph)


def _settings(project: Project, entry: str | None, loop: int | None) -> str | None:
    """The schedule whose settings hold: `entry`, or else one for the loop, or else the active one.

    Raises UsageError if `entry` is for another loop.
    """
    if loop is None:
        return entry or project.active
    if entry is None:
        return project.schedule_of_loop(loop)
    own = project.schedules[entry].loop
    if own not in (None, loop):
        raise UsageError(f"--loop: the schedule '{entry}' is of loop {own}")
    return entry


def _load(name: str, arguments: argparse.Namespace) -> Project:
    if arguments.machine is not None:
        _require_machine(arguments.machine)
    project = load_project(Path(name), arguments.machine, arguments.loop)
    if arguments.loop is not None and project.input.kind is InputKind.GRAPH:
        raise UsageError("--loop: this is a graph, which is one loop")
    return project


def _require_machine(written: str) -> None:
    """What a project says of a machine is told at its line; what `--machine` says, here."""
    machine = machine_reference(written, Path())
    if isinstance(machine, Path) and not is_file(machine):
        raise error("unknown-machine", "--machine: there is no such file", file=written)
    if isinstance(machine, str) and machine not in machine_names():
        raise UsageError(f"--machine: there is no machine '{machine}' (known: {', '.join(machine_names())}, or a file)")


def _entry_name(project: Project, written: str) -> str | None:
    if written in project.schedules:
        return written
    path = os.path.realpath(written)
    return next((name for name, entry in project.schedules.items() if os.path.realpath(entry.file) == path), None)
