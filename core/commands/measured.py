"""A measured run beside its plan, as text."""

from __future__ import annotations

from core.commands.answers import table
from core.export.marks_file import CYCLES
from core.export.measured import Comparison
from core.schedule.wording import counted


def comparison_text(comparison: Comparison) -> str:
    """Both intervals, a line for each op, and the costs that the run proposes for the project's `overrides`."""
    seen = "unknown" if comparison.seen_ii is None else f"{comparison.seen_ii:g}"
    unit = "cycles" if comparison.clock == CYCLES else f"{comparison.clock} of the CPU mock, which are no times"
    head = ("op", "group", "issue planned", "seen", "offset planned", "seen", "iterations")
    rows = [
        (o.op, o.group, o.planned_issue, o.seen_issue, o.planned_offset, o.seen_offset, o.iterations)
        for o in comparison.ops
    ]
    parts = [f"interval: {counted(comparison.planned_ii, 'cycle')} planned, {seen} seen ({unit})", table(head, rows)]
    if comparison.proposals:
        changes: dict[str, list[str]] = {}
        for one in comparison.proposals:
            changes.setdefault(one.op, []).append(f"{one.what}: {one.new}")
        new = ", ".join(f"{op}: {{{', '.join(costs)}}}" for op, costs in changes.items())
        parts += ["proposed by the run (old and new)", table(("op", "cost", "old", "new"), _changes(comparison))]
        parts.append(f"in the project: overrides: {{{new}}}")
    return "\n".join(parts)


def _changes(comparison: Comparison) -> list[tuple[str, str, int, int]]:
    return [(one.op, one.what, one.old, one.new) for one in comparison.proposals]
