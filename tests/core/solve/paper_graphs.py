"""Small graphs for the tests of the paper's model."""

from __future__ import annotations

from core.graph.model import Block, Dependence, Graph, GroupKind, InOrderIssue, Limits, Op, RegisterFile, Result, Rules
from core.graph.model import Space as Memory
from core.solve.engine import Budget

WEAK = Rules(in_order_issue=InOrderIssue.WEAK)
COMPUTE = GroupKind("compute", 4)


def seconds(limit: float) -> Budget:
    """So much time that nobody cuts short."""
    return Budget(limit, lambda: False)


def make_op(
    name: str,
    cycles: int = 1,
    *,
    unit: str | None = None,
    space: Memory = Memory.NONE,
    amount: int = 0,
    asynchronous: bool = False,
    variable_latency: bool = False,
    hand_off_cycles: int = 0,
    hand_off_bytes: int = 0,
) -> Op:
    """An op that takes its unit (one of its own, if none is given) for all its cycles; an asynchronous one is issued in
    one cycle."""
    return Op(
        name,
        "op",
        blocks=(Block(unit or name, 0, cycles),),
        issue_cycles=1 if asynchronous else cycles,
        latency=cycles,
        asynchronous=asynchronous,
        variable_latency=variable_latency,
        result=Result(space, amount),
        hand_off_cycles=hand_off_cycles,
        hand_off_bytes=hand_off_bytes,
    )


def make_graph(
    *ops: Op,
    dependences: tuple[Dependence, ...] = (),
    groups: tuple[GroupKind, ...] = (COMPUTE,),
    rules: Rules = WEAK,
    registers: int = 255,
    file_words: int = 65536,
    shared: int = 1 << 20,
) -> Graph:
    """A loop of these ops on a machine that has each unit once."""
    units = {block.unit: 1 for op in ops for block in op.blocks}
    machine = Limits(units, RegisterFile(file_words, registers), shared_memory_bytes=shared)
    return Graph("test", machine, groups, {op.id: op for op in ops}, dependences, rules)
