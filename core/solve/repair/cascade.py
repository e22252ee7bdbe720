"""The cascade of a move: all orders and groups stay as they are, and what is in the way of a moved op is pushed.

With every order frozen the rules about time are differences of starts. If the schedule before keeps them, the ops that
a longest path from or to a moved op pushes must move, by as much as the path says, and no other: fewest ops and least
movement among schedules of these orders. Registers and memory are not asked; the judge is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.graph.model import Graph
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule
from core.schedule.orders import Difference, order_differences


def cascade(graph: Graph, dropped: Schedule, moves: Collection[str]) -> Schedule | None:
    """The schedule, in which the ops of `moves` have been put where they are, with others pushed out of their way; None
    if the orders contradict the moves. The result may break rules."""
    arcs = list(order_differences(GraphIndex(graph), dropped))
    later = _pushed(arcs, {op: dropped.ops[op].start for op in moves}, dropped, 1)
    back = [Difference(target, source, cycles) for source, target, cycles in arcs]
    earlier = _pushed(back, {op: -dropped.ops[op].start for op in moves}, dropped, -1)
    if later is None or earlier is None or set(later) & set(earlier):
        return None
    starts = {**later, **{op: -negative for op, negative in earlier.items()}}
    if any(start < 0 for start in starts.values()):
        return None
    ops = {op: replace(place, start=starts.get(op, place.start)) for op, place in dropped.ops.items()}
    return replace(dropped, ops=ops)


def _pushed(
    arcs: Sequence[Difference], fixed: Mapping[str, int], schedule: Schedule, sign: int
) -> dict[str, int] | None:
    """Least starts, times `sign`, of the ops that paths from the fixed ones push; None if one pushes a fixed op or
    pushes itself in a circle."""
    reached = dict(fixed)
    for _ in range(len(schedule.ops) + 1):
        changed = False
        for source, target, cycles in arcs:
            if source not in reached:
                continue
            least = reached[source] + cycles
            if least > reached.get(target, sign * schedule.ops[target].start):
                if target in fixed:
                    return None
                reached[target] = least
                changed = True
        if not changed:
            return {op: start for op, start in reached.items() if op not in fixed}
    return None
