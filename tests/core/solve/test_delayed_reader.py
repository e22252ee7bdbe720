"""A reader that releases its copy at once but waits in its unit's queue holds the copy until it leaves the queue."""

from __future__ import annotations

from core.graph.model import (
    Block,
    Dependence,
    Graph,
    GroupKind,
    InOrderIssue,
    Limits,
    Op,
    RegisterFile,
    Result,
    Rules,
    Space,
)
from core.schedule.check import check
from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.events import Verdict
from core.solve.model import ExactModel
from core.solve.problem import make_problem


def test_the_copy_of_a_delayed_reader_counts_on_its_group() -> None:
    """Value a crosses to d's group, where nothing is live but a's copy, from d's start to d's delayed start."""
    limits = Limits({"x": 1}, RegisterFile(65536, 24, granularity=8))
    ops = {
        "a": Op("a", "op", blocks=(Block("x", 0, 1),), latency=1, result=Result(Space.REGISTERS, 2)),
        "d": Op("d", "op", needs_warps=4, latency=1, asynchronous=True, queue=1),
    }
    kinds = (GroupKind("small", 1), GroupKind("large", 4))
    rules = Rules(in_order_issue=InOrderIssue.OFF)
    graph = Graph("delayed reader", limits, kinds, ops, (Dependence("a", "d", 1),), rules)
    problem = make_problem(graph)
    decider = Decider(problem, Budget(60, lambda: False), 1)
    model = ExactModel(problem, 4, 4)
    model.cp.add(model.times.unit_start["d"] == model.times.start["d"] + 1)
    small = model.grouping.on("a")[0]
    model.cp.add(small == 1)
    result = decider.ask(model)
    assert result.verdict is Verdict.FEASIBLE
    schedule = decider.schedule(model, result)
    assert schedule.ops["d"].delay == 1
    assert check(graph, schedule).peaks.registers[schedule.ops["d"].group] == 2
