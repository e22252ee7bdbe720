"""Leaving named constraints out: what was legal stays so, and nothing is left once all are out."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from explain_cases import CASES, case_graph, possible
from solve_brute_force import random_graph

from core.explain.constraints import Topic, atoms, named_constraints
from core.explain.relax import relaxed
from core.graph.model import Graph, Pin
from core.schedule.check import check
from core.schedule.check_registers import VARIABLE_LATENCY_LEAST_GRANT
from core.schedule.edits import move_op
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from core.schedule.report import Family
from core.solve.confirm import confirm

KERNELS = (
    "fa_fwd_hopper_2x64",
    "fa_bwd_hopper",
    "fa_fwd_blackwell_2x128__roles",
    "fa_fwd_blackwell_2x128__no_hand_off",
)


def granted(graph: Graph, schedule: Schedule) -> Schedule:
    """The schedule with grants that its groups need in this graph: leaving out VARIABLE_LATENCY changes those."""
    peaks, granularity = check(graph, schedule).peaks.registers, graph.machine.registers.granularity
    groups = {}
    for name, group in schedule.groups.items():
        least = VARIABLE_LATENCY_LEAST_GRANT if graph.group_kind(group.kind).variable_latency else 0
        need = max(peaks.get(name, 0), least)
        groups[name] = replace(group, grant=-(-need // granularity) * granularity)
    return replace(schedule, groups=groups)


@pytest.mark.parametrize("name", KERNELS)
def test_legal_kernel_schedules_stay_legal(name: str) -> None:
    graph = case_graph("kernels", name)
    schedule = load_schedule(CASES / "kernels" / "schedules" / f"{name}.yaml", graph)
    pins = {op: Pin(place.start, place.group) for op, place in list(schedule.ops.items())[:3]}
    graph = replace(graph, pins=pins)
    constraints = sorted(atoms(named_constraints(graph)), key=repr)
    assert sum(constraint.topic is Topic.PIN for constraint in constraints) == 3
    chance = random.Random(name)
    for dropped in [[c] for c in constraints] + [chance.sample(constraints, 8) for _ in range(40)]:
        without = relaxed(graph, dropped)
        assert check(without, granted(without, schedule)).legal, dropped


def test_legal_random_schedules_stay_legal() -> None:
    kinds: set[Topic] = set()
    for seed in range(150):
        chance = random.Random(seed)
        graph, ii = random_graph(chance, 4), chance.randint(2, 5)
        schedule = confirm(graph, ii, limit_s=60).schedule
        if schedule is None:
            continue
        constraints = sorted(atoms(named_constraints(graph)), key=repr)
        for _ in range(6):
            dropped = chance.sample(constraints, chance.randint(1, len(constraints)))
            without = relaxed(graph, dropped)
            assert check(without, granted(without, schedule)).legal, (seed, dropped)
            kinds |= {constraint.topic for constraint in dropped}
    assert kinds == set(Topic) - {Topic.WARPS}


@pytest.mark.parametrize("name", KERNELS)
def test_only_violations_of_what_is_left_out_go(name: str) -> None:
    """Leaving out one constraint of a rule that nothing else rests on: the judge finds exactly the other violations."""
    graph = case_graph("kernels", name)
    legal = load_schedule(CASES / "kernels" / "schedules" / f"{name}.yaml", graph)
    chance = random.Random(name)
    topics = {
        Topic.UNIT: Family.UNIT,
        Topic.SHARED_MEMORY: Family.SHARED_MEMORY,
        Topic.TENSOR_MEMORY: Family.TENSOR_MEMORY,
        Topic.MATRIX_ROLE: Family.ROLE,
        Topic.PIN: Family.PIN,
    }
    gone: set[Topic] = set()
    for _ in range(20):
        schedule = legal
        for op in chance.sample(sorted(legal.ops), 5):
            schedule = move_op(schedule, op, chance.randrange(2 * legal.ii), chance.choice(sorted(legal.groups)))
        machine = replace(graph.machine, shared_memory_bytes=1 << 16, tensor_memory_columns=64)
        tight = replace(graph, machine=machine, pins={min(graph.ops): Pin(start=1)})
        before = facts(tight, schedule)
        for constraint in named_constraints(tight):
            if constraint.topic in topics:
                after = facts(relaxed(tight, [constraint]), schedule)
                lost = before - after
                assert after <= before
                assert {family for family, *_ in lost} <= {topics[constraint.topic]}
                if constraint.topic is Topic.UNIT:
                    assert {subject for _, subject, *_ in lost} <= {constraint.subject}
                gone |= {constraint.topic} if lost else set()
    assert {Topic.UNIT, Topic.SHARED_MEMORY, Topic.PIN} <= gone


def facts(graph: Graph, schedule: Schedule) -> set[tuple[object, ...]]:
    return {(v.family, v.subject, v.ops, v.at, v.required, v.available) for v in check(graph, schedule).violations}


def test_without_all_of_them_everything_is_possible() -> None:
    for seed in range(60):
        graph = random_graph(random.Random(seed), 4)
        assert possible(relaxed(graph, named_constraints(graph)), 1), seed
