"""Large loops: schedules by folding and by groups first, judged, against the loops that they are unrolled from."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from large_loops import KERNELS, unequal, unlike, unrolled

from core.graph.fold import fold
from core.graph.model import (
    Block,
    Dependence,
    Graph,
    GroupKind,
    Limits,
    Op,
    Pin,
    RegisterFile,
    Result,
    Space,
)
from core.graph.read import load_graph
from core.graph.unroll import unroll
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.model import Schedule
from core.solve.decompose import LEAST_STEP, improving, repeat
from core.solve.engine import Budget
from core.solve.events import Level, SolveOptions, Status
from core.solve.group_choice import GroupChoice
from core.solve.problem import make_problem
from core.solve.search import DECOMPOSITION
from core.solve.sequential import sequential
from core.solve.solve import solve


def budget() -> Budget:
    return Budget(600, lambda: False)


def best(graph: Graph, lowest: int) -> Schedule | None:
    """The last schedule on the way down to `lowest`; every one of them is legal and better than the one before."""
    found: list[Schedule] = []
    for schedule in improving(make_problem(graph), lowest, budget(), seed=1):
        assert check(graph, schedule).legal
        assert lowest <= schedule.ii and (not found or schedule.ii < found[-1].ii)
        found.append(schedule)
    return found[-1] if found else None


def lower_bound(graph: Graph) -> int:
    bound = bounds(graph).lower_bound
    assert bound is not None
    return bound


@pytest.mark.parametrize(
    ("name", "times"), [("fa_fwd_hopper_2x64", 3), ("fa_fwd_hopper_2x64", 6), ("fa_fwd_blackwell_2x128", 3)]
)
def test_an_unrolled_loop_reaches_its_bound(name: str, times: int) -> None:
    graph = unrolled(name, times)
    schedule = best(graph, lower_bound(graph))
    assert schedule is not None and schedule.ii == lower_bound(graph)


def test_copies_of_unequal_cost_fold() -> None:
    graph = unequal(unrolled("fa_fwd_hopper_2x64", 6))
    assert fold(graph) is not None
    lowest = lower_bound(graph) * 21 // 20
    schedule = best(graph, lowest)
    assert schedule is not None and schedule.ii <= lowest + lowest // LEAST_STEP


@pytest.mark.parametrize(("name", "times"), [("fa_fwd_hopper_2x64", 3), ("fa_bwd_hopper", 2)])
def test_large_loops_that_do_not_repeat(name: str, times: int) -> None:
    graph = unlike(unequal(unrolled(name, times)))
    assert fold(graph) is None and len(graph.ops) in (54, 48)
    result = solve(graph, SolveOptions(objective=(Level.II,), limit_s=60))
    assert result.schedule is not None and result.ii is not None
    assert check(graph, result.schedule).legal
    assert result.ii <= lower_bound(graph) * 11 // 10
    assert any(entry.by == DECOMPOSITION for entry in result.trail)


@pytest.mark.long
@pytest.mark.parametrize("name", ["fa_fwd_hopper_2x64", "fa_bwd_hopper"])
def test_very_large_loops_that_do_not_repeat(name: str) -> None:
    """What is found is not proved least, and says so."""
    graph = unlike(unequal(unrolled(name, 6)))
    result = solve(graph, SolveOptions(limit_s=300))
    assert fold(graph) is None and len(graph.ops) in (108, 144)
    assert result.ii is not None and result.ii <= lower_bound(graph) * 5 // 4
    assert result.status is (Status.OPTIMAL if result.ii == lower_bound(graph) else Status.FEASIBLE)


def test_one_interval_of_a_large_loop() -> None:
    graph = unlike(unrolled("fa_fwd_hopper_2x64", 3))
    ii = lower_bound(graph) * 4 // 3
    result = solve(graph, SolveOptions(objective=(Level.II,), ii=ii, limit_s=60))
    assert (result.status, result.ii) == (Status.FEASIBLE, ii)


def test_nothing_is_found_below_the_bound() -> None:
    graph = unrolled("fa_fwd_hopper_2x64", 3)
    bound = lower_bound(graph)
    found = best(graph, bound - 1)
    assert found is not None and found.ii >= bound
    pinned = replace(graph, pins={next(iter(graph.ops)): Pin(start=0)})
    assert list(improving(make_problem(pinned), bound, budget(), seed=1)) == []


@pytest.mark.parametrize("name", ["fa_fwd_hopper_2x64", "fa_bwd_hopper", "layer_norm", "gemm", "dual_gemm"])
def test_the_order_of_the_text_gives_a_schedule_at_once(name: str) -> None:
    graph = load_graph(KERNELS / f"{name}.yaml")
    problem = make_problem(graph)
    choice = GroupChoice(problem, lower_bound(graph), seed=1)
    for _ in range(6):
        holders = choice.propose(1.0, budget())
        assert holders is not None
        schedule = sequential(problem, holders, lower_bound(graph), 1, budget())
        if schedule is not None:
            break
        choice.refuse(holders)
    else:
        pytest.fail("no choice of groups has a schedule")
    assert check(graph, schedule).legal
    held = {op: problem.candidates[i].name for op, i in holders.items()}
    assert {op: place.group for op, place in schedule.ops.items()} == held


def test_ops_that_wait_for_each_other_are_in_some_order() -> None:
    around = (Dependence("a", "b", 0), Dependence("b", "a", 0), Dependence("b", "c", 1), Dependence("c", "d", 1))
    ops = {name: Op(name, "op", latency=1) for name in "dcba"}
    graph = Graph("loop", Limits({}, RegisterFile(65536, 240)), (GroupKind("g", 1, 1),), ops, around)
    schedule = sequential(make_problem(graph), dict.fromkeys(ops, 0), 1, 1, budget())
    assert schedule is not None and check(graph, schedule).legal


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
