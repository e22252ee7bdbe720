"""Macro-op fusion as an edit of the graph."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.graph.fuse import Part, fuse
from core.graph.model import (
    Block,
    Dependence,
    DependenceKind,
    Graph,
    GroupKind,
    Limits,
    Op,
    Pin,
    RegisterFile,
    Result,
    Space,
)

MACHINE = Limits({"fma": 1, "alu": 1}, RegisterFile(65536, 240))


def op(id_: str, cycles: int, *, unit: str = "fma", amount: int = 4, kind: str = "arith.mulf", **options) -> Op:
    """A synchronous elementwise op whose result is there 3 cycles after it was issued."""
    return replace(
        Op(id_, kind, 4, (Block(unit, 0, cycles),), cycles, cycles + 3, result=Result(Space.REGISTERS, amount)),
        **options,
    )


def graph(ops: list[Op], *dependences: Dependence) -> Graph:
    return Graph("g", MACHINE, (GroupKind("compute", 4),), {op.id: op for op in ops}, dependences)


# x -> a -> b -> c -> y, and v -> b
CHAIN = graph(
    [
        op("x", 100),
        op("v", 100),
        op("a", 4, hand_off_cycles=7),
        op("b", 10),
        op("c", 6, amount=5, hand_off_cycles=9, hand_off_bytes=512),
        op("y", 100),
    ],
    Dependence("x", "a", 103, release=0),
    Dependence("v", "b", 103, release=10),
    Dependence("a", "b", 7),
    Dependence("b", "c", 13),
    Dependence("c", "y", 9, release=100),
    Dependence("c", "c", 9, 1, release=6),
)


def test_a_chain_becomes_a_block_that_runs_its_parts_one_after_another():
    fusion = fuse(CHAIN)
    assert list(fusion.graph.ops) == ["x", "v", "b", "y"]  # the id of the costliest, at the place of the first
    assert fusion.blocks == {"b": tuple(Part(CHAIN.ops[id_], at) for id_, at in (("a", 0), ("b", 4), ("c", 14)))}
    block = fusion.graph.ops["b"]
    assert block.blocks == (Block("fma", 0, 4), Block("fma", 4, 10), Block("fma", 14, 6))
    assert block.issue_cycles == 4 + 10 + 6
    assert block.latency == 14 + 9  # that of the last part, from the start of the block
    assert block.result == Result(Space.REGISTERS, 5)
    assert (block.hand_off_cycles, block.hand_off_bytes) == (9, 512)


def test_dependences_count_from_the_start_of_the_block():
    assert fuse(CHAIN).graph.dependences == (
        Dependence("x", "b", 103, release=0),
        # v is needed 4 cycles after the block began, and dies 10 cycles later.
        Dependence("v", "b", 103 - 4, release=4 + 10),
        Dependence("b", "y", 14 + 9, release=100),
        Dependence("b", "b", 9, 1, release=14 + 6),
    )


def test_a_block_can_be_opened_again():
    fusion = fuse(CHAIN)
    assert fusion.original is CHAIN
    assert fusion.opened({"x": 0, "v": 0, "b": 200, "y": 300}) == {
        "x": 0,
        "v": 0,
        "a": 200,
        "b": 204,
        "c": 214,
        "y": 300,
    }


def pair(first: Op, second: Op, *more: Dependence, **options) -> Graph:
    return graph([first, second, op("z", 100)], Dependence(first.id, second.id, 9, **options), *more)


@pytest.mark.parametrize(
    "apart",
    [
        pair(op("a", 6), op("b", 6, unit="alu")),
        pair(op("a", 6), op("b", 6), distance=1),
        pair(op("a", 6), op("b", 6), kind=DependenceKind.ORDER),
        pair(op("a", 6), op("b", 6), Dependence("a", "z", 9)),  # a second user
        pair(op("a", 6, needs_warps=8), op("b", 6)),
        pair(op("a", 6, asynchronous=True), op("b", 6)),
        pair(op("a", 6, kind="tt.reduce"), op("b", 6)),
        pair(op("a", 60), op("b", 6)),  # not small
        pair(op("a", 6, amount=8), op("b", 6, amount=4)),  # the value between is larger than the block's
        replace(pair(op("a", 6), op("b", 6)), pins={"a": Pin(start=0)}),
    ],
)
def test_other_pairs_stay_apart(apart: Graph):
    fusion = fuse(apart)
    assert fusion.graph == apart
    assert not fusion.blocks


def test_of_two_ops_with_one_user_the_first_joins_it():
    fusion = fuse(graph([op("a", 6), op("b", 6), op("c", 6)], Dependence("a", "c", 9), Dependence("b", "c", 9)))
    assert [part.op.id for part in fusion.blocks["a"]] == ["a", "c"]
    # c takes b in place when it starts, 6 cycles into the block.
    assert fusion.graph.dependences == (Dependence("b", "a", 3, release=6),)


def test_units_are_as_busy_as_before():
    def busy(of: Graph) -> int:
        return sum(block.duration for op in of.ops.values() for block in op.blocks)

    assert busy(fuse(CHAIN).graph) == busy(CHAIN)
