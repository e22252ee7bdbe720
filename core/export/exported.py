"""A schedule as one text for other tools, with what the format could not hold."""

from __future__ import annotations

import json
from enum import Enum

from core.diagnostics import Diagnostic, Severity
from core.export.bundle import bundle
from core.export.trace import chrome_trace
from core.export.ttgir import annotated_ttgir, annotation_warnings
from core.graph.fuse import Fusion
from core.graph.model import Graph
from core.ir.tiles import TileLoop
from core.schedule.expansion import shown_iterations
from core.schedule.metrics import stages
from core.schedule.model import Schedule

_STEADY_TRIPS = 4
"""Trips of a trace beyond those that fill the pipeline, so that the steady state is seen."""


class TextFormat(Enum):
    """TTGIR: the input's text with the schedule in its attributes. TRACE: for Perfetto. JSON: everything."""

    TTGIR = "ttgir"
    TRACE = "trace"
    JSON = "json"


def exported_text(
    wanted: TextFormat, graph: Graph, schedule: Schedule, tiles: TileLoop | None = None, fusion: Fusion | None = None
) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text and its warnings. Raises ValueError for TTGIR without `tiles`: a graph file has no text to annotate."""
    if wanted is TextFormat.JSON:
        return json.dumps(bundle(graph, schedule), ensure_ascii=False, indent=1) + "\n", ()
    if wanted is TextFormat.TRACE:
        trips = stages(schedule) + _STEADY_TRIPS
        shown = shown_iterations(schedule, trips)
        trace = chrome_trace(graph, schedule, shown)
        return json.dumps(trace, ensure_ascii=False) + "\n", _cut(graph, shown, trips)
    if tiles is None:
        raise ValueError("there is no TTGIR text to annotate: the input is a graph")
    return annotated_ttgir(tiles, schedule, fusion), annotation_warnings(tiles)


def _cut(graph: Graph, shown: int, trips: int) -> tuple[Diagnostic, ...]:
    if shown == trips:
        return ()
    message = f"the trace holds the first {shown} of the {trips} iterations that would show the steady state"
    return (Diagnostic(Severity.WARNING, "trace-cut", message, graph.name),)
