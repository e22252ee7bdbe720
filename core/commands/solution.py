"""What a solve found, as the JSON document of `twill solve` and as text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.commands.answers import table
from core.commands.graph import bounds_text
from core.graph.model import Graph
from core.project.record import level_document, paper_document, trail_document
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.index import GraphIndex
from core.schedule.metrics import length, stages, used_groups
from core.schedule.model import Schedule
from core.schedule.report import Family
from core.schedule.wording import counted
from core.schedule.write import schedule_document
from core.solve.events import PaperAnswer, Queueing, SolveResult, Status, TrailEntry
from core.solve.structure import structure


def solution_document(graph: Graph, result: SolveResult) -> dict[str, Any]:
    """The JSON fields of `twill solve`."""
    schedule = result.schedule
    document = {
        "status": result.status.value,
        "ii": result.ii,
        "proved_lower_bound": result.proved_lower_bound,
        "ii_trail": [trail_document(entry) for entry in result.trail],
        "stages": None if schedule is None else stages(schedule),
        "length": None if schedule is None else length(graph, schedule),
        "groups": [] if schedule is None else _group_documents(graph, schedule),
        "levels": [level_document(level) for level in result.levels],
        "seconds": round(result.seconds, 3),
        "schedule": None if schedule is None else schedule_document(schedule),
    }
    if result.schedules:
        document["schedules"] = [schedule_document(other) for other in result.schedules]
        document["schedules_complete"] = result.schedules_complete
    if result.paper is not None:
        document["paper"] = paper_document(result.paper)
    return document


def _group_documents(graph: Graph, schedule: Schedule) -> list[dict[str, Any]]:
    index, peaks = GraphIndex(graph), check(graph, schedule).peaks
    return [
        {
            "name": name,
            "kind": schedule.groups[name].kind,
            "warps": graph.group_kind(schedule.groups[name].kind).warps,
            "grant": schedule.groups[name].grant,
            "ops": [op for op, place in schedule.ops.items() if place.group == name],
            "max_live_registers": peaks.registers[name] - index.overhead(schedule.groups[name].kind),
        }
        for name in used_groups(schedule)
    ]


def solution_text(graph: Graph, result: SolveResult, files: Sequence[Path]) -> str:
    """The verdicts on II, the bounds, the levels and the groups; `files`: where schedules were written."""
    lines = [_headline(graph, result)]
    if result.trail:
        rows = [[e.ii, e.verdict.value, e.by, _confirmed(e), f"{e.seconds:.2f}"] for e in result.trail]
        lines.append(table(("II", "verdict", "by", "confirmed by", "seconds"), rows))
        lines += [
            f"impossible without queueing: II {e.ii}, which asynchronous ops that wait for their unit make possible"
            for e in result.trail
            if e.queueing is Queueing.HELPS
        ]
    lines.append(bounds_text(bounds(graph)))
    if result.paper is not None:
        lines += _paper_lines(result.paper)
    if result.levels:
        rows = [
            [level.name.value, level.value, level.bound, "yes" if level.proved else "no"] for level in result.levels
        ]
        lines.append(table(("level", "value", "bound", "proved"), rows))
    if result.schedule is not None:
        rows = [
            [group["name"], group["warps"], group["grant"], group["max_live_registers"], ", ".join(group["ops"])]
            for group in _group_documents(graph, result.schedule)
        ]
        lines.append(table(("group", "warps", "grant", "live", "ops"), rows))
        if result.schedules:
            lines += _optima_lines(graph, result)
        if files:
            lines.append(f"written: {', '.join(file.as_posix() for file in files)}")
    return "\n".join(lines)


def _optima_lines(graph: Graph, result: SolveResult) -> list[str]:
    """Orders and groups of each of the structurally different optima."""
    end = "; there are no more" if result.schedules_complete else ""
    lines = [f"structurally different optima: {len(result.schedules)}{end}"]
    for number, schedule in enumerate(result.schedules, 1):
        found = structure(graph, schedule)
        orders = [f"{unit}: {' '.join(one.op for one in order)}" for unit, order in found.orders if len(order) > 2]
        groups = [f"{kind}: {' '.join(ops)}" for kind, ops in sorted(found.groups)]
        lines += [f"  {number}. {'; '.join(orders)}", *(f"     {group}" for group in groups)]
    return lines


def _confirmed(entry: TrailEntry) -> str:
    return "one solver" if entry.by_one_solver else entry.confirmed_by or "-"


def _paper_lines(answer: PaperAnswer) -> list[str]:
    lines = [f"the paper's model, in cycles of its own of {answer.unit:.4g} cycles each: {answer.verdict.value}"]
    if answer.attempts:
        rows = [[a.ii, a.length, a.verdict.value, f"{a.seconds:.2f}"] for a in answer.attempts]
        lines.append(table(("II", "L", "verdict", "seconds"), rows))
    if answer.schedule is not None:
        lines.append(f"the judge on its schedule: {_broken(answer.violations)}")
        raw = "contradict each other" if answer.raw_ii is None else f"reach II {answer.raw_ii}"
        verdict = "" if answer.raw_ii is None else f": {_broken(answer.raw_violations)}"
        lines.append(f"in cycles of the loop its groups and orders {raw}{verdict}")
    return lines


def _broken(violations: Mapping[Family, int]) -> str:
    if not violations:
        return "legal"
    return "not legal, " + ", ".join(f"{family.value} {count}" for family, count in violations.items())


def _headline(graph: Graph, result: SolveResult) -> str:
    words = f"{graph.name}: {result.status.value}"
    if result.schedule is not None:
        schedule = result.schedule
        words += f", II {schedule.ii}, length {length(graph, schedule)}, {counted(stages(schedule), 'stage')}"
    if result.status is not Status.OPTIMAL:
        words += f", proved lower bound {result.proved_lower_bound}"
    return f"{words}, {result.seconds:.1f} s"
