"""Rules `dependence`, `unit` and `issue`."""

from __future__ import annotations

from itertools import combinations

from core.graph.model import Block, Graph, InOrderIssue
from core.solve.confirm.clauses import TRUE, Clauses, Term
from core.solve.confirm.groups import Groups
from core.solve.confirm.times import Times


def add_dependences(clauses: Clauses, graph: Graph, times: Times, groups: Groups) -> None:
    """Rule `dependence`: the latency, and the hand-off where the value crosses."""
    for d in graph.dependences:
        source, target, offset = times.unit_start[d.source], times.start[d.target], times.ii * d.distance
        times.require(source, target, offset, d.latency)
        hand_off = graph.ops[d.source].hand_off_cycles
        if hand_off:
            times.require(source, target, offset, d.latency + hand_off, (groups.crosses(d),))


def add_units(clauses: Clauses, graph: Graph, times: Times) -> None:
    """Rule `unit`: pairs that cannot share are kept apart; where some can, loads are summed at the begin of each."""
    blocks: dict[str, list[tuple[str, Block]]] = {unit: [] for unit in graph.machine.units}
    free = dict(graph.machine.units)
    for name, op in graph.ops.items():
        for block in op.blocks:
            whole, rest = divmod(block.duration, times.ii)
            free[block.unit] -= whole * block.amount
            if rest and block.amount:
                blocks[block.unit].append((name, Block(block.unit, block.offset, rest, block.amount)))
    for unit, found in blocks.items():
        work = sum(block.duration * block.amount for _, block in found)
        if free[unit] < 0 or work > free[unit] * times.ii or any(b.amount > free[unit] for _, b in found):
            clauses.either()
            continue
        shared = False
        for (a, one), (b, other) in combinations(found, 2):
            if one.amount + other.amount <= free[unit]:
                shared = True
                continue
            first, second = times.unit_start[a], times.unit_start[b]
            times.keep_apart(first, one.duration, second, other.duration, other.offset - one.offset)
        if shared:
            for number in range(len(found)):
                clauses.at_most(_load(clauses, times, found, number), free[unit])


def _load(clauses: Clauses, times: Times, blocks: list[tuple[str, Block]], anchor: int) -> list[Term]:
    """What is in use of a unit where block number `anchor` begins."""
    at, anchor_block = blocks[anchor]
    terms = [(TRUE, anchor_block.amount)]
    for number, (name, block) in enumerate(blocks):
        if number != anchor:
            covers = clauses.fresh()
            shift = block.offset - anchor_block.offset
            for case in times.covers(times.unit_start[name], shift, block.duration, times.unit_start[at]):
                clauses.implies(case, covers)
            terms.append((covers, block.amount))
    return terms


def add_issue(clauses: Clauses, graph: Graph, times: Times, groups: Groups) -> None:
    """Rule `issue`: strong: issue intervals on one group share no slot; weak: those of waiting ops with any other."""
    mode = graph.rules.in_order_issue
    if mode is InOrderIssue.OFF:
        return
    waiting = {d.target for d in graph.dependences if d.blocking and graph.ops[d.source].asynchronous}
    exclusive = set(graph.ops) if mode is InOrderIssue.STRONG else waiting
    issuing = {name: op.issue_cycles for name, op in graph.ops.items() if op.issue_cycles}
    if any(cycles > times.ii for name, cycles in issuing.items() if name in exclusive):
        clauses.either()
    for (a, cycles), (b, other_cycles) in combinations(issuing.items(), 2):
        if a in exclusive or b in exclusive:
            times.keep_apart(times.start[a], cycles, times.start[b], other_cycles, when=(groups.together(a, b),))
    if mode is InOrderIssue.STRONG:
        for i in range(len(groups.all)):
            # Redundant, and what the pairs alone would prove only by trying all orders.
            busy = [(groups.on[name][i], cycles) for name, cycles in issuing.items() if i in groups.on[name]]
            clauses.at_most(busy, times.ii)
