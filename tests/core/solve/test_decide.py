"""Whether one interval is possible, and the model that says so."""

from __future__ import annotations

from solve_cases import graph

from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.problem import least_length, make_problem, stages_within


def test_a_model_that_has_found_a_schedule_is_handed_on_once() -> None:
    problem = make_problem(graph("kernels", "gemm"))
    decider = Decider(problem, Budget(60.0, lambda: False), 1)
    ii = decider.arithmetic.bounds().lower_bound
    assert ii is not None and decider.find(ii, 1.0) is not None
    few = stages_within(least_length(problem, ii) + ii, ii)
    left, further, deeper = decider.model(ii, few), decider.model(ii, few), decider.model(ii, few + 1)
    assert len({id(left), id(further), id(deeper)}) == 3
    assert deeper.stages == few + 1
    # The root starts elsewhere: a model that was made useless is of no harm to those who ask later.
    left.cp.add(left.times.stage[left.root] == 0)
    assert decider.ask(left).values is None
    assert decider.ask(further).values is not None
