"""Push and compact: what they may move, and that what was legal stays legal."""

from __future__ import annotations

import random
from dataclasses import replace

import networkx as nx
import pytest
from schedule_cases import graph, kernel_schedules, tiny_schedules
from schedule_fitted import fitted, random_schedule

from core.graph.model import Block, Dependence, Graph, GroupKind, InOrderIssue, Limits, Op, Pin, RegisterFile, Rules
from core.schedule.check import check
from core.schedule.compact import compact
from core.schedule.edits import move_op
from core.schedule.index import GraphIndex
from core.schedule.metrics import length
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.orders import order_differences
from core.schedule.push import push
from core.schedule.report import Family

KNOWN = [(graph("tiny", name), schedule) for name, schedule in tiny_schedules().items()]
KNOWN += [(graph("kernels", name), schedule) for name, schedule in kernel_schedules().items()]
TIMES = {Family.DEPENDENCE, Family.UNIT, Family.ISSUE}


def legal_cases(seeds: range) -> list[tuple[Graph, Schedule]]:
    cases = list(KNOWN)
    for seed in seeds:
        chance = random.Random(seed)
        cases.append(fitted(chance, *random_schedule(chance)))
    return cases


def check_compact(judged: Graph, schedule: Schedule) -> bool:
    """Whether compact has all that orders allow."""
    assert check(judged, schedule).legal
    found = compact(judged, schedule)
    first = min(place.start for place in schedule.ops.values())
    assert check(judged, found).legal
    assert compact(judged, found) == found
    assert length(judged, found) <= length(judged, schedule)
    pinned = any(pin.start is not None for pin in judged.pins.values())
    for op, place in found.ops.items():
        assert place.start <= schedule.ops[op].start - (0 if pinned else first)
        assert (place.group, place.delay) == (schedule.ops[op].group, schedule.ops[op].delay)
    index = GraphIndex(judged)
    assert set(order_differences(index, found)) == set(order_differences(index, schedule))
    tight = {op for op, place in found.ops.items() if place.start == (first if pinned else 0) or op in judged.pins}
    for source, target, cycles in order_differences(index, found):
        if found.ops[source].start + cycles == found.ops[target].start:
            tight.add(target)
    return tight == set(found.ops)


def test_compact_of_legal_schedules() -> None:
    complete = [check_compact(*case) for case in legal_cases(range(300))]
    assert {True, False} == set(complete)


@pytest.mark.parametrize("seed", range(20))
def test_compact_keeps_pinned_starts(seed: int) -> None:
    chance = random.Random(seed)
    judged, schedule = fitted(chance, *random_schedule(chance))
    op = chance.choice(list(judged.ops))
    check_compact(replace(judged, pins={op: Pin(start=schedule.ops[op].start)}), schedule)


def test_push_of_a_legal_schedule_moves_nothing() -> None:
    for judged, schedule in legal_cases(range(200)):
        for op in judged.ops:
            assert push(judged, schedule, [op]) == schedule


def later(chance: random.Random) -> tuple[Graph, Schedule, str, Schedule]:
    """A schedule that keeps its dependences, and the same with one op later."""
    judged, schedule = random_schedule(chance)
    op = chance.choice(list(judged.ops))
    return judged, schedule, op, move_op(schedule, op, schedule.ops[op].start + chance.randint(1, 20))


@pytest.mark.parametrize("seed", range(150))
def test_push_moves_descendants_only_and_never_earlier(seed: int) -> None:
    judged, _, op, dropped = later(random.Random(seed))
    found = push(judged, dropped, [op])
    arcs = nx.MultiDiGraph([(d.source, d.target) for d in judged.dependences])
    below = nx.descendants(arcs, op) if op in arcs else set()
    for name, place in found.ops.items():
        assert place.start >= dropped.ops[name].start
        if name == op or name not in below:
            assert place == dropped.ops[name]


@pytest.mark.parametrize("seed", range(150))
def test_push_without_conflicts_is_the_least_that_dependences_need(seed: int) -> None:
    """Against longest paths, where nothing but dependences binds; what leads back to the op cannot be mended."""
    judged, _, op, dropped = later(random.Random(seed))
    ops = {name: replace(one, blocks=()) for name, one in judged.ops.items()}
    judged = replace(judged, ops=ops, rules=Rules(InOrderIssue.OFF))
    arcs = nx.MultiDiGraph([(d.source, d.target) for d in judged.dependences])
    if op in arcs and any(op in nx.descendants(arcs, d.target) for d in judged.dependences if d.source == op):
        return
    found = push(judged, dropped, [op])
    late = [v for v in check(judged, found).violations if v.family is Family.DEPENDENCE and v.ops[1] != op]
    assert not late
    starts = {name: place.start for name, place in dropped.ops.items()}
    for _ in judged.ops:
        for source, target, cycles in order_differences(GraphIndex(judged), dropped):
            if target != op:
                starts[target] = max(starts[target], starts[source] + cycles)
    assert {name: place.start for name, place in found.ops.items()} == starts


def line(*starts: int, ii: int = 20, capacity: int = 1) -> tuple[Graph, Schedule]:
    """a -> b on the unit, x and y beside them."""
    ops = {name: Op(name, "op", blocks=(Block("u", 0, 3),), issue_cycles=1, latency=3) for name in "abxy"}
    machine = Limits({"u": capacity}, RegisterFile(1 << 20, 255))
    judged = Graph("line", machine, (GroupKind("c", 4, 1),), ops, (Dependence("a", "b", 3),))
    places = {op: Placement(start, "c.0") for op, start in zip(ops, starts, strict=True)}
    return judged, Schedule(ii, {"c.0": ScheduledGroup("c", 8)}, places)


def test_push_goes_past_what_is_in_the_way() -> None:
    judged, schedule = line(0, 3, 6, 10)
    found = push(judged, move_op(schedule, "a", 2), ["a"])
    assert [place.start for place in found.ops.values()] == [2, 13, 6, 10]
    assert check(judged, found).legal


def test_push_goes_around_the_interval() -> None:
    judged, schedule = line(0, 3, 26, 10, ii=13)
    found = push(judged, move_op(schedule, "a", 7), ["a"])
    assert [place.start for place in found.ops.values()] == [7, 16, 26, 10]
    assert check(judged, found).legal


def test_push_with_room_for_two_at_once() -> None:
    judged, schedule = line(0, 3, 6, 7, capacity=2)
    judged = replace(judged, rules=Rules(InOrderIssue.OFF))
    found = push(judged, move_op(schedule, "a", 2), ["a"])
    assert [place.start for place in found.ops.values()] == [2, 9, 6, 7]


def test_push_leaves_pins_and_other_conflicts() -> None:
    judged, schedule = line(0, 3, 6, 10)
    pinned = replace(judged, pins={"b": Pin(start=3)})
    dropped = move_op(schedule, "a", 5)
    assert push(pinned, dropped, ["a"]) == dropped
    found = push(judged, dropped, ["a"])
    assert found.ops["x"] == schedule.ops["x"]
    assert {v.family for v in check(judged, found).violations} == {Family.UNIT}
