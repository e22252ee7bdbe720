"""The paper's model: what it prints comes out, and the judge shows what the printed formulation misses."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, RegisterFile
from core.graph.read import load_graph
from core.schedule.check import check
from core.solve.events import Verdict
from core.solve.paper.modulo import Outcome, modulo_schedule
from core.solve.paper.normalize import normalize, op_cost
from core.solve.paper.result import paper_schedule
from core.solve.paper.search import search

CASES = Path(__file__).parents[2] / "data" / "cases" / "kernels"


def graph_of(costs: list[int]) -> Graph:
    """Independent ops of these costs on one unit."""
    ops = {f"v{n}": Op(f"v{n}", "op", blocks=(Block("x", 0, cost),), latency=cost) for n, cost in enumerate(costs)}
    limits = Limits({"x": 1}, RegisterFile(65536, 255))
    return Graph("costs", limits, (GroupKind("compute", 4),), ops)


def test_figure_1_comes_out_as_printed() -> None:
    result = search(load_graph(CASES / "figure_1.yaml"), max_ii=4, limit_s=60)
    assert (result.verdict, result.ii, result.length) == (Verdict.FEASIBLE, 2, 4)
    assert {op: start for op, (start, _) in result.placements.items()} in (
        {"s": 0, "p": 1, "o": 3},
        {"s": 0, "p": 2, "o": 3},
    )


def test_a_deeper_pipeline_at_the_same_ii_is_never_tried() -> None:
    """Gap: II 1 is legal with a at 0 and b at 2; the search stays within ceil(L / II) copies and ends at 3."""
    graph = load_graph(CASES / "deeper_at_ii_1.yaml")
    result = search(graph, max_ii=4, limit_s=60)
    assert (result.ii, [a.ii for a in result.attempts]) == (3, [1, 2, 3, 3])
    assert check(graph, paper_schedule(graph, result)).legal


def test_a_carried_hand_off_longer_than_the_program_goes_unseen() -> None:
    """Gap: b to a is carried and needs 4 cycles across groups; the program has one copy, so nobody looks at it."""
    graph = load_graph(CASES / "carried_hand_off.yaml")
    result = search(graph, max_ii=4, limit_s=60)
    assert result.ii == 2
    groups = {op: group for op, (_, group) in result.placements.items()}
    report = check(graph, paper_schedule(graph, result))
    assert report.legal == (groups["a"] == groups["b"])
    if not report.legal:
        assert {violation.family.value for violation in report.violations} == {"dependence"}


def test_the_search_within_no_time_is_unknown_not_infeasible() -> None:
    assert search(load_graph(CASES / "figure_1.yaml"), max_ii=4, limit_s=0).verdict is Verdict.UNKNOWN


def test_no_ii_up_to_the_limit_is_infeasible() -> None:
    assert search(load_graph(CASES / "deeper_at_ii_1.yaml"), max_ii=2, limit_s=60).verdict is Verdict.INFEASIBLE


@pytest.mark.parametrize("costs", [[512, 64], [512, 72, 64], [100, 33, 7], [5]])
def test_the_normalisation_is_the_best_there_is(costs: list[int]) -> None:
    """Oracle: every choice of small costs whose sum is within the limit."""
    total = 20
    best = min(
        max((abs(a * y - b * x) for (a, x), (b, y) in combinations(zip(costs, small, strict=True), 2)), default=0)
        for small in product(range(total + 1), repeat=len(costs))
        if 1 <= sum(small) <= total
    )
    found = normalize(graph_of(costs), total)
    small = [found.table[cost] for cost in costs]
    error = max((abs(a * y - b * x) for (a, x), (b, y) in combinations(zip(costs, small, strict=True), 2)), default=0)
    assert error == best == pytest.approx(found.error, abs=1e-6)
    assert 1 <= sum(small) <= total


def test_every_number_of_cycles_is_scaled() -> None:
    graph = load_graph(CASES / "fa_fwd_hopper_2x64.yaml")
    small = normalize(graph).apply(graph)
    assert sum(map(op_cost, small.ops.values())) <= 300
    assert all(new.latency <= old.latency for new, old in zip(small.dependences, graph.dependences, strict=True))
    assert {d.latency for d in small.dependences} != {0}


def test_the_modulo_schedule_has_least_length() -> None:
    """Oracle: exhaustive search over starts at the least II of three ops on one unit with a dependence chain."""
    graph = graph_of([2, 1, 2])
    chain = (Dependence("v0", "v1", 3), Dependence("v1", "v2", 1), Dependence("v2", "v0", 0, 2))
    graph = Graph("chain", graph.machine, graph.groups, graph.ops, chain)
    lengths: list[int] = []
    for starts in product(range(12), repeat=3):
        at = dict(zip(graph.ops, starts, strict=True))
        slots = [(at[op.id] + c) % 5 for op in graph.ops.values() for c in range(op.latency)]
        if len(set(slots)) == len(slots) and all(
            at[d.target] + 5 * d.distance >= at[d.source] + d.latency for d in chain
        ):
            lengths.append(max(at[op.id] + op.latency for op in graph.ops.values()) - min(starts))
    schedule = modulo_schedule(graph, 5, 60)
    assert (schedule.outcome, schedule.length) == (Outcome.FOUND, min(lengths))
    assert modulo_schedule(graph, 4, 60).outcome is Outcome.INFEASIBLE
