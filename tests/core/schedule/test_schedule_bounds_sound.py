"""No certificate may exclude a legal schedule: machines are fitted to random schedules without any slack."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from schedule_fitted import fitted, random_schedule

from core.graph.model import InOrderIssue, Limits, Pin
from core.schedule.bounds import certificates
from core.schedule.check import check
from core.schedule.report import Family


@pytest.mark.parametrize("seed", range(6))
def test_no_certificate_excludes_a_legal_schedule(seed: int) -> None:
    chance = random.Random(seed)
    modes: set[InOrderIssue] = set()
    for _ in range(250):
        judged, schedule = fitted(chance, *random_schedule(chance))
        modes.add(judged.rules.in_order_issue)
        assert check(judged, schedule).legal
        assert certificates(judged, schedule.ii) == (), (judged, schedule)
    assert modes == set(InOrderIssue)


@pytest.mark.parametrize("seed", range(3))
def test_no_certificate_excludes_a_schedule_whose_starts_are_pinned(seed: int) -> None:
    """Any of them, and with each pin as it is moved by a cycle either it is legal still or its judge says why not."""
    chance = random.Random(seed)
    excluded = 0
    for _ in range(250):
        judged, schedule = fitted(chance, *random_schedule(chance))
        chosen = [op for op in schedule.ops if chance.random() < 0.5]
        pins = {op: Pin(start=schedule.ops[op].start) for op in chosen}
        assert certificates(replace(judged, pins=pins), schedule.ii) == (), (judged, schedule, pins)
        every = {op: Pin(start=place.start) for op, place in schedule.ops.items()}
        moved = chance.choice(list(every))
        start = max(0, schedule.ops[moved].start + chance.choice((-1, 1)))
        pins = every | {moved: Pin(start=start)}
        found = {c.family for c in certificates(replace(judged, pins=pins), schedule.ii)}
        places = schedule.ops | {moved: replace(schedule.ops[moved], start=start)}
        broken = {violation.family for violation in check(judged, replace(schedule, ops=places)).violations}
        # Groups are open and hand-offs may be avoided, so the judge may object to more; never to less.
        assert found & {Family.DEPENDENCE, Family.UNIT} <= broken, (judged, schedule, pins)
        excluded += bool(found)
    assert excluded > 20


def test_less_than_fitted_is_often_excluded() -> None:
    """The fitted machines are tight enough for certificates to speak: with one of anything less, many do."""
    chance = random.Random(1)
    families: set[Family] = set()
    for _ in range(300):
        judged, schedule = fitted(chance, *random_schedule(chance))
        less = Limits(
            {unit: max(0, capacity - 1) for unit, capacity in judged.machine.units.items()},
            replace(judged.machine.registers, max_per_thread=max(0, judged.machine.registers.max_per_thread - 1)),
            max(0, judged.machine.shared_memory_bytes - 1),
            max(0, judged.machine.tensor_memory_columns - 1),
        )
        families |= {c.family for c in certificates(replace(judged, machine=less), schedule.ii)}
    assert families >= {Family.UNIT, Family.REGISTERS, Family.SHARED_MEMORY, Family.TENSOR_MEMORY}
