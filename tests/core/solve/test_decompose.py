"""Large loops: schedules by folding and by groups first, judged, against the loops that they are unrolled from."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from core.graph.fold import fold
from core.graph.model import (
    Block,
    Dependence,
    DependenceKind,
    Graph,
    GroupKind,
    Limits,
    Op,
    RegisterFile,
    Result,
    Space,
)
from core.graph.read import load_graph
from core.graph.unroll import unroll
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.solve.decompose import heuristic, repeat
from core.solve.engine import Budget
from core.solve.events import Level, SolveOptions, Status
from core.solve.group_choice import GroupChoice
from core.solve.problem import make_problem
from core.solve.solve import solve

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"


def unrolled(name: str, times: int) -> Graph:
    """A case, unrolled on a machine with shared memory for the rings of all copies."""
    graph = unroll(load_graph(KERNELS / f"{name}.yaml"), times)
    machine = replace(graph.machine, shared_memory_bytes=times * graph.machine.shared_memory_bytes)
    return replace(graph, machine=machine)


def unlike(graph: Graph) -> Graph:
    """The graph with one dependence that costs nothing but that no copy has, so that it does not fold."""
    first, *_, last = graph.ops
    return replace(graph, dependences=(*graph.dependences, Dependence(first, last, 0, 9, kind=DependenceKind.ORDER)))


def budget() -> Budget:
    return Budget(600, lambda: False)


@pytest.mark.parametrize(
    ("name", "times"), [("fa_fwd_hopper_2x64", 3), ("fa_fwd_hopper_2x64", 6), ("fa_fwd_blackwell_2x128", 3)]
)
def test_an_unrolled_loop_reaches_its_bound(name: str, times: int) -> None:
    graph = unrolled(name, times)
    bound = bounds(graph).lower_bound
    assert bound is not None
    schedule = heuristic(graph, bound, budget(), seed=1)
    assert schedule is not None and schedule.ii == bound
    assert check(graph, schedule).legal


def test_copies_of_unequal_cost() -> None:
    chance = random.Random(1)
    graph = unrolled("fa_fwd_hopper_2x64", 6)
    costs = {n: replace(op, latency=op.latency - chance.randint(0, op.latency // 30)) for n, op in graph.ops.items()}
    graph = replace(graph, ops=costs)
    bound = bounds(graph).lower_bound
    assert bound is not None
    schedule = heuristic(graph, bound + bound // 20, budget(), seed=1)
    assert schedule is not None and schedule.ii <= bound + bound // 20
    assert check(graph, schedule).legal


@pytest.mark.parametrize("name", ["fa_fwd_hopper_2x64", "fa_bwd_hopper"])
def test_groups_first_where_nothing_repeats(name: str) -> None:
    graph = unlike(unrolled(name, 2))
    assert fold(graph) is None
    bound = bounds(graph).lower_bound
    assert bound is not None
    schedule = heuristic(graph, bound + bound // 10, budget(), seed=1)
    assert schedule is not None and schedule.ii <= bound + bound // 10
    assert check(graph, schedule).legal


def test_nothing_is_found_below_the_bound() -> None:
    graph = unrolled("fa_fwd_hopper_2x64", 3)
    bound = bounds(graph).lower_bound
    assert bound is not None
    assert heuristic(graph, bound - 1, budget(), seed=1) is None
    assert heuristic(graph, 1, budget(), seed=1) is None


def test_a_refused_choice_of_groups_does_not_come_again() -> None:
    choice = GroupChoice(make_problem(load_graph(KERNELS / "fa_bwd_hopper.yaml")), 2560, seed=1)
    seen: list[dict[str, int]] = []
    for _ in range(3):
        proposal = choice.propose(1.0, budget())
        assert proposal is not None and proposal not in seen
        seen.append(proposal)
        choice.refuse(proposal)


def random_loop(chance: random.Random) -> Graph:
    ops = {
        name: Op(
            name,
            f"kind {name}",
            blocks=(Block(chance.choice("xy"), 0, chance.randint(1, 3)),),
            issue_cycles=chance.randint(0, 2),
            latency=chance.randint(1, 5),
            result=Result(chance.choice([Space.REGISTERS, Space.NONE]), 3),
            hand_off_cycles=2,
        )
        for name in "abc"
    }
    edges = [Dependence("a", "b", 3, release=1), Dependence("b", "c", chance.randint(1, 5), release=1)]
    edges.append(Dependence("c", "a", chance.randint(1, 9), chance.randint(1, 2), release=1))
    machine = Limits({"x": 1, "y": 1}, RegisterFile(32 * 12, 12), 100)
    return Graph("loop", machine, (GroupKind("g", 1, 2),), ops, tuple(edges))


@pytest.mark.parametrize("seed", range(12))
def test_unrolling_never_raises_the_least_ii(seed: int) -> None:
    options = SolveOptions(objective=(Level.II,), limit_s=60)
    loop = random_loop(random.Random(seed))
    once = solve(loop, options)
    twice = unroll(loop, 2)
    answer = solve(twice, options)
    assert once.status is answer.status is Status.OPTIMAL
    assert once.schedule is not None and once.ii is not None and answer.ii is not None
    assert answer.ii <= 2 * once.ii
    folding = fold(twice)
    assert folding is not None
    folded = replace(once.schedule, ops={f"{op}#0": place for op, place in once.schedule.ops.items()})
    assert check(twice, repeat(folding, folded)).legal
