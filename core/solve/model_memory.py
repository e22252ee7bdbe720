# pyright: reportUnknownMemberType=false
"""Rules `shared_memory` and `tensor_memory` of the exact model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.graph.model import Space
from core.solve.model_groups import Grouping
from core.solve.model_times import Times
from core.solve.problem import Problem

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


def add_shared_memory(cp: cp_model.CpModel, problem: Problem, times: Times, grouping: Grouping) -> None:
    """Rule `shared_memory`: rings of values in shared memory, and rings of hand-off buffers of values that cross."""
    machine = problem.graph.machine
    taken: list[cp_model.LinearExprT] = []
    for value, op in problem.graph.ops.items():
        if op.result.space is Space.SHARED and op.result.amount:
            depth = cp.new_int_var(1, times.most_periods, f"ring:{value}")
            for d in problem.readers[value]:
                cp.add(times.ii * depth >= _life(times, value, d.target, d.distance, d.release))
            if not problem.readers[value]:
                cp.add(times.ii * depth >= _unread_life(problem, times, value))
            taken.append(op.result.amount * depth)
        crosses = grouping.crosses(value) if op.result.space is Space.REGISTERS else None
        if crosses is not None and op.hand_off_bytes:
            depth = cp.new_int_var(0, times.most_periods, f"buffers:{value}")
            cp.add(depth >= 1).only_enforce_if(*crosses)
            for d in problem.readers[value]:
                crossing = grouping.crossing(d)
                if crossing is not None:
                    life = _life(times, value, d.target, d.distance, d.release)
                    cp.add(times.ii * depth >= life).only_enforce_if(*crossing)
            taken.append(op.hand_off_bytes * depth)
    cp.add(sum(taken) + machine.fixed_shared_bytes <= machine.shared_memory_bytes)


def _life(times: Times, value: str, reader: str, distance: int, release: int) -> cp_model.LinearExprT:
    return times.unit_start[reader] + times.ii * distance + release - times.start[value]


def _unread_life(problem: Problem, times: Times, value: str) -> cp_model.LinearExprT:
    """A value that nobody reads lives until it is there."""
    return times.unit_start[value] + problem.graph.ops[value].latency - times.start[value]


def add_tensor_memory(cp: cp_model.CpModel, problem: Problem, times: Times) -> None:
    """Rule `tensor_memory`: columns of live values, counted at their births."""
    columns = problem.graph.machine.tensor_memory_columns
    values = [n for n, op in problem.graph.ops.items() if op.result.space is Space.TENSOR and op.result.amount]
    for anchor in values:
        live: list[cp_model.LinearExprT] = []
        for value in values:
            op = problem.graph.ops[value]
            copies = cp.new_int_var(0, times.most_periods, "")
            begin, at = times.at(value), times.at(anchor)
            for d in problem.readers[value]:
                end = times.at(d.target, d.release, on_unit=True)
                cp.add(copies >= times.copies(begin, end, d.distance, at))
            if not problem.readers[value]:
                cp.add(copies >= times.copies(begin, times.at(value, op.latency, on_unit=True), 0, at))
            live.append(op.result.amount * copies)
        cp.add(sum(live) <= columns)
    area: list[cp_model.LinearExprT] = []
    for value in values:
        life = cp.new_int_var(0, times.ii * times.most_periods, f"life:{value}")
        for d in problem.readers[value]:
            cp.add(life >= _life(times, value, d.target, d.distance, d.release))
        if not problem.readers[value]:
            cp.add(life >= _unread_life(problem, times, value))
        area.append(problem.graph.ops[value].result.amount * life)
    # Redundant: columns times life fit the columns times II. Cuts early.
    cp.add(sum(area) <= columns * times.ii)
