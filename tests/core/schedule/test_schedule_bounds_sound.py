"""No certificate may exclude a legal schedule: machines are fitted to random schedules without any slack."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from schedule_fitted import fitted, random_schedule

from core.graph.model import InOrderIssue, Limits
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
