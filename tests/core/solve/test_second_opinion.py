"""What is said of the intervals that a solver excluded: z3's opinion, and whether a queue would help."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from solve_brute_force import feasible, random_graph
from solve_cases import expected, graph

from core.graph.model import Block, Graph, GroupKind, Op, Rules
from core.project.record import trail_document
from core.solve.confirm import confirm
from core.solve.events import (
    Done,
    Event,
    Level,
    Progress,
    Queueing,
    Solved,
    SolveOptions,
    SolveResult,
    Status,
    TrailEntry,
    Verdict,
)
from core.solve.second_opinion import with_queues, with_second_opinions, without_late_blocks
from core.solve.solve import answer

ONLY_II = SolveOptions(objective=(Level.II,), limit_s=60)
SMALL = graph("kernels", "fa_fwd_hopper_1x128")
LEAST = expected("kernels")["fa_fwd_hopper_1x128"]["least_ii"]


def excluded(*intervals: int, lowest: int | None = None) -> SolveResult:
    """What a solver would say that excludes these intervals."""
    trail = tuple(TrailEntry(ii, Verdict.INFEASIBLE, 0.1, "cp-sat", horizon=9, lowest=lowest) for ii in intervals)
    return SolveResult(Status.INFEASIBLE, None, max(intervals) + 1, trail, (), 0.1, None)


def opinions(asked: Graph, result: SolveResult, limit_s: float = 60, stopped: bool = False) -> tuple[TrailEntry, ...]:
    options = replace(ONLY_II, limit_s=limit_s)
    return with_second_opinions(asked, result, options, lambda event: None, lambda: stopped).trail


def test_every_interval_that_a_solver_excludes_is_confirmed() -> None:
    events: list[Event] = []
    result = answer(SMALL, ONLY_II, events.append)
    assert (result.status, result.ii) == (Status.OPTIMAL, LEAST)
    by_solver = [e for e in result.trail if e.verdict is Verdict.INFEASIBLE and e.by == "cp-sat"]
    assert by_solver
    assert {e.confirmed_by for e in by_solver} == {"z3"}
    assert {trail_document(e)["proof"] for e in by_solver} == {"two solvers"}
    assert {e.confirmed_by for e in result.trail if e not in by_solver} == {None}
    assert [e for e in events if isinstance(e, Done)] == [events[-1]] == [Done(result)]
    # The answer is there before the second opinion is asked.
    (place,) = (i for i, e in enumerate(events) if isinstance(e, Solved))
    assert {type(e) for e in events[place + 1 :]} == {Progress, Done}
    assert Progress not in {type(e) for e in events[:place]}
    first = events[place]
    assert isinstance(first, Solved) and (first.result.schedule, first.result.levels) == (
        result.schedule,
        result.levels,
    )
    assert {e.confirmed_by for e in first.result.trail} == {None}


def test_an_answer_without_second_opinions_if_none_are_wanted() -> None:
    events: list[Event] = []
    result = answer(SMALL, replace(ONLY_II, second_opinions=False), events.append)
    assert (result.status, result.ii) == (Status.OPTIMAL, LEAST)
    assert {e.confirmed_by for e in result.trail} == {None}
    assert events[-1] == Done(result) and not any(isinstance(e, Solved | Progress) for e in events)


@pytest.mark.parametrize("name", [n for n, case in expected("tiny").items() if (case["least_ii"] or 0) > 1])
def test_tiny_graphs_are_confirmed_up_to_the_least_interval(name: str) -> None:
    least = expected("tiny")[name]["least_ii"]
    assert [e.confirmed_by for e in opinions(graph("tiny", name), excluded(least - 1))] == ["z3"]


def test_two_solvers_that_disagree_are_an_internal_error() -> None:
    with pytest.raises(RuntimeError, match=f"{LEAST} cycles"):
        opinions(SMALL, excluded(LEAST))


def test_without_time_it_is_the_word_of_one_solver() -> None:
    for entries in (opinions(SMALL, excluded(LEAST - 1), limit_s=0.1), opinions(SMALL, excluded(9), stopped=True)):
        (entry,) = entries
        assert (entry.confirmed_by, entry.queueing) == (None, Queueing.UNKNOWN)
        assert trail_document(entry)["proof"] == "one solver"


def two_blocks() -> Graph:
    """One op with two blocks three cycles apart: they meet in an interval of one or three cycles, not of two."""
    tiny = graph("tiny", "t000")
    op = Op("a", "op", blocks=(Block("x", 0, 1), Block("x", 3, 1)), issue_cycles=1, latency=1)
    return replace(tiny, machine=replace(tiny.machine, units={"x": 1}), ops={"a": op}, dependences=(), pins={})


def test_where_feasibility_is_not_monotone_each_interval_of_a_range_is_asked() -> None:
    (entry,) = opinions(two_blocks(), excluded(3, lowest=3))
    assert (entry.confirmed_by, trail_document(entry)["lowest"]) == ("z3", 3)
    with pytest.raises(RuntimeError, match="an interval of 2 cycles"):
        opinions(two_blocks(), excluded(3, lowest=2))


def test_where_feasibility_is_not_monotone_an_interval_says_nothing_of_those_below() -> None:
    assert [e.confirmed_by for e in opinions(two_blocks(), excluded(1, 3))] == ["z3", "z3"]
    with pytest.raises(RuntimeError, match="an interval of 2 cycles"):
        opinions(two_blocks(), excluded(2, 3))


def test_a_long_range_is_confirmed_by_a_relaxation() -> None:
    """With a block that begins late feasibility is not monotone, but without it, it is: one question for all."""
    load = SMALL.ops["load_v"]
    late = replace(load, blocks=(*load.blocks, Block("alu", 9, 1)))
    asked = replace(SMALL, ops={**SMALL.ops, "load_v": late})
    relaxed = without_late_blocks(asked)
    assert relaxed == SMALL and without_late_blocks(with_queues(asked, 5)) is None
    assert [e.confirmed_by for e in opinions(asked, excluded(2500, 2600, lowest=2100))] == ["z3", "z3"]
    (entry,) = opinions(asked, excluded(LEAST + 500, lowest=LEAST))
    assert (entry.confirmed_by, trail_document(entry)["proof"]) == (None, "one solver")


def test_what_the_graph_can_do_its_relaxation_can() -> None:
    compared = 0
    for seed in range(80):
        asked = random_graph(random.Random(seed), 2)
        relaxed = without_late_blocks(asked)
        if relaxed is not None and relaxed != asked:
            for ii in (1, 2, 3):
                if feasible(asked, ii, stages=2):
                    compared += 1
                    assert all(confirm(relaxed, more, limit_s=60).verdict is Verdict.FEASIBLE for more in (ii, ii + 1))
    assert compared > 10


def two_matrix_ops() -> Graph:
    """Two matrix ops of three cycles fill their unit in six; beside them a group issues an op of four cycles. Without
    a queue the matrix ops are issued three cycles apart, which leaves no four in a row before an interval of eight."""
    tiny = graph("tiny", "t000")
    matrix = Op("m", "op", blocks=(Block("x", 0, 3),), issue_cycles=1, latency=3, asynchronous=True, matrix=True)
    ops = {"m": matrix, "n": replace(matrix, id="n"), "e": Op("e", "op", issue_cycles=4, latency=4)}
    machine = replace(tiny.machine, units={"x": 1})
    return replace(tiny, machine=machine, groups=(GroupKind("g"),), ops=ops, dependences=(), rules=Rules(), pins={})


def test_a_queue_helps_where_ops_wait_for_their_unit() -> None:
    asked = two_matrix_ops()
    result = answer(asked, ONLY_II)
    assert (result.status, result.ii, result.proved_lower_bound) == (Status.OPTIMAL, 8, 8)
    by_solver = {e.ii: e for e in result.trail if e.horizon is not None and e.verdict is Verdict.INFEASIBLE}
    assert by_solver.keys() == {6, 7}
    for ii, entry in by_solver.items():
        assert not feasible(asked, ii, stages=2)
        assert feasible(with_queues(asked, ii), ii, stages=1)
        assert (entry.confirmed_by, entry.queueing) == ("z3", Queueing.HELPS)
        assert trail_document(entry)["queueing"] == "helps"


def test_queues_against_everything_tried() -> None:
    asked_for = 0
    for seed in range(200):
        asked = random_graph(random.Random(seed), 2)
        asked = replace(asked, ops={name: replace(op, queue=0) for name, op in asked.ops.items()})
        if any(op.asynchronous and op.blocks for op in asked.ops.values()) and not feasible(asked, 2, stages=4):
            try:
                (entry,) = opinions(asked, excluded(2))
            except RuntimeError:  # a schedule of more stages than were tried
                continue
            asked_for += 1
            if entry.queueing is Queueing.DOES_NOT_HELP:
                assert not feasible(with_queues(asked, 2), 2, stages=3), seed
    assert asked_for > 20


def test_ops_without_a_queue_to_wait_in() -> None:
    synchronous = {name: replace(op, asynchronous=False) for name, op in SMALL.ops.items()}
    (entry,) = opinions(replace(SMALL, ops=synchronous), excluded(9))
    assert entry.queueing is Queueing.DOES_NOT_HELP
    assert with_queues(SMALL, 7).ops["qk0"].queue == 7


@pytest.mark.long
def test_one_group_reaches_the_bound_with_a_queue() -> None:
    """Attention forward on one group, issued weakly: least II 2112, and 2048 if matrix ops may wait for their unit."""
    result = answer(graph("kernels", "fa_fwd_hopper_2x64__weak_1_group"), replace(ONLY_II, limit_s=300))
    assert (result.status, result.ii) == (Status.OPTIMAL, 2112)
    assert {e.queueing for e in result.trail if e.ii == 2048} == {Queueing.HELPS}
