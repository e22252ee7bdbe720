"""A measured run beside its plan, as rows of a table and as places in the chart. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.export.marks_file import CYCLES
from core.export.measured import Comparison, Proposal, SeenOp
from core.schedule.wording import counted, iterations

_NAMES = {"issue_cycles": "issue"}


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """An op as planned and as seen, with the costs that the run proposes for it in words, "" for none."""

    seen: SeenOp
    proposed: str


@dataclass(frozen=True, slots=True)
class SeenPlace:
    """Where an op was seen: cycles that it began after its planned start, and how long its group was at it."""

    late: int
    length: int


def measured_rows(comparison: Comparison) -> list[MeasuredRow]:
    """A row for each op seen, in the order of the plan."""
    return [MeasuredRow(seen, _proposed(seen.op, comparison.proposals)) for seen in comparison.ops]


def sentence(comparison: Comparison) -> str:
    """Both intervals, and by which clock."""
    seen = "unknown" if comparison.seen_ii is None else f"{comparison.seen_ii:g}"
    text = f"Interval: {counted(comparison.planned_ii, 'cycle')} planned, {seen} seen, "
    text += f"over {iterations(comparison.iterations)}."
    if comparison.clock == CYCLES:
        return text
    return f"{text} Seen are {comparison.clock} of the CPU mock, which are no times: their order alone counts."


def seen_places(comparison: Comparison) -> dict[str, SeenPlace]:
    """Where the ops were seen, each group from the planned start of its first op on; nothing of a clock that measures
    no cycles."""
    seen = comparison.ops if comparison.clock == CYCLES else ()
    return {one.op: SeenPlace(one.seen_offset - one.planned_offset, max(one.seen_issue, 1)) for one in seen}


def _proposed(op: str, proposals: Sequence[Proposal]) -> str:
    changes = [
        f"{_NAMES.get(one.what, one.what)} {one.old} \N{RIGHTWARDS ARROW} {one.new}"
        for one in proposals
        if one.op == op
    ]
    return ", ".join(changes)
