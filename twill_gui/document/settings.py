"""The user's edits of what is scheduled: machine, groups, rules, transform, loop, and the schedules that are kept.

Every function is one undo step. Those that read the loops again raise InputError if that cannot be done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.graph.model import GroupKind, Rules
from core.machine.edit import set_number
from core.project.model import InputKind, Override, Project, ScheduleEntry, Transform
from core.schedule.wording import counted
from core.yaml_source import Key, read_text
from twill_gui.document.document import Document
from twill_gui.document.files import reopened
from twill_gui.document.state import SCHEDULE_FOLDER, ProjectState, Variant, with_active

if TYPE_CHECKING:
    from core.export.measured import Proposal


def machine_text(state: ProjectState) -> tuple[str, str] | None:
    """The text of the machine that costs the shown loop, as edited, and the name of its file; None for a graph file,
    whose ops have their costs already. Raises InputError."""
    machine = state.variant.opened.machine
    if machine is None or state.project.input.kind is InputKind.GRAPH:
        return None
    return state.machine_text or read_text(Path(machine.file)), machine.file


def set_machine_number(document: Document, path: Sequence[Key], number: float) -> None:
    """Changes one number of the machine's text, comments kept."""
    if document.state is not None:
        show_machine_number(document, path, number, with_machine_number(document.state, path, number))


def with_machine_number(state: ProjectState, path: Sequence[Key], number: float) -> ProjectState:
    """The state with one number of the machine's text changed; the same for a graph file, which has no machine."""
    found = machine_text(state)
    if found is None:
        return state
    return reopened(state, state.project, set_number(found[0], path, number, found[1]))


def show_machine_number(document: Document, path: Sequence[Key], number: float, after: ProjectState) -> None:
    """The undo step of a changed number, with the state that it leads to."""
    where = ".".join(str(key) for key in path)
    document.edit(f"Machine {where}: {number:g}", lambda _: after)


def choose_machine(document: Document, machine: str | Path) -> None:
    """Another machine: one of the program's by name, or a file."""
    state = document.state
    if state is not None:
        text = read_text(machine) if isinstance(machine, Path) else None
        name = machine.stem if isinstance(machine, Path) else machine
        _reopen(document, f"Machine {name}", replace(state.project, machine=machine), text)


def set_groups(document: Document, groups: Sequence[GroupKind]) -> None:
    """The warp groups that schedules may use: the shown schedule's own if it has any, else the project's."""
    chosen = tuple(groups)
    entry = _entry(document)
    if entry is not None and entry.groups is not None:
        _reopen_entry(document, "Warp groups", replace(entry, groups=chosen))
    else:
        _reopen_project(document, "Warp groups", lambda project: replace(project, groups=chosen))


def set_transform(document: Document, transform: Transform) -> None:
    """Fusion, sub-tiles and branches: the shown schedule's own if it has them, else the project's."""
    entry = _entry(document)
    if entry is not None and entry.transform is not None:
        _reopen_entry(document, "Transform", replace(entry, transform=transform))
    else:
        _reopen_project(document, "Transform", lambda project: replace(project, transform=transform))


def set_rules(document: Document, rules: Rules) -> None:
    """The switchable rules."""
    _reopen_project(document, "Rules", lambda project: replace(project, rules=rules))


def take_costs(document: Document, proposals: Sequence[Proposal], note: str) -> None:
    """Puts the costs that a measured run proposes into the project's overrides."""

    def changed(project: Project) -> Project:
        overrides = dict(project.overrides)
        for one in proposals:
            costs = {one.what: one.new}
            overrides[one.op] = replace(overrides.get(one.op, Override()), **costs, note=note)
        return replace(project, overrides=overrides)

    count = len({one.op for one in proposals})
    _reopen_project(document, f"Measured costs of {counted(count, 'operation')}", changed)


def set_limit(document: Document, seconds: float) -> None:
    """How long a solve may take."""

    def changed(state: ProjectState) -> ProjectState:
        return replace(state, project=replace(state.project, solve=replace(state.project.solve, limit_s=seconds)))

    document.edit("Time limit", changed)


def show_loop(document: Document, loop: int) -> None:
    """Shows the schedule of another loop of the text; one that has none yet gets an entry of its own."""
    state = document.state
    if state is None:
        return
    there = (n for n, variant in state.variants.items() if variant.opened.loop and variant.opened.loop.index == loop)
    if (known := next(there, None)) is not None:
        document.edit(f"Show schedule {known}", lambda state: with_active(state, known))
        return
    name = _free_name(state, f"loop_{loop}")
    entry = ScheduleEntry(_place(state, name), loop=loop)
    project = _with_present_entries(state)
    project = replace(project, schedules={**project.schedules, name: entry})
    state = replace(state, variants={**state.variants, name: state.variant})
    after = with_active(reopened(state, project, state.machine_text), name)
    document.edit(f"Loop {loop}", lambda _: after)


def keep_copy(document: Document) -> str | None:
    """Keeps the shown schedule under a new name, to be compared with; returns the name."""
    state = document.state
    if state is None or state.variant.schedule is None:
        return None
    name = _free_name(state, f"{state.active}_copy")
    project = _with_present_entries(state)
    old = project.schedules[state.active]
    project = replace(project, schedules={**project.schedules, name: replace(old, file=_place(state, name))})
    after = replace(state, project=project, variants={**state.variants, name: state.variant})
    document.edit(f"Keep a copy as {name}", lambda _: after)
    return name


def remove_schedule(document: Document) -> None:
    """Takes the shown schedule out of the project; its file stays. The last one stays."""
    state = document.state
    if state is None or len(state.variants) < 2:
        return
    gone = state.active

    def removed(state: ProjectState) -> ProjectState:
        variants = {name: variant for name, variant in state.variants.items() if name != gone}
        entries = {name: entry for name, entry in state.project.schedules.items() if name != gone}
        shown = next(iter(variants))
        project = replace(state.project, schedules=entries, active=shown)
        return replace(state, project=project, variants=variants, active=shown)

    document.edit(f"Remove schedule {gone}", removed)


def _entry(document: Document) -> ScheduleEntry | None:
    """The project's entry of the shown schedule, if it has one."""
    state = document.state
    return state.project.schedules.get(state.active) if state else None


def _reopen_entry(document: Document, text: str, entry: ScheduleEntry) -> None:
    state = document.state
    if state is not None:
        schedules = {**state.project.schedules, state.active: entry}
        _reopen_project(document, text, lambda project: replace(project, schedules=schedules))


def _reopen_project(document: Document, text: str, change: Callable[[Project], Project]) -> None:
    state = document.state
    if state is not None:
        _reopen(document, text, change(state.project), state.machine_text)


def _reopen(document: Document, text: str, project: Project, machine: str | None) -> None:
    state = document.state
    if state is not None:
        after = reopened(state, project, machine)
        document.edit(text, lambda _: after)


def _with_present_entries(state: ProjectState) -> Project:
    """The project with an entry for every schedule there is: one that was never saved has none yet."""
    entries = {name: ScheduleEntry(_place(state, name)) for name in state.variants}
    return replace(state.project, schedules=entries | dict(state.project.schedules))


def _place(state: ProjectState, name: str) -> Path:
    folder = (state.project.file or state.project.input.path).parent
    return folder / SCHEDULE_FOLDER / f"{name}.yaml"


def _free_name(state: ProjectState, wanted: str) -> str:
    taken = {*state.variants, *state.project.schedules}
    return next(name for name in (wanted, *(f"{wanted}_{n}" for n in range(2, 10_000))) if name not in taken)


def describe_dropped(before: ProjectState, after: ProjectState) -> tuple[str, ...]:
    """The schedules that an edit has left out, since they do not fit their loop any more."""
    return tuple(
        name
        for name, variant in before.variants.items()
        if variant.schedule is not None and _lost(after.variants.get(name))
    )


def _lost(variant: Variant | None) -> bool:
    return variant is not None and variant.schedule is None
