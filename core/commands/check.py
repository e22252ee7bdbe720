"""`twill check`: the judge's verdict on a schedule."""

from __future__ import annotations

import argparse

from core.commands.answers import Answer, ExitCode, answer_each, table
from core.commands.inputs import open_schedule
from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.model import Schedule
from core.schedule.report import Report


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for the input: 0 legal, 1 with violations."""
    return answer_each(arguments.inputs, lambda name: _check(name, arguments), arguments.json)


def _check(name: str, arguments: argparse.Namespace) -> Answer:
    opened, schedule = open_schedule(name, arguments)
    report = check(opened.graph, schedule)
    code = ExitCode.ANSWERED if report.legal else ExitCode.NEGATIVE
    return Answer(report.as_json(), _text(opened.graph, schedule, report), code, opened.diagnostics)


def _text(graph: Graph, schedule: Schedule, report: Report) -> str:
    lines = [f"{'legal' if report.legal else 'not legal'} at II {schedule.ii}"]
    if report.violations:
        rows = [[v.family.value, "-" if v.at is None else v.at, v.message] for v in report.violations]
        lines.append(table(("rule", "at", "what"), rows))
    peaks, machine = report.peaks, graph.machine
    resources: list[list[object]] = []
    for group, registers in peaks.registers.items():
        resources.append([f"registers of {group}", registers, schedule.groups[group].grant])
    resources.append(["shared memory, bytes", peaks.shared_memory, machine.shared_memory_bytes])
    if machine.tensor_memory_columns:
        resources.append(["tensor memory, columns", peaks.tensor_memory, machine.tensor_memory_columns])
    for unit, used in peaks.units.items():
        resources.append([unit, used, machine.units[unit]])
    lines.append(table(("peak", "used", "available"), resources))
    return "\n".join(lines)
