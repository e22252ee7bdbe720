# pyright: reportUnknownMemberType=false
"""The exact model with a measure of how far its schedules are from a given one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.schedule.model import Placement, Schedule
from core.solve.engine import Budget, Run, Way, run
from core.solve.model import ExactModel
from core.solve.problem import Problem
from core.solve.repair.request import Place

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


BOUND_FIRST = Way(presolve=False, bound_first=True)
ANY_FIRST = Way(presolve=False)


class NearestModel:
    """Schedules with the ops of `moves` where they are put, measured as in `core.solve.repair.descent`."""

    def __init__(self, problem: Problem, schedule: Schedule, moves: Mapping[str, Place], stages: int) -> None:
        self.exact = ExactModel(problem, schedule.ii, stages)
        self._schedule = schedule
        self._numbers = {candidate.name: i for i, candidate in enumerate(problem.candidates)}
        self._moved: dict[str, cp_model.IntVar] = {}
        self._distances: list[cp_model.IntVar] = []
        cp, times, ops = self.exact.cp, self.exact.times, problem.graph.ops
        longest = (stages + 1) * schedule.ii + max(op.queue for op in ops.values())
        for op, place in moves.items():
            cp.add(times.start[op] == place.start)
        for op, place in schedule.ops.items():
            if op not in moves:
                self._add_moved(op, place)
                self._add_distance(times.start[op] - place.start, longest)
            if ops[op].queue:
                self._add_distance(times.unit_start[op] - times.start[op] - place.delay, longest)

    def _add_moved(self, op: str, place: Placement) -> None:
        cp, times = self.exact.cp, self.exact.times
        moved = self._moved[op] = cp.new_bool_var(f"moved:{op}")
        cp.add(times.start[op] == place.start).only_enforce_if(~moved)
        cp.add(times.unit_start[op] == place.start + place.delay).only_enforce_if(~moved)
        on = self._on(op, place.group)
        cp.add_bool_or([moved] if on is None else [moved, on])

    def _add_distance(self, change: cp_model.LinearExprT, longest: int) -> None:
        distance = self.exact.cp.new_int_var(0, longest, "")
        self.exact.cp.add(distance >= change)
        self.exact.cp.add(distance >= -change)
        self._distances.append(distance)

    def _on(self, op: str, group: str) -> cp_model.IntVar | None:
        """Literal: the op is on the group of that name; None if it cannot be."""
        return self.exact.grouping.on(op).get(self._numbers[group])

    def suggest(self, schedule: Schedule) -> None:
        """The next search begins near this schedule, legal or not."""
        cp, times = self.exact.cp, self.exact.times
        cp.clear_hints()
        hinted: set[int] = set()
        for op, place in schedule.ops.items():
            stage, slot = divmod(place.start, self.exact.ii)
            cp.add_hint(times.start[op], place.start)
            cp.add_hint(times.stage[op], stage)
            cp.add_hint(times.slot[op], slot)
            on = self._on(op, place.group)
            if on is not None and on.index not in hinted:
                hinted.add(on.index)
                cp.add_hint(on, 1)
            if op in self._moved:
                cp.add_hint(self._moved[op], place != self._schedule.ops[op])

    def fewest(self, most: int | None, seed: int, work: float, budget: Budget, *, bound_first: bool) -> Run:
        """A schedule of fewest moved ops, at most `most`; `bound_first`: by proving numbers too few."""
        cp = self.exact.cp.clone()
        count = sum(self._moved.values())
        if most is not None:
            cp.add(count <= most)
        cp.minimize(count)
        return run(cp, seed, work, budget, BOUND_FIRST if bound_first else ANY_FIRST)

    def nearest(self, most: int, farthest: int, seed: int, work: float, budget: Budget) -> Run:
        """A schedule of least movement, at most `farthest`, that moves at most `most` ops."""
        cp = self.exact.cp.clone()
        cp.add(sum(self._moved.values()) <= most)
        distance = sum(self._distances)
        cp.add(distance <= farthest)
        cp.minimize(distance)
        return run(cp, seed, work, budget, BOUND_FIRST)
