"""`solve` with the paper's model: what it says of the graph, what of its own system, and that it can be stopped."""

from __future__ import annotations

import multiprocessing
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from paper_graphs import COMPUTE, make_graph, make_op

from core.graph.model import Dependence, Graph, GroupKind, InOrderIssue, Rules, Space
from core.graph.read import load_graph
from core.schedule.bounds import bounds
from core.schedule.check import check
from core.schedule.model import Schedule
from core.schedule.report import Family
from core.schedule.variations import with_group_counts
from core.solve.events import (
    Done,
    Event,
    Incumbent,
    ModelName,
    Progress,
    Solved,
    SolveOptions,
    SolveResult,
    Status,
    Verdict,
)
from core.solve.paper.retime import retimed
from core.solve.solve import solve
from core.solve.worker import work

CASES = Path(__file__).parents[2] / "data" / "cases" / "kernels"
PAPER = SolveOptions(model=ModelName.PAPER, limit_s=60)


def case(name: str) -> Graph:
    return load_graph(CASES / f"{name}.yaml")


def test_figure_1_is_optimal_since_arithmetic_says_so() -> None:
    events: list[Event] = []
    result = solve(case("figure_1"), PAPER, events.append)
    assert (result.status, result.ii, result.proved_lower_bound) == (Status.OPTIMAL, 2, 2)
    assert result.schedule is not None and result.schedule.origin is not None
    assert (result.schedule.origin.model, result.schedule.origin.status) == ("paper", "optimal")
    assert result.paper is not None and result.paper.unit == 1
    assert [type(event) for event in events] == [Progress, Incumbent, Done]


def test_what_the_search_never_tries_is_not_claimed_for_it() -> None:
    """II 1 is legal with the very groups of the search's answer; it ends at II 3, and so does the result."""
    result = solve(case("deeper_at_ii_1"), PAPER)
    assert (result.status, result.ii, result.proved_lower_bound) == (Status.FEASIBLE, 3, 1)


@pytest.mark.parametrize("name", ["fa_fwd_hopper_2x64", "fa_fwd_blackwell_2x128", "gemm"])
def test_the_groups_and_orders_of_rounded_costs_are_judged_in_real_cycles(name: str) -> None:
    graph = case(name)
    result = solve(graph, PAPER)
    answer = result.paper
    assert answer is not None and answer.schedule is not None
    assert answer.verdict is Verdict.FEASIBLE and answer.schedule.ii * answer.unit < 1.1 * bounds(graph).min_ii
    violations = check(answer.graph, answer.schedule).violations
    assert answer.violations == {f: n for f in Family if (n := [v.family for v in violations].count(f))}
    assert (result.schedule is not None) == (answer.raw_ii is not None and not answer.raw_violations)
    if result.schedule is not None:
        assert check(graph, result.schedule).legal
        groups = {op: place.group for op, place in result.schedule.ops.items()}
        assert groups == {op: place.group for op, place in answer.schedule.ops.items()}


def test_without_a_solution_of_its_system_nothing_is_said_of_the_graph() -> None:
    """The search finds nothing up to II 2, where II 1 is legal."""
    result = solve(case("deeper_at_ii_1"), replace(PAPER, max_ii=2))
    assert result.paper is not None and result.paper.verdict is Verdict.INFEASIBLE
    assert {attempt.verdict for attempt in result.paper.attempts} == {Verdict.INFEASIBLE}
    assert (result.status, result.schedule, result.proved_lower_bound) == (Status.UNKNOWN, None, 1)


def test_arithmetic_alone_makes_it_infeasible() -> None:
    result = solve(case("figure_1"), replace(PAPER, max_ii=1))
    assert (result.status, result.ii, result.proved_lower_bound) == (Status.INFEASIBLE, None, 2)
    nobody = solve(with_group_counts(case("figure_1"), {"compute": 0}), PAPER)
    assert nobody.status is Status.INFEASIBLE


def test_an_ii_that_is_asked_for_is_the_result() -> None:
    result = solve(case("figure_1"), replace(PAPER, ii=5))
    assert (result.status, result.ii) == (Status.FEASIBLE, 5)
    assert result.schedule is not None and check(case("figure_1"), result.schedule).legal


def test_no_time_is_unknown() -> None:
    result = solve(case("figure_1"), replace(PAPER, limit_s=1e-9))
    assert (result.status, result.ii) == (Status.UNKNOWN, None)


def test_the_same_schedule_every_time() -> None:
    graph = case("fa_fwd_hopper_2x64")
    assert solve(graph, PAPER).schedule == solve(graph, PAPER).schedule


def hard() -> Graph:
    """So many ops on two units that no step of the paper's comes to an end soon."""
    ops = [make_op(f"v{n}", 7 + 3 * n, unit="xy"[n % 2], space=Space.REGISTERS, amount=20 + n) for n in range(40)]
    reads = tuple(Dependence(f"v{n}", f"v{(n * 7 + 3) % 40}", 9, 1, release=5) for n in range(40))
    return make_graph(*ops, dependences=reads, groups=(GroupKind("compute", 4, 3),))


def test_a_wish_to_stop_ends_it_soon() -> None:
    """Whatever it is doing at that moment."""
    for seconds in (0.1, 1.0, 3.0):
        stop = threading.Event()
        timer = threading.Timer(seconds, stop.set)
        timer.start()
        result = solve(hard(), PAPER, stopped=stop.is_set)
        timer.cancel()
        assert result.status is Status.UNKNOWN
        assert not [thread for thread in threading.enumerate() if thread.name == "solver"]


def test_the_worker_process_stops_when_told() -> None:
    context = multiprocessing.get_context("spawn")
    connection, far_end = context.Pipe()
    process = context.Process(target=work, args=(far_end, hard(), PAPER), daemon=True)
    process.start()
    far_end.close()
    time.sleep(2)
    connection.send("stop")
    while not isinstance(event := connection.recv(), Done):
        assert isinstance(event, Progress | Solved)
    process.join()
    assert isinstance(event.result, SolveResult) and event.result.status is Status.UNKNOWN


def stretched(graph: Graph, ii: int = 1) -> int | None:
    """The II of the graph's own paper schedule, its cycles ten times as long."""
    answer = solve(graph, PAPER).paper
    assert answer is not None and answer.schedule is not None
    longer = replace(
        graph,
        ops={
            name: replace(
                op,
                blocks=tuple(replace(b, offset=10 * b.offset, duration=10 * b.duration) for b in op.blocks),
                issue_cycles=10 * op.issue_cycles,
                latency=10 * op.latency,
                hand_off_cycles=10 * op.hand_off_cycles,
            )
            for name, op in graph.ops.items()
        },
        dependences=tuple(replace(d, latency=10 * d.latency, release=10 * d.release) for d in graph.dependences),
    )
    schedule = retimed(longer, graph, answer.schedule, ii)
    assert schedule is None or check(longer, schedule).legal
    return None if schedule is None else schedule.ii


def test_a_schedule_stretches_with_its_cycles() -> None:
    """Ten times the cycles are ten times the II, where the order binds it; a longer one may be asked for."""
    chain = (Dependence("a", "b", 2, release=2), Dependence("b", "a", 3, 1, release=2))
    graph = make_graph(make_op("a", 2), make_op("b", 3), dependences=chain, rules=Rules(InOrderIssue.STRONG))
    assert stretched(graph) == 50
    assert stretched(graph, 77) == 77


def test_what_shares_a_unit_or_a_group_stays_in_order() -> None:
    """Three ops on one unit and one group; in raw cycles the first is far longer than it was thought."""
    small = make_graph(*[make_op(name, unit="x") for name in "abc"], rules=Rules(InOrderIssue.STRONG))
    answer = solve(small, PAPER).paper
    assert answer is not None and answer.schedule is not None
    graph = replace(small, ops={**small.ops, "a": make_op("a", 30, unit="x")})
    schedule = retimed(graph, small, answer.schedule, 1)
    assert schedule is not None and check(graph, schedule).legal
    assert schedule.ii == 32
    assert cyclic_order(schedule) == cyclic_order(answer.schedule)


def cyclic_order(schedule: Schedule) -> list[str]:
    """The ops by slot, beginning with a."""
    order = sorted(schedule.ops, key=schedule.slot)
    first = order.index("a")
    return order[first:] + order[:first]


def test_orders_that_contradict_each_other_in_raw_cycles_have_no_ii() -> None:
    """A carried hand-off that the search did not see closes within one iteration: no II satisfies it."""
    small = make_graph(make_op("a"), make_op("b"), dependences=(Dependence("a", "b", 1),), groups=(COMPUTE,))
    answer = solve(small, PAPER).paper
    assert answer is not None and answer.schedule is not None
    graph = replace(small, dependences=(Dependence("a", "b", 1), Dependence("b", "a", 1)))
    assert retimed(graph, small, answer.schedule, 1) is None
