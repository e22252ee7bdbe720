"""Least II and least L of the cases with known answers, and what must hold of their schedules."""

from __future__ import annotations

import pytest
from solve_cases import answer, broken_facts, expected, graph, level

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
    assert broken_facts(result.schedule, case, {"ii", "length"}) == []


@pytest.mark.parametrize("name", [n for n, case in expected("kernels").items() if "least_hand_offs" in case])
def test_fewest_hand_offs(name: str) -> None:
    case = expected("kernels")[name]
    result = answer(graph("kernels", name), Level.HAND_OFFS)
    found = level(result, Level.HAND_OFFS)
    least = case["least_hand_offs"]
    assert (found.value, found.detail, found.proved) == (least["values"], least["bytes"], True)
    assert result.schedule is not None
    assert broken_facts(result.schedule, case, {"ii", "hand_offs"}) == []
