"""`twill inspect`: functions, operations and loops of TTGIR files."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.answers import Answer, ExitCode, answer_each, table
from core.ir.inspect import Inspection, inspect_module
from core.ir.source import load_module


def run(arguments: argparse.Namespace) -> ExitCode:
    """Answers for every file; sound text is exit code 0 even if nothing in it can be scheduled."""
    return answer_each(arguments.inputs, _inspect, arguments.json)


def _inspect(name: str) -> Answer:
    inspection = inspect_module(load_module(Path(name)))
    document = {"input": name, **inspection.as_json()}
    return Answer(document, _text(inspection), diagnostics=inspection.diagnostics)


def _text(inspection: Inspection) -> str:
    total = sum(inspection.ops_total.values())
    functions = ", ".join(inspection.functions) or "none"
    lines = [f"target {inspection.target or 'not named'}; functions: {functions}; {total} operations"]
    if inspection.loops:
        rows: list[list[object]] = []
        for loop in inspection.loops:
            verdict = "yes" if loop.schedulable else f"no ({loop.why_not})"
            main = " (main)" if loop.index == inspection.main_loop else ""
            ops = sum(loop.ops.values())
            rows.append(
                [f"{loop.index}{main}", loop.line, loop.kind, loop.depth, ops, loop.uses, loop.carried, verdict]
            )
        lines.append(table(("loop", "line", "kind", "depth", "ops", "uses", "carried", "schedulable"), rows))
    return "\n".join(lines)
