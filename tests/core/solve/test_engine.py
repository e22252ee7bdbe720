"""One run of CP-SAT within a budget."""

from __future__ import annotations

import itertools

import pytest
from ortools.sat.python import cp_model

from core.solve import engine
from core.solve.engine import Budget, run
from core.solve.events import Verdict


@pytest.mark.parametrize("tick", [0.02, 0.04, 0.06, 0.09, 0.2])
def test_a_clock_that_runs_out_between_two_looks_is_a_time_out(tick: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr(engine.time, "monotonic", lambda: tick * next(clock))
    budget = Budget(0.1, lambda: False)
    model = cp_model.CpModel()
    model.add_bool_or(model.new_bool_var("a"), model.new_bool_var("b"))
    assert run(model, 0, 1.0, budget).verdict in (Verdict.UNKNOWN, Verdict.FEASIBLE)
