"""The guarded system against the graph without the constraints that are not assumed, and schedules closed up."""

from __future__ import annotations

import random
from dataclasses import replace

from explain_cases import possible
from solve_brute_force import random_graph

from core.explain.assumptions import Assumptions, group_counts
from core.explain.constraints import atoms, named_constraints
from core.explain.guarded import MORE_GROUPS
from core.explain.relax import relaxed
from core.explain.stages import closed_up
from core.graph.model import Pin
from core.schedule.check import check
from core.schedule.report import Family
from core.solve.confirm import confirm
from core.solve.events import Verdict


def never() -> bool:
    return False


def test_what_is_excluded_by_assumption_is_excluded() -> None:
    """Random sets of constraints, asked of one solver in turn. A core excludes alone; what is impossible with as many
    groups as are looked at is nearly always found to be."""
    missed = found = 0
    for seed in range(45):
        chance = random.Random(seed)
        graph, ii = random_graph(chance), chance.randint(1, 3)
        if seed % 3 == 0:
            pins = {op: Pin(group=chance.choice(["m", "n"])) for op in graph.ops if chance.random() < 0.7}
            graph = replace(graph, pins=pins)
        every = atoms(named_constraints(graph))
        assumptions = Assumptions(graph, ii, every)
        for _ in range(4):
            held = frozenset(c for c in every if chance.random() < 0.8) | assumptions.always
            opinion = assumptions.ask(held, relaxed(graph, every - held), 60.0, never)
            if opinion.verdict is Verdict.INFEASIBLE:
                found += 1
                assert opinion.core <= held
                kept = opinion.core | assumptions.always | group_counts(every)
                assert not possible(relaxed(graph, every - kept), ii), seed
                # Those left out of the core: with a few more groups it still excludes.
                more = {kind.kind: kind.count + MORE_GROUPS for kind in graph.groups}
                wide = replace(graph, groups=tuple(replace(k, count=more[k.kind]) for k in graph.groups))
                free = group_counts(every) - opinion.core
                if free == group_counts(every):
                    assert not possible(relaxed(wide, every - (opinion.core | assumptions.always | free)), ii), seed
            else:
                assert opinion.verdict is Verdict.FEASIBLE
                missed += not possible(relaxed(graph, every - held), ii)
    assert found >= 40
    assert missed <= found / 4, (missed, found)


def test_closing_up_keeps_slots_groups_and_dependences() -> None:
    closed = 0
    for seed in range(120):
        chance = random.Random(seed)
        graph, ii = replace(random_graph(chance, 4), pins={}), chance.randint(2, 4)
        schedule = confirm(graph, ii, limit_s=60).schedule
        if schedule is None:
            continue
        # Far apart, by whole intervals, in the order of the dependences: later ones ever later.
        stages = {name: 3 * number for number, name in enumerate(graph.ops)}
        apart = {name: replace(p, start=p.start + ii * stages[name]) for name, p in schedule.ops.items()}
        spread = replace(schedule, ops=apart)
        if any(v.family is Family.DEPENDENCE for v in check(graph, spread).violations):
            spread = schedule
        last = max(place.start for place in spread.ops.values())
        for result in closed_up(graph, spread):
            closed += 1
            assert {name: p.group for name, p in result.ops.items()} == {n: p.group for n, p in spread.ops.items()}
            assert {name: p.start % ii for name, p in result.ops.items()} == {
                n: p.start % ii for n, p in spread.ops.items()
            }
            assert not any(v.family is Family.DEPENDENCE for v in check(graph, result).violations), seed
            assert min(place.start for place in result.ops.values()) < ii
            assert max(place.start for place in result.ops.values()) < last + ii
    assert closed >= 60
