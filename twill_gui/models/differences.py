"""What differs between the schedule shown and another one, as rows of a table. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.compare import compare
from core.schedule.metrics import hand_offs, length, stages
from core.schedule.model import Placement, Schedule, ScheduledGroup

NONE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One thing that differs: what it is in the schedule shown, and in the other; `op` if it is an op's place."""

    what: str
    shown: str
    other: str
    change: str = ""
    op: str | None = None


def difference_rows(graph: Graph, shown: Schedule, other: Schedule) -> list[DifferenceRow]:
    """The figures that differ, then groups, ring depths and ops in the order of the graph."""
    difference = compare(shown, other)
    rows = [row for row in _figures(graph, shown, other) if row.shown != row.other]
    rows += [DifferenceRow(f"group {name}", _group(a), _group(b)) for name, (a, b) in difference.groups.items()]
    rows += [DifferenceRow(f"ring of {name}", _depth(a), _depth(b)) for name, (a, b) in difference.rings.items()]
    rows += [
        DifferenceRow(
            op, _place(difference.moved[op][0]), _place(difference.moved[op][1]), _moved(shown, other, op), op
        )
        for op in graph.ops
        if op in difference.moved
    ]
    return rows


def _figures(graph: Graph, shown: Schedule, other: Schedule) -> Iterator[DifferenceRow]:
    pair = (shown, other)
    yield _figure("II", *(one.ii for one in pair))
    yield _figure("length", *(length(graph, one) for one in pair))
    yield _figure("stages", *(stages(one) for one in pair))
    yield _figure("hand-offs", *(len(hand_offs(graph, one).values) for one in pair))
    reports = [check(graph, one) for one in pair]
    yield _figure("violations", *(len(report.violations) for report in reports))
    peaks = [report.peaks for report in reports]
    yield _figure("registers, most of a group", *(max(peak.registers.values(), default=0) for peak in peaks))
    yield _figure("shared memory, bytes", *(peak.shared_memory for peak in peaks))
    yield _figure("tensor memory, columns", *(peak.tensor_memory for peak in peaks))


def _figure(what: str, shown: int, other: int) -> DifferenceRow:
    return DifferenceRow(what, str(shown), str(other), f"{other - shown:+d}")


def _moved(shown: Schedule, other: Schedule, op: str) -> str:
    """How the op got from here to there, in words as short as can be."""
    here, there = shown.ops[op], other.ops[op]
    parts: list[str] = []
    if here.start != there.start:
        parts.append(f"{there.start - here.start:+d} cycles")
    if here.group != there.group:
        parts.append("other group")
    if here.delay != there.delay:
        parts.append(f"delay {there.delay - here.delay:+d}")
    return ", ".join(parts)


def _place(place: Placement | None) -> str:
    return NONE if place is None else f"{place.start} on {place.group}"


def _group(group: ScheduledGroup | None) -> str:
    return NONE if group is None else f"{group.kind}, {group.grant} registers"


def _depth(depth: int | None) -> str:
    return "least" if depth is None else str(depth)
