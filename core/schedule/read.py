"""Reads `twill.schedule/1` files (YAML or JSON) against their graph."""

from __future__ import annotations

from pathlib import Path

from core.diagnostics import Diagnostic, InputError, Severity
from core.graph.model import Graph
from core.schedule.fit import Misfit, misfits
from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup
from core.schedule.schema import SCHEMA, ScheduleDocument
from core.yaml_source import YamlSource, parse_yaml, read_text, require_schema, validate


def load_schedule(path: Path, graph: Graph) -> Schedule:
    """The schedule of a file. Raises InputError with file, line and column."""
    return parse_schedule(read_text(path), str(path), graph)


def parse_schedule(text: str, file: str, graph: Graph) -> Schedule:
    """The schedule of a document; `file` names it in diagnostics. Raises InputError, one diagnostic per fault:
    what is wrong with the text, or that it does not fit the graph. A broken rule is no fault here; see `check`."""
    source = parse_yaml(text, file)
    require_schema(source, SCHEMA)
    document = validate(ScheduleDocument, source)
    schedule = schedule_of(document)
    faults = [_diagnostic(misfit, source) for misfit in misfits(graph, schedule)]
    if faults:
        raise InputError(faults)
    return schedule


def schedule_of(document: ScheduleDocument) -> Schedule:
    """The schedule that a sound document stands for."""
    origin = document.origin
    return Schedule(
        ii=document.ii,
        groups={name: ScheduledGroup(group.kind, group.grant) for name, group in document.groups.items()},
        ops={name: Placement(op.start, op.group, op.delay) for name, op in document.ops.items()},
        rings=dict(document.rings),
        origin=Origin(origin.by, origin.status, origin.model, origin.seed) if origin else None,
    )


def _diagnostic(misfit: Misfit, source: YamlSource) -> Diagnostic:
    line, column = source.position(misfit.path, of_key=misfit.of_key)
    return Diagnostic(Severity.ERROR, misfit.code, misfit.message, source.file, line, column, misfit.hint)
