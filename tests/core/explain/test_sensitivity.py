"""Costs that the least II depends on: it stays within what is told, and changes one step beyond."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from explain_cases import case_graph, expected, possible
from solve_brute_force import random_graph

from core.explain.answer import Explanation, Sensitivity
from core.explain.explain import explain
from core.explain.options import ExplainOptions
from core.explain.question import why_not_ii
from core.graph.model import Graph, Op
from core.schedule.variations import with_costs
from core.solve.events import Verdict

OPTIONS = ExplainOptions(total_s=120.0, sensitivity=True)


def changed(graph: Graph, found: Sensitivity, value: int) -> Graph:
    """The graph with the cost that is told, from its meaning."""
    ops: dict[str, Op] = dict(graph.ops)
    for name in found.ops:
        match found.what:
            case "latency":
                graph = with_costs(graph, name, latency=value)
            case "issue cycles":
                graph = with_costs(graph, name, issue_cycles=value)
            case "hand-off":
                ops[name] = replace(ops[name], hand_off_cycles=value)
            case unit:
                unit = unit.removeprefix("cycles on ")
                blocks = [replace(b, duration=value) if b.unit == unit else b for b in ops[name].blocks]
                ops[name] = replace(ops[name], blocks=tuple(blocks))
    return graph if found.what in ("latency", "issue cycles") else replace(graph, ops=ops)


def check_sensitivity(graph: Graph, least_ii: int, found: Sensitivity) -> None:
    assert found.proved
    assert found.least is not None or found.most is not None
    if found.least is not None:
        assert 0 < found.least <= found.old
        assert possible(changed(graph, found, found.least - 1), least_ii - 1)
        assert not possible(changed(graph, found, found.least), least_ii - 1)
    if found.most is not None:
        assert found.old <= found.most < 2 * found.old
        assert possible(changed(graph, found, found.most), least_ii)
        assert not possible(changed(graph, found, found.most + 1), least_ii)


def check_missing(graph: Graph, least_ii: int, explanation: Explanation) -> None:
    """Of a cost that is not told, neither none at all nor twice as much matters."""
    told = {(found.what, op) for found in explanation.sensitivity for op in found.ops}
    for name, op in graph.ops.items():
        alike = tuple(other.id for other in graph.ops.values() if (other.kind, other.latency) == (op.kind, op.latency))
        if op.latency and ("latency", name) not in told:
            missing = Sensitivity("latency", alike, op.latency, None, None, True, "")
            assert possible(changed(graph, missing, 2 * op.latency), least_ii)
            assert least_ii == 1 or not possible(changed(graph, missing, 0), least_ii - 1)


def check(graph: Graph, ii: int) -> Explanation:
    explanation = explain(why_not_ii(graph, ii), OPTIONS)
    if explanation.least_ii is None:
        assert explanation.sensitivity == ()
        return explanation
    assert possible(graph, explanation.least_ii)
    assert explanation.least_ii == 1 or not possible(graph, explanation.least_ii - 1)
    for found in explanation.sensitivity:
        check_sensitivity(graph, explanation.least_ii, found)
    check_missing(graph, explanation.least_ii, explanation)
    return explanation


def sweep(seeds: range) -> Counter[str]:
    """Random graphs with costs of some cycles; which costs mattered, and in which direction."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        graph = replace(random_graph(random.Random(seed)), pins={})
        explanation = check(graph, 1 + seed % 2)
        for found in explanation.sensitivity:
            seen.update([found.what] + ["less"] * (found.least is not None) + ["more"] * (found.most is not None))
    return seen


def test_random_graphs() -> None:
    seen = sweep(range(5000, 5012))
    assert seen["less"]
    assert seen["more"]
    assert len(seen) >= 5, seen


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_graphs() -> None:
    seen = sweep(range(6000, 6300))
    assert seen.keys() >= {"latency", "issue cycles", "hand-off", "less", "more"}


@pytest.mark.parametrize("name", ["gemm", "carried_hand_off", pytest.param("layer_norm", marks=pytest.mark.long)])
def test_kernels(name: str) -> None:
    least_ii = expected("kernels")[name]["least_ii"]
    explanation = check(case_graph("kernels", name), least_ii)
    assert explanation.verdict is Verdict.FEASIBLE
    assert explanation.least_ii == least_ii


def test_the_tensor_core_alone_bounds_attention() -> None:
    """Four products of 512 cycles fill 2048: one cycle more or less of each moves the least II, nothing else does."""
    explanation = explain(why_not_ii(case_graph("kernels", "fa_fwd_hopper_2x64"), 2047), OPTIONS)
    (found,) = explanation.sensitivity
    assert (found.what, found.old, found.least, found.most) == ("cycles on tensor_core", 512, 512, 512)
    assert set(found.ops) == {"qk0", "pv0", "qk1", "pv1"}
    assert found.highlight.ops == found.ops
    assert found.highlight.units == ("tensor_core",)


def test_without_being_asked_for_there_is_none() -> None:
    explanation = explain(why_not_ii(case_graph("kernels", "gemm"), 511))
    assert (explanation.least_ii, explanation.sensitivity) == (None, ())
