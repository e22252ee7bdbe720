"""A branch as one op: whichever way it goes, a schedule of the reduced graph is one of what then runs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, Pin, RegisterFile, Result, Rules, Space
from core.graph.reduce import CannotReduceError, reduce_branches
from core.schedule.check import check
from core.schedule.model import Placement, Schedule
from core.solve.events import Level, SolveOptions
from core.solve.solve import solve

MACHINE = Limits({"x": 1, "y": 1}, RegisterFile(32 * 64, 32), 40, 40)
SIDES = (("a1", "a2"), ("b1", "b2"))


def random_op(chance: random.Random, name: str) -> Op:
    asynchronous = chance.random() < 0.3
    cycles = chance.randint(1, 4)
    return Op(
        name,
        "op",
        blocks=(Block(chance.choice("xy"), 0, cycles),),
        issue_cycles=1 if asynchronous else cycles,
        latency=cycles + chance.randint(0, 3),
        asynchronous=asynchronous,
        result=Result(chance.choice([Space.REGISTERS, Space.REGISTERS, Space.SHARED, Space.TENSOR]), 4),
        hand_off_cycles=3,
        hand_off_bytes=1,
    )


def random_graph(chance: random.Random) -> Graph:
    """Before a branch p, behind it r, and something carried around."""
    ops = {name: random_op(chance, name) for name in ("p", "a1", "a2", "b1", "b2", "r")}
    uses = [("p", "a1", 0), ("p", "b1", 0), ("a1", "a2", 0), ("b1", "b2", 0), ("a2", "r", 0), ("b2", "r", 0)]
    carried = chance.choice([[("r", "p", 1)], [("a2", "a2", 1), ("b2", "a2", 1), ("a2", "b2", 1), ("b2", "b2", 1)], []])
    edges = [
        Dependence(s, t, ops[s].latency, d, release=chance.choice([0, ops[t].latency if ops[t].asynchronous else 1]))
        for s, t, d in (*uses, *carried)
    ]
    return Graph("branch", MACHINE, (GroupKind("g", 1, 2),), ops, tuple(edges))


def one_way(graph: Graph, without: tuple[str, ...]) -> Graph:
    """What runs if the branch never takes the side `without`."""
    kept = {name: op for name, op in graph.ops.items() if name not in without}
    edges = tuple(d for d in graph.dependences if d.source in kept and d.target in kept)
    return replace(graph, ops=kept, dependences=edges)


@pytest.mark.parametrize("seed", range(40))
def test_a_schedule_holds_whichever_way_the_branch_goes(seed: int) -> None:
    graph = random_graph(random.Random(seed))
    reduction = reduce_branches(graph, {"if": SIDES})
    answer = solve(reduction.graph, SolveOptions(objective=(Level.II,), limit_s=60))
    assert answer.schedule is not None
    starts = reduction.opened({name: place.start for name, place in answer.schedule.ops.items()})
    home = answer.schedule.ops["if"].group
    for side in SIDES:
        taken = one_way(graph, side)
        places = {
            name: Placement(starts[name], home if name in (*SIDES[0], *SIDES[1]) else answer.schedule.ops[name].group)
            for name in taken.ops
        }
        report = check(taken, Schedule(answer.schedule.ii, answer.schedule.groups, places))
        assert report.legal, report.violations


@pytest.mark.parametrize("seed", range(20))
def test_of_each_unit_the_most_that_a_side_takes(seed: int) -> None:
    graph = random_graph(random.Random(seed))
    reduction = reduce_branches(graph, {"if": SIDES})
    offsets = {part.op.id: part.offset for part in reduction.blocks["if"]}
    for unit in MACHINE.units:
        for cycle in range(40):
            by_side = [
                sum(
                    block.amount
                    for name in side
                    for block in graph.ops[name].blocks
                    if block.unit == unit and 0 <= cycle - offsets[name] - block.offset < block.duration
                )
                for side in SIDES
            ]
            union = sum(
                block.amount
                for block in reduction.graph.ops["if"].blocks
                if block.unit == unit and 0 <= cycle - block.offset < block.duration
            )
            assert union == max(by_side)


def test_a_side_that_does_nothing() -> None:
    graph = one_way(random_graph(random.Random(3)), ("b1", "b2"))
    reduction = reduce_branches(graph, {"if": [("a1", "a2"), ()], "empty": [(), ()]})
    assert "if" in reduction.graph.ops and "empty" not in reduction.graph.ops
    assert set(reduction.blocks) == {"if"}


def test_what_cannot_be_one_op() -> None:
    graph = random_graph(random.Random(1))

    def with_op(name: str, **changes: object) -> Graph:
        return replace(graph, ops={**graph.ops, name: replace(graph.ops[name], **changes)})

    for wrong, reason in (
        (with_op("a2", variable_latency=True), "variable latency"),
        (replace(graph, pins={"b1": Pin(start=0)}), "pinned"),
        (
            replace(
                with_op("a1", matrix=True, asynchronous=True),
                rules=Rules(isolate_matrix_issue=True),
                ops={
                    **with_op("a1", matrix=True, asynchronous=True).ops,
                    "b1": replace(graph.ops["b1"], asynchronous=False, issue_cycles=2),
                },
            ),
            "kept apart",
        ),
    ):
        with pytest.raises(CannotReduceError, match=reason):
            reduce_branches(wrong, {"if": SIDES})
