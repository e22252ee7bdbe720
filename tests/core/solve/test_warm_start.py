"""A search that begins with a known schedule: that comes out where it may, and a verdict never changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from solve_cases import answer, graph

from core.graph.model import Graph, Pin
from core.schedule.check import check
from core.schedule.model import Schedule
from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.events import Level, Verdict
from core.solve.problem import enough_stages, make_problem
from core.solve.warm_start import begin_near

LOOPS = ("fa_fwd_hopper_2x64", "fa_fwd_blackwell_2x128__roles", "layer_norm", "dual_gemm")


def decider(loop: Graph) -> Decider:
    return Decider(make_problem(loop), Budget(60.0, lambda: False), seed=1)


def first(loop: Graph, ii: int) -> Schedule:
    """What the search comes to by itself."""
    schedule = decider(loop).decide(ii).schedule
    assert schedule is not None
    return schedule


def shortest(loop: Graph, ii: int) -> Schedule:
    """Another one."""
    schedule = answer(loop, Level.LENGTH, ii=ii).schedule
    assert schedule is not None and schedule.ops != first(loop, ii).ops
    return schedule


def begun_with(loop: Graph, schedule: Schedule, ii: int) -> Schedule:
    asked = decider(loop)
    model = asked.model(ii, enough_stages(asked.problem, ii))
    begin_near(model, schedule)
    result = asked.ask(model)
    assert result.verdict is Verdict.FEASIBLE
    return asked.schedule(model, result)


@pytest.mark.parametrize("name", LOOPS)
def test_the_same_schedule_comes_out_at_its_own_interval(name: str) -> None:
    loop = graph("kernels", name)
    ii = decider(loop).arithmetic.bounds().min_ii
    assert ii is not None
    known = shortest(loop, ii)
    assert begun_with(loop, known, ii).ops == known.ops


def test_with_a_pinned_start_nothing_is_rotated() -> None:
    loop = graph("kernels", "fa_fwd_hopper_2x64")
    pinned = replace(loop, pins={"qk1": Pin(start=3 * 2048 + 5)})
    known = shortest(pinned, 2048)
    assert begun_with(pinned, known, 2048).ops == known.ops


def test_of_another_interval_another_depth_and_other_groups_it_is_a_hint_and_no_more() -> None:
    loop = graph("kernels", "fa_fwd_hopper_2x64")
    known = first(loop, 2 * 2048)
    deep = {op: replace(place, start=place.start * 50) for op, place in known.ops.items()}
    strange = {op: replace(place, group=f"{place.group}0") for op, place in known.ops.items()}
    groups = {f"{name}0": group for name, group in known.groups.items()}
    for hint in (known, replace(known, ops=deep), replace(known, ops=strange, groups=groups)):
        schedule = begun_with(loop, hint, 2048)
        assert schedule.ii == 2048 and check(loop, schedule).legal
    asked = decider(graph("kernels", "fa_fwd_hopper_2x64__1_group"))
    model = asked.model(2048, enough_stages(asked.problem, 2048))
    begin_near(model, known)
    assert asked.ask(model).verdict is Verdict.INFEASIBLE
