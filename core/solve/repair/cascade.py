"""The cascade of a move: all orders and groups stay as they are, and what is in the way of a moved op is pushed.

With every order frozen the rules about time are differences of starts. If the schedule before keeps them, the ops that
a longest path from or to a moved op pushes must move, by as much as the path says, and no other: fewest ops and least
movement among schedules of these orders. Registers and memory are not asked; the judge is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from core.graph.model import Graph, InOrderIssue
from core.schedule.check_timing import required_gap
from core.schedule.index import GraphIndex
from core.schedule.model import Schedule

Arc = tuple[str, str, int]
"""start of the second >= start of the first + cycles."""


def cascade(graph: Graph, dropped: Schedule, moves: Collection[str]) -> Schedule | None:
    """The schedule, in which the ops of `moves` have been put where they are, with others pushed out of their way; None
    if the orders contradict the moves. The result may break rules."""
    arcs = list(frozen_arcs(graph, dropped))
    later = _pushed(arcs, {op: dropped.ops[op].start for op in moves}, dropped, 1)
    back = [(target, source, cycles) for source, target, cycles in arcs]
    earlier = _pushed(back, {op: -dropped.ops[op].start for op in moves}, dropped, -1)
    if later is None or earlier is None or set(later) & set(earlier):
        return None
    starts = {**later, **{op: -negative for op, negative in earlier.items()}}
    if any(start < 0 for start in starts.values()):
        return None
    ops = {op: replace(place, start=starts.get(op, place.start)) for op, place in dropped.ops.items()}
    return replace(dropped, ops=ops)


def _pushed(arcs: Sequence[Arc], fixed: Mapping[str, int], schedule: Schedule, sign: int) -> dict[str, int] | None:
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


def frozen_arcs(graph: Graph, schedule: Schedule) -> Iterator[Arc]:
    """Dependences on the groups of the schedule, and the orders of its exclusive blocks and issue intervals."""
    index = GraphIndex(graph)
    ii = schedule.ii
    for d in graph.dependences:
        source, target = schedule.ops[d.source], schedule.ops[d.target]
        gap = required_gap(index, d, source.group, target.group)
        yield d.source, d.target, source.delay + gap - ii * d.distance
    for one, other in combinations(_busy(graph, schedule), 2):
        if _exclude(graph, index, schedule, one, other):
            yield from _in_order(one, other, schedule, ii)


Busy = tuple[str, str | None, int, int, int]
"""Op, unit (None: it issues), offset from the op's start, cycles, amount."""


def _busy(graph: Graph, schedule: Schedule) -> list[Busy]:
    found: list[Busy] = []
    for name, op in graph.ops.items():
        delay = schedule.ops[name].delay
        found += [(name, b.unit, delay + b.offset, b.duration, b.amount) for b in op.blocks if b.duration and b.amount]
        if op.issue_cycles:
            found.append((name, None, 0, op.issue_cycles, 1))
    return found


def _exclude(graph: Graph, index: GraphIndex, schedule: Schedule, one: Busy, other: Busy) -> bool:
    if one[0] == other[0] or one[1] != other[1]:
        return False
    if one[1] is not None:
        return one[4] + other[4] > graph.machine.units[one[1]]
    mode = graph.rules.in_order_issue
    waits = one[0] in index.waiting or other[0] in index.waiting
    together = schedule.ops[one[0]].group == schedule.ops[other[0]].group
    return together and (mode is InOrderIssue.STRONG or (mode is InOrderIssue.WEAK and waits))


def _in_order(one: Busy, other: Busy, schedule: Schedule, ii: int) -> Iterator[Arc]:
    """The interval of `other` that follows `one` most closely, by their middles, does so for good; and the next of
    `one` follows that."""
    begin, begin_other = schedule.ops[one[0]].start + one[2], schedule.ops[other[0]].start + other[2]
    behind = 2 * begin_other + other[3] - 2 * begin - one[3]
    periods = -(behind // (2 * ii))
    yield one[0], other[0], one[2] + one[3] - other[2] - ii * periods
    yield other[0], one[0], other[2] + other[3] - one[2] - ii * (1 - periods)
