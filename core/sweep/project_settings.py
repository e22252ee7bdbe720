"""Axes that change the project, before its input is read: other text, other tiles, other costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from core.files import is_file
from core.machine.load import SUFFIXES
from core.project.model import Fuse, Input, InputKind, Override, Project, Subtile
from core.sweep.setting import AxisError, Setting, check_known, read_count, read_positive

_MOST_PARTS = 16
"""As in a project file."""


def input_file(_: str, text: str) -> Setting:
    """Another input file, such as the same kernel with other tiles; its function and loop are those of the project."""
    path = Path(text)
    if not is_file(path):
        raise AxisError(f"there is no file '{text}'")

    def edit(project: Project) -> Project:
        if path.suffix in SUFFIXES:
            return replace(project, input=Input(InputKind.GRAPH, path))
        if project.input.kind is InputKind.GRAPH:
            return replace(project, input=Input(InputKind.TTGIR, path))
        return replace(project, input=replace(project.input, path=path))

    return Setting(text, project=edit)


def subtile(_: str, text: str) -> Setting:
    """Parts into which tile ops are split; 1 leaves them whole."""
    parts = read_positive(text)
    if parts > _MOST_PARTS:
        raise AxisError(f"{parts} parts are more than {_MOST_PARTS}")

    def edit(project: Project) -> Project:
        if project.input.kind is InputKind.GRAPH:
            raise AxisError("sub-tiles need a TTGIR input, a graph file has its ops already")
        old = project.transform.subtile or Subtile("m", parts)
        new = None if parts == 1 else replace(old, parts=parts)
        return replace(project, transform=replace(project.transform, subtile=new))

    return Setting(parts, project=edit)


def fuse(_: str, text: str) -> Setting:
    """Whether chains of small ops become blocks."""
    check_known(text, [mode.value for mode in Fuse], "way to fuse")
    mode = Fuse(text)

    def edit(project: Project) -> Project:
        return replace(project, transform=replace(project.transform, fuse=mode))

    return Setting(text, project=edit)


def latency(op: str, text: str) -> Setting:
    """Latency of one op in cycles."""
    cycles = read_count(text)

    def edit(project: Project) -> Project:
        return replace(project, overrides=_overridden(project, op, latency=cycles))

    return Setting(cycles, project=edit, op=op)


def issue_cycles(op: str, text: str) -> Setting:
    """Issue cycles of one op."""
    cycles = read_count(text)

    def edit(project: Project) -> Project:
        return replace(project, overrides=_overridden(project, op, issue_cycles=cycles))

    return Setting(cycles, project=edit, op=op)


def _overridden(project: Project, op: str, **costs: int) -> Mapping[str, Override]:
    return {**project.overrides, op: replace(project.overrides.get(op, Override()), **costs)}
