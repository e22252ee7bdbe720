"""A first schedule of a loop of any size, without search: an iteration as the text has it, repeated as soon as it fits.

Every group starts its ops in the order of the text, as soon as operands, units and the group's issue allow; what has
no operands within the iteration (loads) starts as late as it may. The interval is then the least at which the judge
accepts the iteration repeated. Registers and memory hold about what the text means them to hold, so there is nearly
always such an interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.graph.model import Graph, InOrderIssue
from core.schedule.check import Judge
from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup
from core.solve.engine import Budget
from core.solve.paper.result import with_least_grants
from core.solve.paper.retime import retimed
from core.solve.problem import Problem, hand_off_cycles

STEPS = 50
"""Intervals are tried in steps of one part in so many."""

MOST_RETIMED = 200
"""Ops of the largest loop whose times are adjusted to its orders: every pair is one difference to look at."""


def sequential(problem: Problem, holders: Mapping[str, int], lowest: int, seed: int, budget: Budget) -> Schedule | None:
    """The schedule of these groups (candidates by op) with the least interval, from `lowest` on, that this way gives,
    accepted by the judge; None if there is none, or if the time is over."""
    graph = problem.graph
    starts = _Iteration(graph, holders).starts()
    first, last = min(starts.values()), max(starts.values())
    used = {i: problem.candidates[i] for i in sorted(set(holders.values()))}
    groups = {one.name: ScheduledGroup(one.kind, 0) for one in used.values()}
    ops = {op: Placement(starts[op] - first, used[holders[op]].name) for op in graph.ops}
    judge = Judge(graph)
    longest = last - first + sum(op.issue_cycles + op.latency for op in graph.ops.values())
    for ii in _intervals(lowest, max(lowest, longest)):
        if budget.spent:
            return None
        plain = Schedule(ii, groups, ops, origin=Origin("solver", "feasible", seed=seed))
        found = with_least_grants(graph, plain)
        if judge.check(found).legal:
            tighter = retimed(graph, graph, found, lowest) if len(graph.ops) <= MOST_RETIMED else None
            better = tighter is not None and tighter.ii < ii and judge.check(tighter).legal
            return tighter if better else found
    return None


def _intervals(lowest: int, longest: int) -> Iterator[int]:
    ii = lowest
    while ii < longest:
        yield ii
        ii += max(1, ii // STEPS)
    yield longest


class _Iteration:
    """Starts of one iteration by itself."""

    def __init__(self, graph: Graph, holders: Mapping[str, int]) -> None:
        self._graph = graph
        self._holders = holders
        self._before: dict[str, list[tuple[str, int]]] = {name: [] for name in graph.ops}
        self._after: dict[str, list[tuple[str, int]]] = {name: [] for name in graph.ops}
        for d in graph.dependences:
            if not d.distance:
                parted = holders[d.source] != holders[d.target]
                latency = d.latency + (hand_off_cycles(graph, d) if parted else 0)
                self._before[d.target].append((d.source, latency))
                self._after[d.source].append((d.target, latency))
        strong = graph.rules.in_order_issue is not InOrderIssue.OFF
        self._issue = {name: op.issue_cycles if strong else 0 for name, op in graph.ops.items()}
        self._units: dict[str, list[tuple[int, int, int]]] = {unit: [] for unit in graph.machine.units}
        self._busy: dict[int, list[tuple[int, int]]] = {}

    def starts(self) -> dict[str, int]:
        """By op; those of loads may be negative."""
        starts: dict[str, int] = {}
        latest: dict[int, int] = {}
        order = self._order()
        sources = [name for name in order if not self._before[name] and self._after[name]]
        for name in order:
            if name not in sources:
                group = self._holders[name]
                operands = [starts[u] + latency for u, latency in self._before[name] if u in starts]
                starts[name] = self._place(name, max([latest.get(group, 0), *operands]), later=True)
                latest[group] = starts[name]
        for name in reversed(sources):
            due = min(starts[v] - latency for v, latency in self._after[name])
            starts[name] = self._place(name, due, later=False)
        return starts

    def _order(self) -> list[str]:
        """The text's, but each op after those that it waits for; of ops that wait for each other one goes first."""
        order: dict[str, None] = {}

        def add(name: str) -> None:
            stack = {name: None}
            while stack:
                last = next(reversed(stack))
                waits = [u for u, _ in self._before[last] if u not in order and u not in stack]
                if waits:
                    stack[waits[0]] = None
                else:
                    del stack[last]
                    order[last] = None

        for name in self._graph.ops:
            if name not in order:
                add(name)
        return list(order)

    def _place(self, name: str, start: int, *, later: bool) -> int:
        """The first start from there on, or back, at which units and issue are free; takes them."""
        while (moved := self._conflict(name, start, later)) is not None:
            start = moved
        for block in self._graph.ops[name].blocks:
            begin = start + block.offset
            self._units[block.unit].append((begin, begin + block.duration, block.amount))
        self._busy.setdefault(self._holders[name], []).append((start, start + self._issue[name]))
        return start

    def _conflict(self, name: str, start: int, later: bool) -> int | None:
        """The next start to try if this one is taken."""
        spans = [(start, start + self._issue[name], self._busy.get(self._holders[name], []))]
        for block in self._graph.ops[name].blocks:
            room = self._graph.machine.units[block.unit] - block.amount
            taken = [(begin, end) for begin, end, amount in self._units[block.unit] if amount > room]
            spans.append((start + block.offset, start + block.offset + block.duration, taken))
        for begin, end, taken in spans:
            for other_begin, other_end in taken:
                if begin < other_end and other_begin < end:
                    return start + other_end - begin if later else start - (end - other_begin)
        return None
