# pyright: reportUnknownMemberType=false
"""The exact model of one initiation interval: all rules of `twill.graph/1` as constraints of CP-SAT."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from core.graph.model import Graph, Space
from core.solve.events import Level
from core.solve.model_groups import Grouping
from core.solve.model_memory import add_shared_memory, add_tensor_memory
from core.solve.model_registers import Registers
from core.solve.model_times import Times
from core.solve.model_units import add_dependences, add_issue, add_units
from core.solve.problem import Problem, clusters, hand_off_weight
from core.solve.symmetry import interchangeable_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from ortools.sat.python import cp_model


class TimingModel:
    """The exact model without registers and memories: every legal schedule of at most `stages` stages, or an equivalent
    one, is among its solutions, and others.

    Without pinned starts a schedule may be rotated, so one op, the root, starts at a fixed cycle: slot 0 of the
    stage that leaves as many on either side. What the search learns is then relative to the root. With `below` > 0
    rule `unit` is relaxed (`add_units`): no solution means no schedule for `ii` nor for any of `below` intervals less.
    `still` is called all the time while the model is made, and may raise what ends that.
    """

    def __init__(
        self, problem: Problem, ii: int, stages: int, below: int = 0, still: Callable[[], None] | None = None
    ) -> None:
        from ortools.sat.python.cp_model import CpModel

        self.cp = CpModel()
        self.problem = problem
        self.ii = ii
        self.stages = stages
        pinned = problem.fixed_cycles
        self.times = Times(self.cp, problem, ii, stages if pinned else 2 * stages - 1, still)
        found = clusters(problem, ii)
        self.grouping = Grouping(self.cp, problem, found or [(name,) for name in problem.graph.ops])
        add_dependences(self.cp, problem, self.times, self.grouping)
        add_units(self.cp, problem, self.times, below)
        add_issue(self.cp, problem, self.times, self.grouping)
        self._limit_amounts()
        for op, start in problem.pinned_starts.items():
            self.cp.add(self.times.start[op] == start)
        if not pinned:
            self._fix_rotation()

    @property
    def root(self) -> str:
        """The op that starts at a fixed cycle where a schedule may be rotated."""
        return max(self.problem.graph.ops.values(), key=lambda op: (not op.variable_latency, op.matrix)).id

    @property
    def root_start(self) -> int:
        """That cycle."""
        return self.ii * (self.stages - 1)

    def _limit_amounts(self) -> None:
        """Registers and memories: nothing here."""

    def _fix_rotation(self) -> None:
        root, slot = self.root, self.times.slot
        self.cp.add(slot[root] == 0)
        self.cp.add(self.times.stage[root] == self.stages - 1)
        alike = interchangeable_with(self.problem.graph, root)
        if alike:
            # Root is the one with the least gap to the next of its like, the others stand in the order of the text.
            self.cp.add((len(alike) + 1) * slot[alike[0]] <= self.ii)
            for one, other in pairwise(alike):
                self.cp.add(slot[one] <= slot[other])


class ExactModel(TimingModel):
    """Its solutions are legal schedules."""

    registers: Registers

    def _limit_amounts(self) -> None:
        self.registers = Registers(self.cp, self.problem, self.times, self.grouping)
        add_shared_memory(self.cp, self.problem, self.times, self.grouping)
        add_tensor_memory(self.cp, self.problem, self.times)

    def objective(self, level: Level, measured: Graph | None = None) -> cp_model.LinearExprT:
        """What the level minimises. Hand-offs: their number, times more than all bytes, plus the bytes. L counts the
        latencies of the graph `measured`, if that is another one. Raises ValueError for ROBUSTNESS, which is a matter
        of the graph that the model is made for."""
        match level:
            case Level.II:
                return self.ii
            case Level.GROUPS:
                return sum(self.grouping.used)
            case Level.HAND_OFFS:
                return self._hand_offs()
            case Level.LENGTH:
                return self._length(measured or self.problem.graph)
            case Level.REGISTERS:
                peak = self.cp.new_int_var(0, self.problem.graph.machine.registers.max_per_thread, "peak")
                for need in self.registers.need:
                    self.cp.add(peak >= need)
                return peak
            case Level.STAGES:
                return self._stage_count()
            case Level.ROBUSTNESS:
                raise ValueError("no expression of the model is its robustness")

    def _hand_offs(self) -> cp_model.LinearExprT:
        weight = hand_off_weight(self.problem.graph)
        total: cp_model.LinearExprT = 0
        for name, op in self.problem.graph.ops.items():
            crosses = self.grouping.crosses(name) if op.result.space is Space.REGISTERS else None
            if crosses is not None:
                total += (weight + op.hand_off_bytes) * (crosses[0] if crosses else 1)
        return total

    def _first(self) -> cp_model.IntVar:
        first = self.cp.new_int_var(0, self.ii * self.stages, "first")
        for start in self.times.start.values():
            self.cp.add(first <= start)
        return first

    def _length(self, measured: Graph) -> cp_model.LinearExprT:
        ops = measured.ops
        longest = max(op.latency + op.queue for op in ops.values())
        length = self.cp.new_int_var(0, self.ii * self.stages + longest, "length")
        first = self._first()
        for name, op in ops.items():
            self.cp.add(length >= self.times.unit_start[name] + op.latency - first)
        return length

    def _stage_count(self) -> cp_model.LinearExprT:
        """From the earliest to the latest stage that an op starts in; without pinned starts once the first is at 0."""
        count = self.cp.new_int_var(1, self.stages, "stages")
        if self.problem.fixed_cycles:
            first = self.cp.new_int_var(0, self.stages, "first stage")
            for op in self.problem.graph.ops:
                self.cp.add(first <= self.times.stage[op])
                self.cp.add(count >= self.times.stage[op] - first + 1)
        else:
            first = self._first()
            for start in self.times.start.values():
                self.cp.add(self.ii * count >= start - first + 1)
        return count
