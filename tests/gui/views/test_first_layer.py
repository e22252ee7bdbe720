"""The first layer of an explanation: no schedule that the judge finds legal takes less than it says."""

from __future__ import annotations

import pytest
from chart_cases import NAMES, case

from core.schedule.bounds import certificates
from core.schedule.check import check
from core.schedule.reservation import reservation_table
from twill_gui.models.arithmetic import arithmetic


@pytest.mark.parametrize("name", NAMES)
def test_a_legal_schedule_takes_as_much_at_least(name: str) -> None:
    graph, schedule = case(name)
    report = check(graph, schedule)
    assert report.legal
    first = arithmetic(graph, schedule.ii)
    assert first.certificates == () and all(share.enough for share in (*first.units, *first.issue, *first.memory))
    busy = {unit: table.busy for unit, table in reservation_table(graph, schedule).items() if table.cells}
    assert {share.subject: share.required for share in first.units if graph.machine.units[share.subject] == 1} == {
        unit: cycles for unit, cycles in busy.items() if graph.machine.units[unit] == 1
    }
    least = {share.subject: share.required for share in first.memory}
    assert least.get("registers", 0) <= max(report.peaks.registers.values(), default=0)
    assert least.get("shared memory", 0) <= report.peaks.shared_memory
    assert least.get("tensor memory", 0) <= report.peaks.tensor_memory


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_enough_is_what_the_certificates_say(name: str) -> None:
    graph, schedule = case(name)
    for ii in {1, max(schedule.ii // 2, 1), max(schedule.ii - 1, 1)}:
        first = arithmetic(graph, ii)
        excluded = {c.subject for c in certificates(graph, ii)}
        assert {share.subject for share in first.units if not share.enough} <= excluded
        needs = first.recurrence.latency if first.recurrence else 0
        has = first.recurrence.distance * ii if first.recurrence else 0
        assert (needs > has) == ("recurrence" in excluded)
