"""The points of a sweep: the product of its axes, each with the graph that is solved there."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum

from core.diagnostics import Diagnostic, InputError
from core.graph.model import Graph
from core.graph.write import graph_document
from core.project.model import InputKind, Project
from core.project.opened import OpenProject, open_project
from core.solve.events import SolveOptions
from core.sweep.axes import Axis
from core.sweep.machine_settings import varied_machine
from core.sweep.setting import AxisError, Setting, Value, check_known, label


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of values, the graph it stands for, and the hash of that graph and of how it is solved."""

    values: Mapping[str, Value]
    graph: Graph
    inputs: str


def sweep_points(
    project: Project, axes: Sequence[Axis], options: SolveOptions
) -> tuple[tuple[Point, ...], tuple[Diagnostic, ...]]:
    """All points, the last axis fastest, and what opening the project had to say, each thing once.

    Raises AxisError or InputError, with the values of the point, if one of them cannot be had.
    """
    opened: dict[tuple[Value, ...], OpenProject] = {}
    points: list[Point] = []
    for settings in itertools.product(*(axis.settings for axis in axes)):
        values = {axis.key: setting.value for axis, setting in zip(axes, settings, strict=True)}
        of_project = tuple(setting.value for setting in settings if setting.graph is None)
        try:
            if of_project not in opened:
                opened[of_project] = _open(project, settings)
            graph = _varied(opened[of_project].graph, settings)
        except AxisError as fault:
            raise AxisError(f"{label(values)}: {fault}") from None
        except InputError as fault:
            raise InputError(_at_point(fault.diagnostics, label(values))) from None
        points.append(Point(values, graph, _hash(graph, options)))
    diagnostics = dict.fromkeys(d for one in opened.values() for d in one.diagnostics)
    return tuple(points), tuple(diagnostics)


def _open(project: Project, settings: Sequence[Setting]) -> OpenProject:
    """The project as the settings have it, opened; edits of the resolved machine are done."""
    for setting in settings:
        if setting.project is not None:
            project = setting.project(project)
    opened = open_project(project, lambda machine: varied_machine(machine, settings))
    if project.input.kind is InputKind.GRAPH:
        opened = replace(opened, graph=_resolved(opened.graph, settings))
    ops = opened.sources or opened.graph.ops
    for setting in settings:
        if setting.op is not None:
            check_known(setting.op, ops, "op")
    return opened


def _resolved(graph: Graph, settings: Sequence[Setting]) -> Graph:
    for setting in settings:
        if setting.resolved is not None:
            graph = setting.resolved(graph)
        elif setting.machine is not None:
            raise AxisError("this needs a TTGIR input, the ops of a graph file have their costs already")
    return graph


def _varied(graph: Graph, settings: Sequence[Setting]) -> Graph:
    for setting in settings:
        if setting.graph is not None:
            graph = setting.graph(graph)
    return graph


def _at_point(diagnostics: Sequence[Diagnostic], where: str) -> Iterator[Diagnostic]:
    return (replace(diagnostic, message=f"{where}: {diagnostic.message}") for diagnostic in diagnostics)


def _hash(graph: Graph, options: SolveOptions) -> str:
    text = json.dumps([graph_document(graph), asdict(options)], default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Enum) -> object:
    return value.value
