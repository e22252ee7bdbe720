"""What the graph's normal form says of dependences, and models that are given up while they are made."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from solve_brute_force import random_graph
from solve_cases import graph

from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.events import Verdict
from core.solve.problem import NO_PATH, longest_paths, make_problem


@pytest.mark.parametrize("seed", range(60))
def test_longest_paths(seed: int) -> None:
    """Against Bellman and Ford of another library, from every op, where no recurrence is too long."""
    problem = make_problem(random_graph(random.Random(seed), 4))
    for ii in (1, 4, 20):
        net: nx.DiGraph[str] = nx.DiGraph()
        net.add_nodes_from(problem.graph.ops)
        for d in problem.graph.dependences:
            cycles = d.latency + problem.forced_hand_off(d) - ii * d.distance
            known = net.get_edge_data(d.source, d.target, {"weight": 0 if d.source == d.target else 1 << 40})
            net.add_edge(d.source, d.target, weight=min(known["weight"], -cycles))
        found = longest_paths(problem, ii)
        try:
            expected = {op: nx.single_source_bellman_ford_path_length(net, op) for op in net}
        except nx.NetworkXUnbounded:
            assert (found.diagonal() > 0).any()
            continue
        for i, source in enumerate(problem.graph.ops):
            for j, target in enumerate(problem.graph.ops):
                assert found[i, j] == (-expected[source][target] if target in expected[source] else NO_PATH)


@pytest.mark.parametrize("patience", [0, 3, 100])
def test_a_stop_ends_the_making_of_a_model(patience: int) -> None:
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > patience

    decider = Decider(make_problem(graph("kernels", "fa_fwd_hopper_2x64")), Budget(1000, stopped), seed=1)
    decision = decider.decide(2048)
    assert (decision.entry.verdict, decision.schedule) == (Verdict.UNKNOWN, None)
    assert decider.find(2048, 1.0) is None
    assert decider.exclude(2048, 2050).verdict is Verdict.UNKNOWN
    assert asked <= patience + 20
