# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""A model with a measure of how far its schedules are from a given one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.schedule.check import Judge
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.solve.engine import Budget, Run, run
from core.solve.events import Verdict
from core.solve.extract import extract
from core.solve.model import ExactModel, TimingModel
from core.solve.repair.request import Place
from core.solve.repair.tiling import add_tilings
from core.solve.warm_start import begin_near

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


HALVE_AFTER = 100
"""Conflicts; little is left to be decided, and a few hundred say whether half as many moves are possible."""


MAKING, LOADING = 2e-6, 1e-6
"""Deterministic work that making a model, and every search in it, come to for each of its constraints (measured: as
many seconds as so much of the search takes)."""


class NearestModel:
    """Schedules of an anchored model with the ops of `moves` where they are put, measured as in
    `core.solve.repair.descent`. Of a model that is not exact, they may break rules about registers and memory."""

    def __init__(self, model: TimingModel, schedule: Schedule, moves: Mapping[str, Place], budget: Budget) -> None:
        self._model = model
        self._budget = budget
        self._schedule = schedule
        self._numbers = {candidate.name: i for i, candidate in enumerate(model.problem.candidates)}
        self._moved: dict[str, cp_model.IntVar] = {}
        self._distances: list[cp_model.IntVar] = []
        cp, times, ops = model.cp, model.times, model.problem.graph.ops
        longest = (model.stages + 1) * schedule.ii + max(op.queue for op in ops.values())
        add_tilings(cp, model.problem, times)
        for op, place in moves.items():
            cp.add(times.start[op] == place.start)
        for op, place in schedule.ops.items():
            if op not in moves:
                self._add_moved(op, place)
                self._add_distance(times.start[op] - place.start, longest)
            if ops[op].queue:
                self._add_distance(times.unit_start[op] - times.start[op] - place.delay, longest)
        constraints = len(cp.proto.constraints)
        self._loading = LOADING * constraints
        budget.work -= MAKING * constraints

    def _add_moved(self, op: str, place: Placement) -> None:
        cp, times = self._model.cp, self._model.times
        moved = self._moved[op] = cp.new_bool_var(f"moved:{op}")
        cp.add(times.start[op] == place.start).only_enforce_if(~moved)
        cp.add(times.unit_start[op] == place.start + place.delay).only_enforce_if(~moved)
        on = self._on(op, place.group)
        cp.add_bool_or([moved] if on is None else [moved, on])

    def _add_distance(self, change: cp_model.LinearExprT, longest: int) -> None:
        distance = self._model.cp.new_int_var(0, longest, "")
        self._model.cp.add(distance >= change)
        self._model.cp.add(distance >= -change)
        self._distances.append(distance)

    def _on(self, op: str, group: str) -> cp_model.IntVar | None:
        """Literal: the op is on the group of that name; None if it cannot be."""
        return self._model.grouping.on(op).get(self._numbers[group])

    def suggest(self, schedule: Schedule) -> None:
        """The next search begins near this schedule, legal or not."""
        begin_near(self._model, schedule)
        for op, moved in self._moved.items():
            self._model.cp.add_hint(moved, schedule.ops[op] != self._schedule.ops[op])

    def fewest(self, least: int, most: int | None, seed: int, work: float) -> Run:
        """A schedule of fewest moved ops, of which it is known that they are `least`; at most `most`."""
        cp = self._model.cp.clone()
        count = sum(self._moved.values())
        cp.add(count >= least)
        if most is not None:
            cp.add(count <= most)
        cp.minimize(count)
        return self._run(cp, seed, work)

    def nearest(self, most: int, least: int, farthest: int, seed: int, work: float) -> Run:
        """A schedule of least movement, of which it is known that it is `least`, at most `farthest`, that moves at most
        `most` ops."""
        cp = self._model.cp.clone()
        cp.add(sum(self._moved.values()) <= most)
        distance = sum(self._distances)
        cp.add(distance >= least)
        cp.add(distance <= farthest)
        cp.minimize(distance)
        return self._run(cp, seed, work)

    def _run(self, cp: cp_model.CpModel, seed: int, work: float) -> Run:
        self._budget.work -= self._loading
        work -= self._loading
        return run(cp, seed, work, self._budget, HALVE_AFTER) if work > 0 else Run(Verdict.UNKNOWN)

    def schedule(self, found: Run, judge: Judge, seed: int) -> Schedule:
        """What a search has found; if the model is not exact, with groups of no registers."""
        model, value = self._model, found.values
        if isinstance(model, ExactModel):
            return extract(model, found, judge, seed)
        if value is None:
            raise ValueError("this run of CP-SAT has no solution")
        names = [candidate.name for candidate in model.problem.candidates]
        ops: dict[str, Placement] = {}
        groups: dict[str, ScheduledGroup] = {}
        for op, start in model.times.start.items():
            holder = next(i for i, on in model.grouping.on(op).items() if value(on))
            ops[op] = Placement(value(start), names[holder], value(model.times.unit_start[op]) - value(start))
            groups[names[holder]] = ScheduledGroup(model.problem.candidates[holder].kind, 0)
        return Schedule(model.ii, groups, ops)
