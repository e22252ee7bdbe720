# pyright: reportUnknownMemberType=false
"""Rule `registers` of the exact model: copies of live values at every birth, grants, and the register file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.graph.model import Dependence, Space
from core.solve.model_groups import Grouping
from core.solve.model_pool import add_register_file
from core.solve.model_times import Moment, Times
from core.solve.problem import Candidate, Problem

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from core.solve.model_groups import Condition

LEAST_VARIABLE_LATENCY_GRANT = 24


class Registers:
    """Per candidate, per thread: `need`, overhead and live values of the fullest slot, and `grant`; 0 where unused."""

    def __init__(self, cp: cp_model.CpModel, problem: Problem, times: Times, grouping: Grouping) -> None:
        self._cp = cp
        self._problem = problem
        self._times = times
        self._grouping = grouping
        file = problem.graph.machine.registers
        self._values = [
            name for name, op in problem.graph.ops.items() if op.result.space is Space.REGISTERS and op.result.amount
        ]
        steps = file.max_per_thread // file.granularity
        self.grant: list[cp_model.LinearExprT] = []
        self.need: list[cp_model.IntVar] = []
        for used, candidate in zip(grouping.used, problem.candidates, strict=True):
            grant = file.granularity * cp.new_int_var(0, steps, f"grant:{candidate.name}")
            need = cp.new_int_var(0, file.max_per_thread, f"need:{candidate.name}")
            cp.add(need <= grant)
            cp.add(need >= self._overhead(candidate)).only_enforce_if(used)
            cp.add(grant == 0).only_enforce_if(~used)
            if candidate.variable_latency:
                cp.add(grant >= LEAST_VARIABLE_LATENCY_GRANT).only_enforce_if(used)
            self.grant.append(grant)
            self.need.append(need)
        for anchor in problem.graph.ops:
            if self._starts_a_range(anchor):
                self._limit_at(anchor)
        self._limit_area()
        self.packing = add_register_file(cp, problem, grouping, self.grant)

    def _overhead(self, candidate: Candidate) -> int:
        return 0 if candidate.variable_latency else self._problem.graph.machine.registers.overhead

    def _starts_a_range(self, op: str) -> bool:
        queue = self._problem.graph.ops[op].queue  # a reader that is delayed keeps its copy for so long
        return op in self._values or any(
            d.target == op and (d.release or queue) and self._grouping.crossing(d) is not None
            for value in self._values
            for d in self._problem.readers[value]
        )

    def _ends(self, value: str) -> list[tuple[Moment, int, Condition]]:
        """Until when the value lives on its own group: moment, periods later, and when that counts."""
        op = self._problem.graph.ops[value]
        readers = self._problem.readers[value]
        if not readers:
            return [(self._times.at(value, op.latency, on_unit=True), 0, ())]
        ends = [
            (self._times.at(d.target, d.release, on_unit=True), d.distance, self._grouping.together(value, d.target))
            for d in readers
        ]
        handed_off = self._times.at(value, op.latency + op.hand_off_cycles, on_unit=True)
        return [end for end in [*ends, (handed_off, 0, self._grouping.crosses(value))] if end[2] is not None]

    def _limit_at(self, anchor: str) -> None:
        """What lives on the anchor's group when the anchor starts fits that group's need."""
        at = self._times.at(anchor)
        terms: list[cp_model.LinearExprT] = []
        for value in self._values:
            amount = self._problem.graph.ops[value].result.amount
            here = self._grouping.together(value, anchor)
            if here is not None:
                copies = self._cp.new_int_var(0, self._times.most_periods, "")
                for end, periods, when in self._ends(value):
                    count = self._times.copies(self._times.at(value), end, periods, at)
                    self._cp.add(copies >= count).only_enforce_if(*here, *(when or ()))
                terms.append(amount * copies)
            for d in self._problem.readers[value]:
                terms += self._copies_of_reader(d, amount, anchor, at)
        for i, literal in self._grouping.on(anchor).items():
            overhead = self._overhead(self._problem.candidates[i])
            self._cp.add(sum(terms) + overhead <= self.need[i]).only_enforce_if(literal)

    def _copies_of_reader(self, d: Dependence, amount: int, anchor: str, at: Moment) -> list[cp_model.LinearExprT]:
        """The copy that a reader on another group holds from its start to its release, at the anchor's slot."""
        there = self._grouping.together(d.target, anchor)
        crossing = self._grouping.crossing(d)
        longest = d.release + self._problem.graph.ops[d.target].queue
        if there is None or crossing is None or not longest:
            return []
        copies = self._cp.new_int_var(0, longest // self._times.ii + 1, "")
        end = self._times.at(d.target, d.release, on_unit=True)
        count = self._times.copies(self._times.at(d.target), end, 0, at)
        self._cp.add(copies >= count).only_enforce_if(*there, *crossing)
        return [amount * copies]

    def _limit_area(self) -> None:
        """Redundant: registers times life, over a group's values, fit its need times II. Cuts early."""
        times, cp = self._times, self._cp
        longest = times.ii * times.most_periods
        lives: dict[str, cp_model.IntVar] = {}
        for value in self._values:
            lives[value] = cp.new_int_var(0, longest, f"life:{value}")
            op = self._problem.graph.ops[value]
            done = times.unit_start[value] + op.latency - times.start[value]
            if not self._problem.readers[value]:
                cp.add(lives[value] >= done)
            for d in self._problem.readers[value]:
                together = self._grouping.together(value, d.target)
                if together is not None:
                    life = times.unit_start[d.target] + times.ii * d.distance + d.release - times.start[value]
                    cp.add(lives[value] >= life).only_enforce_if(*together)
            crosses = self._grouping.crosses(value)
            if crosses is not None:
                cp.add(lives[value] >= done + op.hand_off_cycles).only_enforce_if(*crosses)
        for i, candidate in enumerate(self._problem.candidates):
            area: list[cp_model.LinearExprT] = []
            for value in self._values:
                literal = self._grouping.on(value).get(i)
                if literal is not None:
                    part = cp.new_int_var(0, longest, "")
                    cp.add(part >= lives[value]).only_enforce_if(literal)
                    area.append(self._problem.graph.ops[value].result.amount * part)
            room = self.need[i] - self._overhead(candidate)
            if area:
                cp.add(sum(area) <= times.ii * room).only_enforce_if(self._grouping.used[i])
