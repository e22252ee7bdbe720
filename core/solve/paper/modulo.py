# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportOperatorIssue=false
"""The modulo schedule that bounds the search: least L at a given II, by integer programs (SCIP through OR-tools).

Dependences M(v) + delta * II >= M(u) + d, and unit capacity at each slot. Warp groups, registers and memory do not
appear: the joint system adds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.graph.model import Graph
from core.schedule.paths import Arc, Paths, critical_cycle
from core.solve.engine import Budget
from core.solve.events import Verdict
from core.solve.paper.costs import completion_cycles
from core.solve.paper.program import run_program, scip

if TYPE_CHECKING:
    from ortools.linear_solver import pywraplp

    Literals = Mapping[int, pywraplp.Variable]
    """One 0-1 variable a cycle; those of an op sum up to 1."""


@dataclass(frozen=True, slots=True)
class ModuloSchedule:
    """M of the paper: `starts` by op, and L, the length of one iteration (until the last op is complete). INFEASIBLE:
    there is none at this II, of any length."""

    verdict: Verdict
    ii: int
    starts: Mapping[str, int] = field(default_factory=dict[str, int])
    length: int = 0


def least_recurrence_ii(graph: Graph) -> int | None:
    """The least II that the dependences alone allow, hand-offs aside; None: none does."""
    cycle = critical_cycle(len(graph.ops), _arcs(graph))
    return 1 if cycle is None else cycle.least_ii


def modulo_schedule(graph: Graph, ii: int, budget: Budget) -> ModuloSchedule:
    """Least-L modulo schedule at `ii`."""
    least_ii = least_recurrence_ii(graph)
    if least_ii is None or ii < least_ii:
        return ModuloSchedule(Verdict.INFEASIBLE, ii)
    found = _any_schedule(graph, ii, budget)
    if found.verdict is not Verdict.FEASIBLE:
        return found
    windows = _Windows(graph, ii)
    low, step = windows.least_length, 0
    # Programs of short windows are small: from what is excluded the length grows in doubling steps.
    while low < found.length:
        length = min(low + step, found.length - 1)
        shorter = windows.schedule(length, budget)
        if shorter.verdict is Verdict.UNKNOWN:
            return shorter
        if shorter.verdict is Verdict.FEASIBLE:
            found, step = shorter, 0
        else:
            low, step = length + 1, max(1, 2 * step)
    return found


def _arcs(graph: Graph) -> list[Arc]:
    numbers = {name: number for number, name in enumerate(graph.ops)}
    return [Arc(numbers[d.source], numbers[d.target], d.latency, d.distance) for d in graph.dependences]


def _any_schedule(graph: Graph, ii: int, budget: Budget) -> ModuloSchedule:
    """Some schedule: stage and slot of each op.

    There are as many stages as can be needed: a boundary between two can be closed unless a dependence spans it that
    is tight in stages.
    """
    solver = scip()
    stages = sum(max((d.latency + 2 * ii - 2) // ii - d.distance, 0) for d in graph.dependences)
    at = {op: {slot: solver.BoolVar(f"{op}@{slot}") for slot in range(ii)} for op in graph.ops}
    start = {
        op: solver.Sum([slot * here for slot, here in slots.items()]) + ii * solver.IntVar(0, stages, f"stage {op}")
        for op, slots in at.items()
    }
    for slots in at.values():
        solver.Add(solver.Sum(list(slots.values())) == 1)
    for d in graph.dependences:
        if d.source != d.target:
            solver.Add(start[d.target] + d.distance * ii >= start[d.source] + d.latency)
    _add_capacity(solver, graph, ii, at)
    verdict = run_program(solver, budget)
    if verdict is not Verdict.FEASIBLE:
        return ModuloSchedule(verdict, ii)
    return _schedule(graph, ii, {op: round(expression.solution_value()) for op, expression in start.items()})


class _Windows:
    """Programs that ask for a length: an op starts no earlier than the dependences let it, no later than leaves time
    for what follows."""

    def __init__(self, graph: Graph, ii: int) -> None:
        self._graph = graph
        self._ii = ii
        numbers = {name: number for number, name in enumerate(graph.ops)}
        paths = Paths(len(numbers), _arcs(graph), ii)
        complete = {numbers[name]: completion_cycles(op) for name, op in graph.ops.items()}
        self._earliest = {name: paths.earliest[number] for name, number in numbers.items()}
        self._tail = {
            name: max(after + complete[follower] for follower, after in paths.longest(number).items())
            for name, number in numbers.items()
        }
        self.least_length = max(self._earliest[name] + self._tail[name] for name in graph.ops)

    def schedule(self, length: int, budget: Budget) -> ModuloSchedule:
        """A schedule of at most this length."""
        solver = scip()
        at = {
            name: {t: solver.BoolVar(f"{name}@{t}") for t in range(self._earliest[name], length - self._tail[name] + 1)}
            for name in self._graph.ops
        }
        for starts in at.values():
            solver.Add(solver.Sum(list(starts.values())) == 1)
        for d in self._graph.dependences:
            gap = d.latency - self._ii * d.distance
            for t in at[d.source] if d.source != d.target else ():
                early = [start for cycle, start in at[d.target].items() if cycle < t + gap]
                late = [start for cycle, start in at[d.source].items() if cycle >= t]
                if early:
                    solver.Add(solver.Sum(early + late) <= 1)
        _add_capacity(solver, self._graph, self._ii, at)
        verdict = run_program(solver, budget)
        if verdict is not Verdict.FEASIBLE:
            return ModuloSchedule(verdict, self._ii)
        starts = {
            name: next(t for t, here in literals.items() if here.solution_value() > 0.5)
            for name, literals in at.items()
        }
        return _schedule(self._graph, self._ii, starts)


def _schedule(graph: Graph, ii: int, starts: Mapping[str, int]) -> ModuloSchedule:
    first = min(starts.values())
    length = max(start + completion_cycles(graph.ops[op]) for op, start in starts.items()) - first
    return ModuloSchedule(Verdict.FEASIBLE, ii, {op: start - first for op, start in starts.items()}, length)


def _add_capacity(solver: pywraplp.Solver, graph: Graph, ii: int, at: Mapping[str, Literals]) -> None:
    """At each slot, the ops in flight on a unit are within its capacity."""
    for unit, limit in graph.machine.units.items():
        blocks = [(op.id, block) for op in graph.ops.values() for block in op.blocks if block.unit == unit]
        for slot in range(ii):
            load = [
                start * (block.amount * copies)
                for op, block in blocks
                for t, start in at[op].items()
                if (copies := (block.duration + (t + block.offset - slot - 1) % ii) // ii)
            ]
            if load:
                solver.Add(solver.Sum(load) <= limit)
