"""A rule left out: the judge finds exactly the violations of the other rules. Limits: what was asked for."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from core.graph.model import DependenceKind, Graph, Pin, Space
from core.graph.read import load_graph
from core.schedule.check import check
from core.schedule.edits import move_op, set_grant
from core.schedule.liveness import live_ranges
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from core.schedule.report import Family, Violation
from core.schedule.variations import (
    REMOVABLE,
    with_group_counts,
    with_hand_off,
    with_register_limit,
    with_ring_depth,
    without_family,
)

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"
CASES = ("fa_fwd_hopper_2x64", "fa_bwd_hopper", "fa_fwd_blackwell_2x128")


def load(case: str) -> tuple[Graph, Schedule]:
    graph = load_graph(KERNELS / f"{case}.yaml")
    return graph, load_schedule(KERNELS / "schedules" / f"{case}.yaml", graph)


def broken(graph: Graph, schedule: Schedule, seed: int) -> tuple[Graph, Schedule]:
    """A schedule that breaks many rules, on a graph with little room."""
    rng = random.Random(seed)
    for op in rng.sample(sorted(schedule.ops), 4):
        start = rng.randrange(2 * schedule.ii)
        schedule = move_op(schedule, op, start, rng.choice(sorted(schedule.groups)))
    schedule = replace(set_grant(schedule, max(schedule.groups), 512), rings={})
    machine = replace(graph.machine, shared_memory_bytes=1 << 16, tensor_memory_columns=64)
    rules = replace(graph.rules, isolate_matrix_issue=True, allow_hand_off=False)
    groups = tuple(replace(group, count=1) for group in graph.groups)
    pinned = {min(graph.ops): Pin(start=1, group="elsewhere")}
    return replace(graph, machine=machine, rules=rules, groups=groups, pins=pinned), schedule


def facts(violations: tuple[Violation, ...], left_out: Family) -> set[tuple[object, ...]]:
    return {(v.family, v.ops, v.at, v.required, v.available) for v in violations if v.family is not left_out}


@pytest.mark.parametrize("family", REMOVABLE)
@pytest.mark.parametrize("case", CASES)
def test_the_judge_misses_only_the_rule_left_out(case: str, family: Family) -> None:
    graph, schedule = load(case)
    seen: set[Family] = set()
    for seed in range(8):
        tight, wrong = broken(graph, schedule, seed)
        before = check(tight, wrong).violations
        after = check(without_family(tight, family), wrong).violations
        seen |= {violation.family for violation in before}
        assert not any(violation.family is family for violation in after)
        assert facts(after, family) == facts(before, family)
    assert family in seen or family is Family.TENSOR_MEMORY


def test_tensor_memory_can_be_left_out() -> None:
    graph, schedule = load("fa_fwd_blackwell_2x128")
    tight = replace(graph, machine=replace(graph.machine, tensor_memory_columns=64))
    assert {violation.family for violation in check(tight, schedule).violations} == {Family.TENSOR_MEMORY}
    assert check(without_family(tight, Family.TENSOR_MEMORY), schedule).legal


@pytest.mark.parametrize("family", sorted(set(Family) - set(REMOVABLE), key=lambda family: family.value))
def test_the_others_cannot_be_left_out(family: Family) -> None:
    graph, _ = load(CASES[0])
    with pytest.raises(ValueError, match=family.value):
        without_family(graph, family)


def test_limits() -> None:
    graph, schedule = load(CASES[0])
    fewer = with_group_counts(graph, {"compute": 1})
    assert {v.family for v in check(fewer, schedule).violations} == {Family.GROUPS}
    assert [group.count for group in fewer.groups] == [1, 1]
    with pytest.raises(KeyError):
        with_group_counts(graph, {"comput": 1})
    small = with_register_limit(graph, 120)
    assert {v.family for v in check(small, schedule).violations} == {Family.REGISTERS}


def test_hand_off_of_every_register_value() -> None:
    graph, _ = load(CASES[0])
    priced = with_hand_off(graph, 7)
    in_registers = {name for name, op in graph.ops.items() if op.result.space is Space.REGISTERS}
    assert {name for name, op in priced.ops.items() if op.hand_off_cycles == 7} == in_registers
    same = {name: replace(op, hand_off_cycles=graph.ops[name].hand_off_cycles) for name, op in priced.ops.items()}
    assert replace(priced, ops=same) == graph


def test_a_ring_depth_holds_just_where_the_live_range_fits() -> None:
    """The waiting for a slot says what rule `shared_memory` says of the ring, on legal schedules and on wild ones."""
    outcomes: set[tuple[int, bool]] = set()
    for case in CASES:
        graph, schedule = load(case)
        shared = [name for name, op in graph.ops.items() if op.result.space is Space.SHARED]
        rng = random.Random(case)
        for _ in range(40):
            for op in rng.sample(sorted(schedule.ops), 2):
                schedule = move_op(schedule, op, rng.randrange(6 * schedule.ii))
            before = len(check(graph, schedule).violations)
            rings = live_ranges(graph, schedule).rings
            for op in shared:
                for depth in (1, 2, 3):
                    bounded = with_ring_depth(graph, op, depth)
                    held = len(check(bounded, schedule).violations) == before
                    assert held == (rings[op].least_depth <= depth), (case, op, depth)
                    outcomes.add((depth, held))
    assert len(outcomes) == 6


def test_ring_depths_that_cannot_be_asked_for() -> None:
    graph, _ = load(CASES[0])
    value = next(name for name, op in graph.ops.items() if op.result.space is Space.REGISTERS)
    with pytest.raises(ValueError, match="not in shared memory"):
        with_ring_depth(graph, value, 2)
    ring = next(name for name, op in graph.ops.items() if op.result.space is Space.SHARED)
    reader = next(d for d in graph.dependences if d.source == ring)
    late = replace(graph, dependences=(*graph.dependences, replace(reader, distance=3)))
    with pytest.raises(ValueError, match="more than 2 iterations later"):
        with_ring_depth(late, ring, 2)
    assert with_ring_depth(late, ring, 3).dependences[-1].distance == 0
    with pytest.raises(KeyError):
        with_ring_depth(graph, "nothing", 2)


def test_a_value_that_nobody_reads_keeps_its_slot_for_its_latency() -> None:
    graph, _ = load(CASES[0])
    ring = next(name for name, op in graph.ops.items() if op.result.space is Space.SHARED)
    unread = replace(graph, dependences=tuple(d for d in graph.dependences if d.source != ring))
    added = with_ring_depth(unread, ring, 2).dependences[-1]
    assert (added.source, added.target, added.distance) == (ring, ring, 2)
    assert (added.latency, added.kind) == (graph.ops[ring].latency, DependenceKind.ANTI)
