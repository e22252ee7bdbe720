# pyright: reportUnknownMemberType=false
"""Rule `registers` of the exact model: copies of live values at every birth, grants, and the register file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.graph.model import Dependence, Pool, Space
from core.solve.model_groups import Grouping
from core.solve.model_times import Moment, Times
from core.solve.problem import WARP_GROUP, Candidate, Problem

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from core.solve.model_groups import Condition

LEAST_VARIABLE_LATENCY_GRANT = 24
MOST_PER_THREAD = 255


class Registers:
    """`need[candidate]`: overhead and live values of the fullest slot, per thread; `grant[candidate]` in registers."""

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
            cp.add(need == 0).only_enforce_if(~used)
            if candidate.variable_latency:
                cp.add(grant >= LEAST_VARIABLE_LATENCY_GRANT).only_enforce_if(used)
            self.grant.append(grant)
            self.need.append(need)
        for anchor in problem.graph.ops:
            if self._starts_a_range(anchor):
                self._limit_at(anchor)
        self._limit_area()
        if file.pool is Pool.FLAT:
            words = [32 * c.warps * grant for c, grant in zip(problem.candidates, self.grant, strict=True)]
            cp.add(sum(words) <= file.file_words)
        else:
            _limit_warp_groups(cp, problem, grouping, self.grant)

    def _overhead(self, candidate: Candidate) -> int:
        return 0 if candidate.variable_latency else self._problem.graph.machine.registers.overhead

    def _starts_a_range(self, op: str) -> bool:
        return op in self._values or any(
            d.target == op and d.release and self._grouping.crossing(d) is not None
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


def _limit_warp_groups(
    cp: cp_model.CpModel, problem: Problem, grouping: Grouping, grants: list[cp_model.LinearExprT]
) -> None:
    """Pool `warpgroup`: what the warp groups are granted together fits what the block was launched with."""
    file = problem.graph.machine.registers
    large = [i for i, c in enumerate(problem.candidates) if c.warps >= WARP_GROUP]
    small = [i for i, c in enumerate(problem.candidates) if c.warps < WARP_GROUP]
    small.sort(key=lambda i: problem.candidates[i].name)
    packed, opened = _pack(cp, problem, grouping, grants, small)
    number = [warp_groups(problem.candidates[i].warps) * grouping.used[i] for i in large] + opened
    granted = [warp_groups(problem.candidates[i].warps) * grants[i] for i in large] + packed
    most = sum(warp_groups(problem.candidates[i].warps) for i in large) + len(opened)
    is_number = [cp.new_bool_var(f"warp_groups:{count}") for count in range(most + 1)]
    cp.add_exactly_one(is_number)
    for count, literal in enumerate(is_number):
        cp.add(sum(number) == count).only_enforce_if(literal)
        if count:
            launched = min(MOST_PER_THREAD, file.file_words // (32 * WARP_GROUP * count))
            launched -= launched % file.granularity
            cp.add(sum(granted) <= count * launched).only_enforce_if(literal)


def _pack(
    cp: cp_model.CpModel,
    problem: Problem,
    grouping: Grouping,
    grants: list[cp_model.LinearExprT],
    small: list[int],
) -> tuple[list[cp_model.IntVar], list[cp_model.IntVar]]:
    """Small groups fill warp groups in this order, each granted its largest: the grants, and which group opens one."""
    most = problem.graph.machine.registers.max_per_thread
    packed = [cp.new_int_var(0, most, f"packed:{k}") for k in range(len(small))]
    opened = [cp.new_bool_var(f"opens:{problem.candidates[i].name}") for i in small]
    fill: cp_model.LinearExprT = WARP_GROUP
    for k, i in enumerate(small):
        used, warps = grouping.used[i], problem.candidates[i].warps
        after = cp.new_int_var(0, WARP_GROUP, "")
        cp.add(fill + warps > WARP_GROUP).only_enforce_if(opened[k])
        cp.add(fill + warps <= WARP_GROUP).only_enforce_if(used, ~opened[k])
        cp.add_implication(opened[k], used)
        cp.add(after == warps).only_enforce_if(opened[k])
        cp.add(after == fill + warps).only_enforce_if(used, ~opened[k])
        cp.add(after == fill).only_enforce_if(~used)
        fill = after
        for warp_group in range(k + 1):
            inside = cp.new_bool_var("")
            cp.add(sum(opened[: k + 1]) == warp_group + 1).only_enforce_if(used, inside)
            cp.add(sum(opened[: k + 1]) != warp_group + 1).only_enforce_if(used, ~inside)
            cp.add(packed[warp_group] >= grants[i]).only_enforce_if(used, inside)
    return packed, opened


def warp_groups(warps: int) -> int:
    """Warp groups that a group of at least four warps is."""
    return -(-warps // WARP_GROUP)
