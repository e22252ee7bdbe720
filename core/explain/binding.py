"""What binds at an interval that is possible: units, issue and recurrences by how little room they leave."""

from __future__ import annotations

from collections.abc import Iterator

from core.explain.answer import Reason
from core.explain.constraints import Topic, named_constraints
from core.explain.question import why_not_ii
from core.explain.reasons import Teller
from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.schedule.report import Family
from core.schedule.wording import iterations

SHOWN = 3
"""Reasons that are named where nothing is filled to the last cycle."""


def binding(graph: Graph, ii: int) -> tuple[Reason, ...]:
    """All that has no room left at this interval; if there is nothing of that kind, what has least."""
    found = sorted(_counted(graph, ii), key=_filled, reverse=True)
    full = [reason for reason in found if _filled(reason) >= 1]
    return tuple(full or found[:SHOWN])


def _counted(graph: Graph, ii: int) -> Iterator[Reason]:
    topics = (Topic.UNIT, Topic.ISSUE)
    yield from Teller(why_not_ii(graph, ii), graph, {}).reasons(
        [c for c in named_constraints(graph) if c.topic in topics]
    )
    recurrence = bounds(graph).critical_recurrence
    if recurrence is not None:
        around, available = " -> ".join((*recurrence.ops, recurrence.ops[0])), recurrence.distance * ii
        sentence = (
            f"the recurrence {around} takes {recurrence.latency} of {available} cycles in "
            f"{iterations(recurrence.distance)}"
        )
        yield Reason(
            Family.DEPENDENCE,
            "recurrence",
            recurrence.latency,
            available,
            recurrence.ops,
            sentence,
            recurrence.dependences,
        )


def _filled(reason: Reason) -> float:
    return (reason.required or 0) / reason.available if reason.available else 0.0
