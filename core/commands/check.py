"""`twill check`: the judge's verdict on a schedule, or on those of a kernel's loops."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from core.commands.answers import Answer, ExitCode, answer_each, table
from core.commands.inputs import kernel_project, open_kept, open_schedule
from core.diagnostics import Diagnostic
from core.graph.model import Graph
from core.project.model import Project
from core.schedule.check import check
from core.schedule.check_kernel import KernelReport, check_kernel
from core.schedule.model import Schedule
from core.schedule.report import Report


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for the input: 0 legal, 1 with violations."""
    return answer_each(arguments.inputs, lambda name: _check(name, arguments), arguments.json)


def _check(name: str, arguments: argparse.Namespace) -> Answer:
    project = kernel_project(name, arguments)
    if project is not None:
        return _check_kernel(project)
    opened, schedule = open_schedule(name, arguments)
    report = check(opened.graph, schedule)
    code = ExitCode.ANSWERED if report.legal else ExitCode.NEGATIVE
    return Answer(report.as_json(), _text(opened.graph, schedule, report), code, opened.diagnostics)


def _check_kernel(project: Project) -> Answer:
    """Of all loops; a loop around one whose schedule is not legal has no graph, so it is left out."""
    graphs: dict[str, Graph] = {}
    schedules: dict[str, Schedule] = {}
    said: list[Diagnostic] = []
    report = None
    for level in project.kernel_levels:
        if report is not None and not report.legal:
            break
        for entry in level:
            opened, schedules[entry] = open_kept(project, entry)
            graphs[entry] = opened.graph
            said += opened.diagnostics
        report = check_kernel(graphs, schedules)
    assert report is not None  # a kernel has loops
    code = ExitCode.ANSWERED if report.legal else ExitCode.NEGATIVE
    return Answer(report.as_json(), _kernel_text(graphs, schedules, report), code, tuple(dict.fromkeys(said)))


def _kernel_text(graphs: Mapping[str, Graph], schedules: Mapping[str, Schedule], report: KernelReport) -> str:
    parts = [f"loop {loop}: {_text(graphs[loop], schedules[loop], one)}" for loop, one in report.reports.items()]
    lines = [f"{len(schedules)} loops as one kernel: {'legal' if report.legal else 'not legal'}"]
    if report.faults:
        lines.append(table(("rule", "what"), [[fault.family.value, fault.message] for fault in report.faults]))
    if report.rings:
        rows = [[ring.value, ring.slot_bytes, ring.depth, ", ".join(ring.depths)] for ring in report.rings]
        lines.append(table(("common ring", "slot bytes", "depth", "of the loops"), rows))
    return "\n\n".join([*parts, "\n".join(lines)])


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
