# pyright: reportUnknownMemberType=false
"""Rules `dependence`, `unit` and `issue` of the exact model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from core.graph.model import InOrderIssue
from core.solve.model_groups import Grouping
from core.solve.model_times import Moment, Times
from core.solve.problem import Problem, hand_off_cycles

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from core.solve.model_groups import Condition


def add_dependences(cp: cp_model.CpModel, problem: Problem, times: Times, grouping: Grouping) -> None:
    """Rule `dependence`: start(v) + II * distance >= start of u on its unit + latency + hand-off if they are parted.

    Said twice, in cycles and in stages and order: the first reasons about sums of latencies, the second, redundant,
    about the Booleans that the other rules use.
    """
    for d in problem.graph.dependences:
        gap = times.start[d.target] - times.unit_start[d.source] + times.ii * d.distance
        extra = hand_off_cycles(problem.graph, d)
        parted = grouping.parted(d.source, d.target) if extra else None
        cases: list[tuple[int, Condition]] = [(d.latency, ()), (d.latency + extra, parted)]
        for cycles, given in cases:
            if given is not None:
                cp.add(gap >= cycles).only_enforce_if(*given)
                if d.source != d.target:
                    earliest = times.at(d.source, cycles, on_unit=True)
                    times.not_before(times.at(d.target), d.distance, earliest, given)


@dataclass(frozen=True, slots=True)
class _Range:
    """What one block takes of a unit beyond whole periods: `amount` for `cycles` < II from `begin` on."""

    amount: int
    cycles: int
    begin: Moment
    end: Moment


def add_units(cp: cp_model.CpModel, problem: Problem, times: Times, below: int) -> None:
    """Rule `unit`, counted at the starts of blocks, where alone it can become worse.

    With `below` > 0 a block that begins after its op's start may come as much later as makes the rule one that a
    schedule for any of the last `below` intervals satisfies with the same stages and slots.
    """
    ranges: dict[str, list[_Range]] = {unit: [] for unit in problem.graph.machine.units}
    free = dict(problem.graph.machine.units)
    for name, op in problem.graph.ops.items():
        for block in op.blocks:
            whole, rest = divmod(block.duration, times.ii)
            free[block.unit] -= block.amount * whole
            if rest and block.amount:
                # In an interval shorter by `below` it wraps at most so often, each time that much earlier.
                wraps = (times.ii - below - 1 + block.offset + op.queue) // (times.ii - below)
                late = block.offset > 0 or op.queue > 0
                begin, end = times.block(name, block.offset, rest, below * wraps if late else 0)
                ranges[block.unit].append(_Range(block.amount, rest, begin, end))
    for unit, found in ranges.items():
        if free[unit] < 0 or sum(one.amount * one.cycles for one in found) > free[unit] * times.ii:
            cp.add_bool_or([])
        else:
            _add_unit(cp, times, found, free[unit])


def _add_unit(cp: cp_model.CpModel, times: Times, ranges: list[_Range], capacity: int) -> None:
    exclusive = True
    for one, other in combinations(ranges, 2):
        if one.amount + other.amount <= capacity:
            exclusive = False
        elif one.begin.clock != other.begin.clock:
            times.disjoint(one.begin, one.cycles, other.begin, other.cycles, ())
    for anchor in ranges:
        load: list[cp_model.LinearExprT] = []
        for other in ranges:
            if other.begin.clock == anchor.begin.clock:
                covered = (anchor.begin.offset - other.begin.offset) % times.ii < other.cycles
                load.append(other.amount * covered)
            elif not exclusive:
                load.append(other.amount * times.copies(other.begin, other.end, 0, anchor.begin))
        cp.add(sum(load) <= capacity)


def add_issue(cp: cp_model.CpModel, problem: Problem, times: Times, grouping: Grouping) -> None:
    """Rule `issue`: issue intervals on one group are disjoint; weak: only those of waiting ops from all others."""
    graph = problem.graph
    if graph.rules.in_order_issue is InOrderIssue.OFF:
        return
    strong = graph.rules.in_order_issue is InOrderIssue.STRONG
    waiting = {d.target for d in graph.dependences if d.blocking and graph.ops[d.source].asynchronous}
    issuing = [name for name, op in graph.ops.items() if op.issue_cycles]
    if any(graph.ops[name].issue_cycles > times.ii for name in issuing if strong or name in waiting):
        cp.add_bool_or([])
        return
    for a, b in combinations(issuing, 2):
        if not (strong or a in waiting or b in waiting):
            continue
        together = grouping.together(a, b)
        if together is not None and not _apart_on_unit(problem, a, b):
            first, second = times.at(a), times.at(b)
            times.disjoint(first, graph.ops[a].issue_cycles, second, graph.ops[b].issue_cycles, together)
    if strong:
        for i, used in enumerate(grouping.used):
            busy = [graph.ops[n].issue_cycles * grouping.on(n)[i] for n in issuing if i in grouping.on(n)]
            cp.add(sum(busy) <= times.ii * used)


def _apart_on_unit(problem: Problem, a: str, b: str) -> bool:
    """Whether rule `unit` already keeps the issue intervals of two ops apart."""

    def occupied(name: str) -> set[str]:
        op = problem.graph.ops[name]
        if op.queue:
            return set()
        whole = [block for block in op.blocks if block.offset == 0 and block.duration >= op.issue_cycles]
        return {block.unit for block in whole if 2 * block.amount > problem.graph.machine.units[block.unit]}

    return bool(occupied(a) & occupied(b))
