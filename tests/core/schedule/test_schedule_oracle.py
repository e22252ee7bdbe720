"""The judge against the simulator: the tiny cases' schedules and thousands of random faults in them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from schedule_cases import graph, tiny_schedules
from schedule_fitted import fitted, random_schedule
from schedule_oracle import Fact, simulate

from core.graph.model import DependenceKind, Graph, InOrderIssue, Pin, Pool
from core.schedule.check import check
from core.schedule.edits import move_op
from core.schedule.model import Placement, Schedule
from core.schedule.report import Family, Report

SCHEDULES = tiny_schedules()


def facts(report: Report) -> set[Fact]:
    """The report's violations as the simulator names them."""
    found: set[Fact] = set()
    for violation in report.violations:
        if violation.family is Family.DEPENDENCE:
            subject = " ".join(violation.ops)
        elif violation.family is Family.PIN:
            (subject,) = violation.ops
        else:
            assert violation.subject is not None
            subject = violation.subject
        found.add((violation.family.value, subject))
    return found


def assert_agreement(judged: Graph, schedule: Schedule) -> set[Fact]:
    report, finding = check(judged, schedule), simulate(judged, schedule)
    assert facts(report) == finding.broken, (judged, schedule)
    assert dict(report.peaks.registers) == finding.registers, (judged, schedule)
    assert dict(report.peaks.units) == finding.units, (judged, schedule)
    assert report.peaks.shared_memory == finding.shared_memory, (judged, schedule)
    assert report.peaks.tensor_memory == finding.tensor_memory, (judged, schedule)
    return finding.broken


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_reference_schedules_are_legal_for_both(name: str) -> None:
    assert assert_agreement(graph("tiny", name), SCHEDULES[name]) == set()


def disturbed_graph(chance: random.Random, judged: Graph) -> Graph:
    """Other rules, pools, pins, queues and dependences: more than the files have."""
    rules = replace(
        judged.rules,
        in_order_issue=chance.choice(list(InOrderIssue)),
        isolate_matrix_issue=chance.random() < 0.3,
        allow_hand_off=chance.random() < 0.8,
    )
    registers = replace(
        judged.machine.registers, pool=chance.choice(list(Pool)), file_words=chance.choice([2048, 4096, 16384])
    )
    ops = {
        name: replace(
            op,
            queue=chance.choice([0, 0, 3]),
            needs_warps=chance.choice([1, 1, 4]),
            asynchronous=chance.random() < 0.5,
            issue_cycles=chance.choice([0, 1, 2]),
        )
        for name, op in judged.ops.items()
    }
    dependences = tuple(
        replace(d, kind=chance.choice([DependenceKind.FLOW, DependenceKind.FLOW, DependenceKind.ANTI]))
        for d in judged.dependences
    )
    pins = {chance.choice(list(ops)): Pin(chance.choice([None, 0, 1]), chance.choice(["compute0", "small0"]))}
    return replace(
        judged,
        rules=rules,
        machine=replace(judged.machine, registers=registers),
        groups=tuple(replace(kind, warps=chance.choice([1, 2, 4, 8])) for kind in judged.groups),
        ops=ops,
        dependences=dependences,
        pins=pins if chance.random() < 0.3 else {},
    )


def disturbed_schedule(chance: random.Random, judged: Graph, schedule: Schedule) -> Schedule:
    kinds = [kind.kind for kind in judged.groups]
    spare = {f"{kind}{number}": kind for kind in kinds for number in range(3)}
    groups = dict(schedule.groups)
    granted = next(iter(groups.values()))
    for name, kind in spare.items():
        groups.setdefault(name, replace(granted, kind=kind))
    groups = {
        name: replace(group, grant=chance.choice([group.grant, group.grant, 0, 7, 24, 32]))
        for name, group in groups.items()
    }
    places = dict(schedule.ops)
    for name in chance.sample(list(places), chance.randint(0, len(places))):
        start = max(0, places[name].start + chance.randint(-4, 6))
        group = chance.choice([places[name].group, places[name].group, *groups])
        places[name] = Placement(start, group, chance.randint(0, judged.ops[name].queue))
    rings = {name: chance.choice([depth, 1, 4]) for name, depth in schedule.rings.items() if chance.random() < 0.7}
    ii = max(1, schedule.ii + chance.choice([0, 0, -1, 1, -3]))
    return Schedule(ii, groups, places, rings)


@pytest.mark.parametrize("seed", range(8))
def test_random_faults_are_found_by_both(seed: int) -> None:
    chance = random.Random(seed)
    seen: set[str] = set()
    for _ in range(400):
        name = chance.choice(list(SCHEDULES))
        judged = graph("tiny", name)
        if chance.random() < 0.7:
            judged = disturbed_graph(chance, judged)
        broken = assert_agreement(judged, disturbed_schedule(chance, judged, SCHEDULES[name]))
        seen |= {family for family, _ in broken}
    assert seen == {family.value for family in Family}


@pytest.mark.parametrize("seed", range(4))
def test_at_the_border_of_legality_both_draw_the_same_line(seed: int) -> None:
    """On machines without slack a schedule is legal, and one small step is often not."""
    chance = random.Random(seed)
    verdicts: set[bool] = set()
    for _ in range(100):
        judged, schedule = fitted(chance, *random_schedule(chance))
        assert assert_agreement(judged, schedule) == set()
        op = chance.choice(list(schedule.ops))
        start = max(0, schedule.ops[op].start + chance.choice([-1, 1]))
        verdicts.add(not assert_agreement(judged, move_op(schedule, op, start)))
    assert verdicts == {True, False}
