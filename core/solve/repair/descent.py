"""The best repair so far, and its descent: fewer moved ops first, then less movement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from core.graph.model import Graph
from core.schedule.check import Judge
from core.schedule.liveness import live_ranges
from core.schedule.model import Schedule, ScheduledGroup
from core.solve.events import Verdict
from core.solve.model_registers import LEAST_VARIABLE_LATENCY_GRANT
from core.solve.repair.nearest import NearestModel
from core.solve.repair.request import Measure, Place


class Descent:
    """Schedules near `base` with the ops of `moves` where they are put. `best`, if there is one, has passed the
    judge; `count` and `movement` are its own, their bounds those of every schedule: for the movement, of every one
    that moves as few ops."""

    def __init__(self, graph: Graph, base: Schedule, moves: Mapping[str, Place], judge: Judge, seed: int) -> None:
        self._graph = graph
        self._base = base
        self._moves = moves
        self._judge = judge
        self._seed = seed
        self.best: Schedule | None = None
        self.count = Measure(0, 0)
        self.movement = Measure(0, 0)

    @property
    def moved(self) -> tuple[str, ...]:
        """The ops that `best` has elsewhere, but for the given ones."""
        return () if self.best is None else moved_ops(self._base, self.best, self._moves)

    @property
    def fewest(self) -> bool:
        """Nothing moves fewer ops than `best`."""
        return self.best is not None and self.count.proved

    def offer(self, schedule: Schedule) -> None:
        """Takes the schedule if it is better than the best, and legal with the registers and rings that it needs."""
        settled = with_old_amounts(self._graph, self._judge, schedule, self._base)
        if settled is None:
            return
        count, cycles = len(moved_ops(self._base, settled, self._moves)), movement(self._base, settled, self._moves)
        if self.best is None or (count, cycles) < (self.count.value, self.movement.value):
            nearest = self.movement.bound if self.best is not None and count == self.count.value else 0
            self.best = settled
            self.count = Measure(count, min(count, self.count.bound))
            self.movement = Measure(cycles, min(cycles, nearest))

    def fewer(self, model: NearestModel, work: float, *, complete: bool) -> Verdict:
        """Looks for fewer moves among the model's schedules; `complete`: all legal ones are among them.

        INFEASIBLE: there is none that moves fewer, or none at all if there is no best yet; FEASIBLE: the best is one of
        fewest; UNKNOWN: the work was not enough to say so, or what moves fewest is illegal.
        """
        if self.fewest:
            return Verdict.FEASIBLE
        model.suggest(self._base)
        most = None if self.best is None else self.count.value - 1
        result = model.fewest(self.count.bound, most, self._seed, work)
        bound = result.bound or 0
        if result.verdict is Verdict.FEASIBLE:
            self.offer(model.schedule(result, self._judge, self._seed))
        if result.verdict is Verdict.INFEASIBLE:
            bound = self.count.value
        if complete:
            bound = max(self.count.bound, bound)
            self.count = replace(self.count, bound=bound if self.best is None else min(bound, self.count.value))
        proved = self.best is not None and bound >= self.count.value
        return Verdict.UNKNOWN if result.verdict is Verdict.FEASIBLE and not proved else result.verdict

    def nearer(self, model: NearestModel, work: float, *, complete: bool) -> None:
        """Looks for less movement among the model's schedules that move no more ops than the best."""
        if self.best is None or self.movement.proved:
            return
        model.suggest(self.best)
        least, farthest = self.movement.bound, self.movement.value - 1
        result = model.nearest(self.count.value, least, farthest, self._seed, work)
        if result.verdict is Verdict.FEASIBLE:
            self.offer(model.schedule(result, self._judge, self._seed))
        if complete and self.fewest:
            bound = farthest + 1 if result.verdict is Verdict.INFEASIBLE else result.bound or 0
            self.movement = replace(self.movement, bound=min(max(least, bound), self.movement.value))


def moved_ops(base: Schedule, found: Schedule, moves: Mapping[str, Place]) -> tuple[str, ...]:
    """Ops other than the given ones that are elsewhere, or delayed otherwise, in the order of the schedule."""
    return tuple(op for op, place in base.ops.items() if op not in moves and place != found.ops[op])


def movement(base: Schedule, found: Schedule, moves: Mapping[str, Place]) -> int:
    """Cycles by which starts (of ops other than the given ones) and delays differ, in all."""
    total = 0
    for op, place in base.ops.items():
        total += 0 if op in moves else abs(found.ops[op].start - place.start)
        total += abs(found.ops[op].delay - place.delay)
    return total


def with_old_amounts(graph: Graph, judge: Judge, schedule: Schedule, old: Schedule) -> Schedule | None:
    """The schedule with the groups, grants and ring depths of the old one, changed only as far as it needs; None if it
    is not legal with any. Raises ValueError if it does not fit the graph."""
    groups = {**old.groups, **{name: group for name, group in schedule.groups.items() if name not in old.groups}}
    asked = replace(schedule, groups=groups, rings=old.rings)
    if judge.check(asked).legal:
        return asked
    for attempt in _amounts(graph, judge, asked):
        if judge.check(attempt).legal:
            return attempt
    return None


def _amounts(graph: Graph, judge: Judge, schedule: Schedule) -> Iterator[Schedule]:
    """Grants raised where they must be, or all as small as they may be; the same with rings."""
    peaks = judge.check(schedule).peaks.registers
    kinds = {kind.kind: kind for kind in graph.groups}
    granularity = graph.machine.registers.granularity

    def least(name: str, group: ScheduledGroup) -> ScheduledGroup:
        floor = LEAST_VARIABLE_LATENCY_GRANT if kinds[group.kind].variable_latency else 0
        return replace(group, grant=-(-max(peaks.get(name, 0), floor) // granularity) * granularity)

    needed = {name: least(name, group) if name in peaks else group for name, group in schedule.groups.items()}
    raised = {name: max(group, needed[name], key=lambda g: g.grant) for name, group in schedule.groups.items()}
    rings = live_ranges(graph, schedule).rings
    deep = {value: max(depth, rings[value].least_depth) for value, depth in schedule.rings.items()}
    for groups in (raised, needed):
        for depths in (deep, {}):
            yield replace(schedule, groups=groups, rings=depths)
