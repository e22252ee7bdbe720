"""The cascade of a move against everything tried with the same orders."""

from __future__ import annotations

import random
from itertools import product

from solve_brute_force import random_graph
from solve_cases import answer

from core.schedule.edits import move_op
from core.schedule.index import GraphIndex
from core.schedule.orders import order_differences
from core.solve.repair.cascade import cascade


def test_the_cascade_moves_fewest_and_least_within_the_orders() -> None:
    outcomes: set[bool] = set()
    counts: set[int] = set()
    for seed in range(120):
        chance = random.Random(seed)
        graph = random_graph(chance, 4)
        ii = 4
        schedule = answer(graph, ii=ii).schedule
        if schedule is None or any(pin.start is not None for pin in graph.pins.values()):
            continue
        op = chance.choice(list(graph.ops))
        dropped = move_op(schedule, op, chance.randrange(3 * ii))
        differences = list(order_differences(GraphIndex(graph), dropped))
        others = [name for name in graph.ops if name != op]
        best: tuple[int, int] | None = None
        for tried in product(range(6 * ii), repeat=len(others)):
            starts = {op: dropped.ops[op].start, **dict(zip(others, tried, strict=True))}
            if all(starts[d.target] >= starts[d.source] + d.cycles for d in differences):
                shifts = [abs(starts[name] - dropped.ops[name].start) for name in others]
                value = sum(shift > 0 for shift in shifts), sum(shifts)
                best = value if best is None else min(best, value)
        found = cascade(graph, dropped, [op])
        outcomes.add(found is None)
        if found is None:
            assert best is None, seed
            continue
        shifts = [abs(found.ops[name].start - dropped.ops[name].start) for name in others]
        assert found.ops[op] == dropped.ops[op]
        assert (sum(shift > 0 for shift in shifts), sum(shifts)) == best, seed
        counts.add(sum(shift > 0 for shift in shifts))
    assert outcomes == {True, False}
    assert counts >= {0, 1, 2}
