"""How much of what a core's constraints count would be enough for the rest of the core."""

from __future__ import annotations

from collections.abc import Iterable

from core.explain.axes import axis_of
from core.explain.clock import Clock
from core.explain.constraints import Constraint, Topic
from core.explain.prober import Prober
from core.graph.model import Graph
from core.solve.events import Verdict

_COUNTED = (Topic.REGISTER_LIMIT, Topic.GROUP_COUNT, Topic.SHARED_MEMORY, Topic.TENSOR_MEMORY)


def needs(alone: Graph, core: Iterable[Constraint], prober: Prober, clock: Clock) -> dict[Constraint, int]:
    """By constraint the least number with which the core would leave room, as far as the clock allows; `alone`: the
    graph with this core only. The whole graph may need more."""
    found: dict[Constraint, int] = {}
    for constraint in core:
        axis = axis_of(alone, constraint, prober.ii, addressable=False) if constraint.topic in _COUNTED else None
        if axis is None or prober.verdict(axis.apply(axis.steps), clock) is not Verdict.FEASIBLE:
            continue
        enough, too_few = prober.boundary(axis.apply, axis.steps, 0, clock)
        if enough - too_few == 1:
            found[constraint] = axis.value(enough)
    return found
