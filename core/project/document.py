"""The project value as plain data for a `twill.project/1` file: defaults left out, paths relative to the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from core.graph.model import GroupKind
from core.project.model import Branches, Fuse, Override, Project, ScheduleEntry, Transform
from core.project.schema import SCHEMA
from core.solve.events import SolveOptions


def project_document(project: Project, folder: Path) -> dict[str, Any]:
    """The project as plain data for a file in `folder`: defaults left out, relative paths with forward slashes."""
    document: dict[str, Any] = {"schema": SCHEMA, "name": project.name}
    document["input"] = _without_none(
        {
            project.input.kind.value: _relative(project.input.path, folder),
            "function": project.input.function,
            "loop": project.input.loop,
        }
    )
    if project.machine is not None:
        is_file = isinstance(project.machine, Path)
        document["machine"] = _relative(project.machine, folder) if is_file else project.machine
    if project.groups is not None:
        document["groups"] = [_group_document(group) for group in project.groups]
    if project.rules is not None:
        document["rules"] = {
            "in_order_issue": project.rules.in_order_issue.value,
            "isolate_matrix_issue": project.rules.isolate_matrix_issue,
            "allow_hand_off": project.rules.allow_hand_off,
        }
    parts: dict[str, Any] = {
        "transform": _transform_document(project.transform),
        "overrides": {op: _override_document(override) for op, override in project.overrides.items()},
        "pins": {op: _without_none({"start": pin.start, "group": pin.group}) for op, pin in project.pins.items()},
        "solve": _solve_document(project.solve),
        "schedules": {name: _entry_document(entry, folder) for name, entry in project.schedules.items()},
    }
    document |= {key: part for key, part in parts.items() if part}
    if project.active is not None:
        document["active"] = project.active
    return document


def _without_none(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def _group_document(group: GroupKind) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": group.kind, "warps": group.warps, "count": group.count}
    return {**document, "variable_latency": True} if group.variable_latency else document


def _transform_document(transform: Transform) -> dict[str, Any]:
    document: dict[str, Any] = {} if transform.fuse is Fuse.AUTO else {"fuse": transform.fuse.value}
    if transform.subtile is not None:
        subtile = transform.subtile
        ops = "all" if subtile.ops is None else list(subtile.ops)
        document["subtile"] = {"axis": subtile.axis, "parts": subtile.parts, "ops": ops}
    if transform.branches is not Branches.REFUSE:
        document["branches"] = transform.branches.value
    return document


def _override_document(override: Override) -> dict[str, Any]:
    document = _without_none({"latency": override.latency, "issue_cycles": override.issue_cycles})
    return {**document, "note": override.note} if override.note else document


def _solve_document(options: SolveOptions) -> dict[str, Any]:
    default = SolveOptions()
    document = {
        "model": options.model.value if options.model is not default.model else None,
        "objective": [level.value for level in options.objective] if options.objective != default.objective else None,
        "max_ii": options.max_ii,
        "limit_s": _plain(options.limit_s) if options.limit_s != default.limit_s else None,
        "seed": options.seed if options.seed != default.seed else None,
    }
    return _without_none(document)


def _plain(number: float) -> float | int:
    """60 rather than 60.0, as people write it."""
    return int(number) if number == int(number) else number


def _entry_document(entry: ScheduleEntry, folder: Path) -> str | dict[str, Any]:
    document: dict[str, Any] = {"file": _relative(entry.file, folder)}
    if entry.groups is not None:
        document["groups"] = [_group_document(group) for group in entry.groups]
    if entry.loop is not None:
        document["loop"] = entry.loop
    if entry.trip_count is not None:
        document["trip_count"] = entry.trip_count
    if entry.transform is not None:
        document["transform"] = _transform_document(entry.transform) or {"fuse": Fuse.AUTO.value}
    return document if len(document) > 1 else document["file"]


def _relative(path: str | Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
