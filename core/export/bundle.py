"""Everything about a schedule in one JSON document: for scripts and other tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.graph.model import Graph
from core.graph.write import graph_document
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.liveness import LiveRange, Ring, live_ranges
from core.schedule.metrics import hand_offs, length, stages
from core.schedule.model import Schedule
from core.schedule.write import schedule_document

SCHEMA = "twill.bundle/1"


def bundle(graph: Graph, schedule: Schedule) -> dict[str, Any]:
    """Graph (with its bounds), schedule, the judge's report, figures and live ranges.

    Ranges are cycles of iteration 0, [begin, end). `graph` and `schedule` are whole documents of their own formats.
    """
    live = live_ranges(graph, schedule)
    crossing = hand_offs(graph, schedule)
    return {
        "schema": SCHEMA,
        "graph": {**graph_document(graph), "bounds": bounds(graph).as_json()},
        "schedule": schedule_document(schedule),
        "check": check(graph, schedule).as_json(),
        "figures": {
            "stages": stages(schedule),
            "length": length(graph, schedule),
            "hand_offs": {"values": list(crossing.values), "bytes": crossing.bytes},
        },
        "live_ranges": {
            "registers": {group: _ranges(ranges) for group, ranges in live.registers.items()},
            "rings": _rings(live.rings.values()),
            "hand_offs": _rings(live.hand_offs.values()),
            "tensor_memory": _ranges(live.tensor),
        },
    }


def _ranges(ranges: Iterable[LiveRange]) -> list[dict[str, Any]]:
    return [live._asdict() for live in ranges]


def _rings(rings: Iterable[Ring]) -> list[dict[str, Any]]:
    return [ring._asdict() for ring in rings]
