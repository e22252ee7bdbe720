"""`twill export`: a schedule for other tools."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from core.commands.answers import Answer, ExitCode, UsageError, answer_each, writing
from core.commands.inputs import open_schedule
from core.diagnostics import Diagnostic, Severity
from core.export.bundle import bundle
from core.export.trace import chrome_trace
from core.export.ttgir import annotated_ttgir, annotation_warnings
from core.files import write_atomically
from core.project.opened import OpenProject
from core.schedule.expansion import shown_iterations
from core.schedule.metrics import stages
from core.schedule.model import Schedule

_STEADY_TRIPS = 4
"""Trips of a trace beyond those that fill the pipeline, so that the steady state is seen."""


def run(arguments: argparse.Namespace) -> ExitCode:
    """Writes the file and answers for the input."""
    return answer_each(arguments.inputs, lambda name: _export(name, arguments), arguments.json)


def _export(name: str, arguments: argparse.Namespace) -> Answer:
    opened, schedule = open_schedule(name, arguments)
    text, warnings = _content(opened, schedule, arguments.format)
    path = Path(arguments.output)
    with writing(path):
        write_atomically(path, text)
    document = {"files": [path.as_posix()], "warnings": [w.as_json() for w in warnings], "holes": []}
    return Answer(document, f"written: {path.as_posix()}", diagnostics=(*opened.diagnostics, *warnings))


def _content(opened: OpenProject, schedule: Schedule, wanted: str) -> tuple[str, tuple[Diagnostic, ...]]:
    if wanted == "json":
        return json.dumps(bundle(opened.graph, schedule), ensure_ascii=False, indent=1) + "\n", ()
    if wanted == "trace":
        trips = stages(schedule) + _STEADY_TRIPS
        shown = shown_iterations(schedule, trips)
        trace = chrome_trace(opened.graph, schedule, shown)
        return json.dumps(trace, ensure_ascii=False) + "\n", _cut(opened, shown, trips)
    if opened.tiles is None:
        raise UsageError("--format ttgir needs a project with TTGIR text; this one is a graph")
    return annotated_ttgir(opened.tiles, schedule, opened.fusion), annotation_warnings(opened.tiles)


def _cut(opened: OpenProject, shown: int, trips: int) -> tuple[Diagnostic, ...]:
    if shown == trips:
        return ()
    message = f"the trace holds the first {shown} of the {trips} iterations that would show the steady state"
    return (Diagnostic(Severity.WARNING, "trace-cut", message, str(opened.project.input.path)),)
