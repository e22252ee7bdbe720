# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The modulo schedule that bounds the search: least L at a given II, as an integer program (SCIP through OR-tools)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from core.graph.model import Graph


class Outcome(Enum):
    """Whether the integer program was solved to the end."""

    FOUND = "found"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ModuloSchedule:
    """M of the paper: `starts` by op, and L, the length of one iteration (until the last result is there)."""

    outcome: Outcome
    ii: int
    starts: dict[str, int]
    length: int


def modulo_schedule(graph: Graph, ii: int, limit_s: float) -> ModuloSchedule:
    """Least-L modulo schedule at `ii`: dependences M(v) + delta * II >= M(u) + d, and unit capacity at each slot.

    Warp groups, registers and memory do not appear: the joint system adds them.
    """
    from ortools.linear_solver import pywraplp

    if any(e.source == e.target and e.latency > e.distance * ii for e in graph.dependences):
        return ModuloSchedule(Outcome.INFEASIBLE, ii, {}, 0)
    solver = pywraplp.Solver.CreateSolver("SCIP")
    horizon = sum(op.latency for op in graph.ops.values()) + sum(edge.latency for edge in graph.dependences) + ii
    length = solver.IntVar(0, horizon, "L")
    at = {op: [solver.BoolVar(f"{op}@{slot}") for slot in range(ii)] for op in graph.ops}
    start = {}
    for op, slots in at.items():
        solver.Add(solver.Sum(slots) == 1)
        stage = solver.IntVar(0, horizon // ii, f"stage {op}")
        start[op] = solver.Sum([slot * here for slot, here in enumerate(slots)]) + ii * stage
        solver.Add(length >= start[op] + graph.ops[op].latency)
    for edge in graph.dependences:
        if edge.source != edge.target:
            solver.Add(start[edge.target] + edge.distance * ii >= start[edge.source] + edge.latency)
    for unit, limit in graph.machine.units.items():
        for slot in range(ii):
            load = [
                block.amount * at[op.id][(slot - block.offset - cycle) % ii]
                for op in graph.ops.values()
                for block in op.blocks
                if block.unit == unit
                for cycle in range(block.duration)
            ]
            if load:
                solver.Add(solver.Sum(load) <= limit)
    solver.Minimize(length)
    solver.SetTimeLimit(max(1, int(limit_s * 1000)))
    status = solver.Solve()
    if status == pywraplp.Solver.INFEASIBLE:
        return ModuloSchedule(Outcome.INFEASIBLE, ii, {}, 0)
    if status != pywraplp.Solver.OPTIMAL:
        return ModuloSchedule(Outcome.UNKNOWN, ii, {}, 0)
    starts = {op: round(expression.solution_value()) for op, expression in start.items()}
    return ModuloSchedule(Outcome.FOUND, ii, starts, round(length.solution_value()))
