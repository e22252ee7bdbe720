"""Rules `registers`, `shared_memory` and `tensor_memory`: what is alive against what there is."""

from __future__ import annotations

from core.graph.model import Graph, Space
from core.solve.confirm.clauses import TRUE, Clauses, Term
from core.solve.confirm.grants import Grants
from core.solve.confirm.groups import Groups
from core.solve.confirm.live_ranges import LiveRange, LiveRanges


def add_shared_memory(clauses: Clauses, graph: Graph, groups: Groups, live: LiveRanges) -> None:
    """Rule `shared_memory`: rings of values there, and rings of hand-off buffers of register values that cross."""
    room = graph.machine.shared_memory_bytes - graph.machine.fixed_shared_bytes
    terms: list[Term] = []
    for value, op in graph.ops.items():
        if op.result.space is Space.SHARED and op.result.amount:
            terms += live.depths(value, live.anywhere(value), op.result.amount, TRUE, room)
        elif op.result.space is Space.REGISTERS and op.hand_off_bytes:
            crosses = groups.value_crosses(value)
            terms += live.depths(value, live.handed_off(value), op.hand_off_bytes, crosses, room)
    clauses.at_most(terms, room)


def add_tensor_memory(clauses: Clauses, graph: Graph, live: LiveRanges) -> None:
    """Rule `tensor_memory`: columns of live values, summed at their births, where alone they can become more."""
    room = graph.machine.tensor_memory_columns
    values = [name for name, op in graph.ops.items() if op.result.space is Space.TENSOR and op.result.amount]
    for anchor in values:
        clauses.at_most(
            [term for value in values for term in live.copies(value, live.anywhere(value), anchor, room)], room
        )


def add_registers(clauses: Clauses, graph: Graph, groups: Groups, grants: Grants, live: LiveRanges) -> None:
    """Rule `registers`, what lives on a group against its grant: summed at the start of every op that begins a range
    on its group, be it its own value's or a copy of one that was handed to it."""
    values = [name for name, op in graph.ops.items() if op.result.space is Space.REGISTERS and op.result.amount]
    reading = {d.target for value in values for d in live.readers[value]}
    for anchor, op in graph.ops.items():
        if anchor not in values and anchor not in reading:
            continue
        room = grants.most - (0 if op.variable_latency else graph.machine.registers.overhead)
        terms = list(grants.withheld(anchor))
        for value in values:
            home = [_where(r, groups.together(value, anchor)) for r in live.at_home(value)]
            terms += live.copies(value, home, anchor, room)
            for d in live.readers[value]:
                there = _where(live.at_reader(d), groups.together(d.target, anchor))
                terms += live.copies(value, [there], anchor, room)
        clauses.at_most(terms, room)


def _where(live: LiveRange, here: int) -> LiveRange:
    return LiveRange(live.begin, live.end, live.offset, (*live.when, here))
