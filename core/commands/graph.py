"""`twill graph`: the loop's graph as a `twill.graph/1` document, with its lower bounds."""

from __future__ import annotations

import argparse

from core.commands.answers import Answer, ExitCode, answer_each, table
from core.commands.inputs import open_input
from core.graph.model import Graph, Space
from core.graph.write import graph_document
from core.schedule.bounds import Bounds, bounds
from core.schedule.wording import counted


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for the input."""
    return answer_each(arguments.inputs, lambda name: _graph(name, arguments), arguments.json)


def _graph(name: str, arguments: argparse.Namespace) -> Answer:
    opened = open_input(name, arguments)
    found = bounds(opened.graph)
    document = {**graph_document(opened.graph), "bounds": found.as_json()}
    return Answer(document, _text(opened.graph, found), diagnostics=opened.diagnostics)


def _text(graph: Graph, found: Bounds) -> str:
    rows: list[list[object]] = []
    for op in graph.ops.values():
        units = " ".join(f"{block.unit}:{block.duration}" for block in op.blocks) or "-"
        held = "-" if op.result.space is Space.NONE else f"{op.result.amount} {op.result.space.value}"
        line = "-" if op.line is None else str(op.line)
        rows.append([op.id, op.kind, line, units, op.issue_cycles, op.latency, held])
    return "\n".join(
        [
            f"{graph.name}: {counted(len(graph.ops), 'op')}, {counted(len(graph.dependences), 'dependence')}",
            table(("op", "kind", "line", "units", "issue", "latency", "result"), rows),
            bounds_text(found),
        ]
    )


def bounds_text(found: Bounds) -> str:
    """The lower bounds in words, with the critical recurrence."""
    units = ", ".join(f"{unit} {'none' if ii is None else ii}" for unit, ii in found.units.items() if ii != 0)
    lines = [
        f"II is at least {'(no II is possible)' if found.lower_bound is None else found.lower_bound}: "
        f"units {_number(found.res_mii)} ({units or 'none'}), recurrences {_number(found.rec_mii)}"
    ]
    if found.critical_recurrence is not None:
        recurrence = found.critical_recurrence
        around = " -> ".join((*recurrence.ops, recurrence.ops[0]))
        lines.append(
            f"critical recurrence: {around}, {counted(recurrence.latency, 'cycle')} over distance {recurrence.distance}"
        )
    return "\n".join(lines)


def _number(ii: int | None) -> str:
    return "none" if ii is None else str(ii)
