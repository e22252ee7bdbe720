"""Everything of an open project that a file can hold, as one frozen value, and pure edits of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Flag, auto
from pathlib import Path

from core.graph.model import Graph, Pin
from core.project.model import Project
from core.project.opened import OpenProject
from core.schedule.model import Schedule
from core.solve.events import SolveResult
from core.yaml_source import YamlSource
from twill_gui.document.records import Record

SCHEDULE_FOLDER = "schedules"  # beside the project file, for schedules that have no place yet


class Change(Flag):
    """What differs between two states. PROJECT: another project, or none. GRAPH: the shown loop graph, pins included.
    SCHEDULE: the shown schedule. SCHEDULES: names, contents or order of the kept ones."""

    NOTHING = 0
    PROJECT = auto()
    GRAPH = auto()
    SCHEDULE = auto()
    SCHEDULES = auto()

    @property
    def of_schedules_only(self) -> bool:
        """Only schedules differ: what is scheduled is the same."""
        return bool(self) and not self & ~(Change.SCHEDULE | Change.SCHEDULES)


EVERYTHING = Change.PROJECT | Change.GRAPH | Change.SCHEDULE | Change.SCHEDULES


@dataclass(frozen=True, slots=True)
class Variant:
    """A named schedule with the loop it is for (its own groups and transform), and the solve that made it.

    `schedule` is None until there is one, `record` if the user made the schedule.
    """

    opened: OpenProject
    schedule: Schedule | None = None
    record: Record | None = None

    @property
    def result(self) -> SolveResult | None:
        """The solve that made the schedule; it may lack the schedule itself (see Record)."""
        return self.record.result if self.record else None

    @property
    def graph(self) -> Graph:
        """The graph it is a schedule of."""
        return self.opened.graph


@dataclass(frozen=True, slots=True)
class Location:
    """Where a project is kept; None and empty until it has been saved."""

    file: Path | None
    source: YamlSource | None
    schedules: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class ProjectState:
    """A project with its graphs and schedules by name; `active` is the one shown.

    `machine_text`: the machine file's text as it is to be; None: the machine is one of the program's, unchanged.
    """

    project: Project
    variants: Mapping[str, Variant]
    active: str
    machine_text: str | None = None

    @property
    def variant(self) -> Variant:
        """The one shown."""
        return self.variants[self.active]

    @property
    def location(self) -> Location:
        """Where the project is kept."""
        files = {name: entry.file for name, entry in self.project.schedules.items()}
        return Location(self.project.file, self.project.source, files)

    def at(self, location: Location) -> ProjectState:
        """The same project, kept elsewhere: undoing an edit does not undo a save."""
        if location == self.location:
            return self
        entries = {
            name: replace(entry, file=location.schedules.get(name) or _new_place(location.file, name, entry.file))
            for name, entry in self.project.schedules.items()
        }
        return replace(
            self, project=replace(self.project, file=location.file, source=location.source, schedules=entries)
        )


def with_schedule(state: ProjectState, name: str, schedule: Schedule, record: Record | None = None) -> ProjectState:
    """The state with the schedule under that name. Raises KeyError if there is no such variant."""
    variant = replace(state.variants[name], schedule=schedule, record=record)
    return replace(state, variants={**state.variants, name: variant})


def with_record(state: ProjectState, old: Record, new: Record | None) -> ProjectState:
    """The state with another record in the place of one; the same object if it has none such."""
    if all(variant.record is not old for variant in state.variants.values()):
        return state
    variants = {
        name: replace(variant, record=new) if variant.record is old else variant
        for name, variant in state.variants.items()
    }
    return replace(state, variants=variants)


def with_active(state: ProjectState, name: str) -> ProjectState:
    """The state that shows the named schedule. Raises KeyError if there is no such variant."""
    if name not in state.variants:
        raise KeyError(name)
    return replace(state, active=name, project=replace(state.project, active=name))


def with_pin(state: ProjectState, op: str, pin: Pin | None) -> ProjectState:
    """The state with the op pinned in every graph that has it, or not pinned any more.

    Where a solve's proof does not hold any more, its record goes.
    """
    pins = {name: old for name, old in state.project.pins.items() if name != op}
    project = replace(state.project, pins={**pins, op: pin} if pin else pins)
    variants = {name: _pinned(variant, op, pin) for name, variant in state.variants.items()}
    return replace(state, project=project, variants=variants)


def difference(before: ProjectState, after: ProjectState) -> Change:
    """What an edit changed."""
    change = Change.NOTHING
    if before.variant.graph is not after.variant.graph:
        change |= Change.GRAPH
    if before.active != after.active or before.variant.schedule is not after.variant.schedule:
        change |= Change.SCHEDULE
    if before.active != after.active or before.variants != after.variants:
        change |= Change.SCHEDULES
    return change


def _new_place(project: Path | None, name: str, old: Path) -> Path:
    return project.parent / SCHEDULE_FOLDER / f"{name}.yaml" if project else old


def _pinned(variant: Variant, op: str, pin: Pin | None) -> Variant:
    graph = variant.graph
    if op not in graph.ops:
        return variant
    pins = {name: old for name, old in graph.pins.items() if name != op}
    graph = replace(graph, pins={**pins, op: pin} if pin else pins)
    record, schedule = variant.record, variant.schedule
    kept = record if record and schedule and record.holds(schedule, graph.pins) else None
    return replace(variant, opened=replace(variant.opened, graph=graph), record=kept)
