"""Least II and least L of the cases with known answers, and what must hold of their schedules."""

from __future__ import annotations

from typing import Any

import pytest
from solve_cases import answer, expected, graph, level

from core.schedule.model import Schedule
from core.solve.events import Level, Status, Verdict

KERNELS = [pytest.param(name, marks=pytest.mark.long if "__" in name else ()) for name in expected("kernels")]


@pytest.mark.parametrize("name", expected("tiny"))
def test_tiny(name: str) -> None:
    case = expected("tiny")[name]
    if case["least_ii"] is None:
        result = answer(graph("tiny", name), max_ii=case["bound"])
        assert result.status is Status.INFEASIBLE
        assert result.schedule is None
        assert result.proved_lower_bound > case["bound"]
    else:
        result = answer(graph("tiny", name), Level.LENGTH)
        assert (result.status, result.ii) == (Status.OPTIMAL, case["least_ii"])
        length = level(result, Level.LENGTH)
        assert (length.value, length.bound, length.proved) == (case["least_length"], case["least_length"], True)


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name: str) -> None:
    case = expected("kernels")[name]
    if case["least_ii"] is None:
        result = answer(graph("kernels", name), max_ii=case["infeasible_up_to"])
        assert result.status is Status.INFEASIBLE
        assert result.proved_lower_bound > case["infeasible_up_to"]
        return
    result = answer(graph("kernels", name), Level.LENGTH)
    assert (result.status, result.ii) == (Status.OPTIMAL, case["least_ii"])
    assert result.proved_lower_bound == case["least_ii"]
    length = level(result, Level.LENGTH)
    assert (length.value, length.proved) == (case["least_length"], True)
    refuted = [entry for entry in result.trail if entry.verdict is Verdict.INFEASIBLE]
    if case["least_ii"] > 1:
        assert max(entry.ii for entry in refuted) == case["least_ii"] - 1
        by_arithmetic = case["proof"].startswith("arithmetic")
        assert (refuted[-1].by != "cp-sat") or not by_arithmetic
    assert result.schedule is not None
    _must(result.schedule, case, {"ii", "length"})


@pytest.mark.parametrize("name", [n for n, case in expected("kernels").items() if "least_hand_offs" in case])
def test_fewest_hand_offs(name: str) -> None:
    case = expected("kernels")[name]
    result = answer(graph("kernels", name), Level.HAND_OFFS)
    found = level(result, Level.HAND_OFFS)
    least = case["least_hand_offs"]
    assert (found.value, found.detail, found.proved) == (least["values"], least["bytes"], True)
    assert result.schedule is not None
    _must(result.schedule, case, {"ii", "hand_offs"})


def _must(schedule: Schedule, case: dict[str, Any], at: set[str]) -> None:
    for fact in case.get("must", []):
        if fact["at"] in at:
            assert _holds(schedule, fact), fact


def _holds(schedule: Schedule, fact: dict[str, Any]) -> bool:
    def lag(after: str, op: str) -> int:
        return schedule.ops[op].start - schedule.ops[after].start

    if "together" in fact:
        return len({schedule.ops[op].group for op in fact["together"]}) == 1
    if "apart" in fact:
        return len({schedule.ops[op].group for op in fact["apart"]}) == len(fact["apart"])
    if "order" in fact:
        first, *others = fact["order"]
        slots = [lag(first, op) % schedule.ii for op in others]
        return slots == sorted(slots)
    if "slots" in fact:
        least, most = fact["slots"]
        return least <= lag(fact["after"], fact["op"]) % schedule.ii <= most
    least = schedule.ii if fact["cycles_at_least"] == "ii" else fact["cycles_at_least"]
    return lag(fact["after"], fact["op"]) >= least
