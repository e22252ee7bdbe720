"""Writes the schedule value as a `twill.schedule/1` document."""

from __future__ import annotations

from typing import Any

from core.schedule.model import Placement, Schedule
from core.schedule.schema import SCHEMA
from core.yaml_source import flow_text


def schedule_document(schedule: Schedule) -> dict[str, Any]:
    """The document as plain data in the order of the format's example."""
    origin = schedule.origin
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "ii": schedule.ii,
        "groups": {name: {"kind": group.kind, "grant": group.grant} for name, group in schedule.groups.items()},
        "rings": dict(schedule.rings),
        "ops": {name: _placement(placement) for name, placement in schedule.ops.items()},
    }
    if origin:
        claim = {"status": origin.status} if origin.status else {}
        document["origin"] = {"by": origin.by, **claim, "model": origin.model, "seed": origin.seed}
    return document


def dump_schedule(schedule: Schedule) -> str:
    """The YAML text, one line per op. Equal schedules in equal order give equal bytes."""
    document = schedule_document(schedule)
    ops = document.pop("ops")
    origin = document.pop("origin", None)
    lines = [f"{key}: {flow_text(value)}" for key, value in document.items()]
    lines.append("ops:" if ops else "ops: {}")
    lines += [f"  {flow_text(name)}: {flow_text(placement)}" for name, placement in ops.items()]
    if origin:
        lines.append(f"origin: {flow_text(origin)}")
    return "\n".join(lines) + "\n"


def _placement(placement: Placement) -> dict[str, Any]:
    document: dict[str, Any] = {"start": placement.start, "group": placement.group}
    return {**document, "delay": placement.delay} if placement.delay else document
