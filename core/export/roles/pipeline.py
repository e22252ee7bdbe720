"""A scheduled loop on one role: prologue, steady state, epilogue, and what trip counts below the pipeline's run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.export.roles.groups import Groups, Open
from core.export.roles.item_writer import Counting, ItemWriter, OuterSource, Part
from core.export.roles.loop_role import LoopRole
from core.export.roles.model import (
    Base,
    For,
    Move,
    Pipeline,
    Register,
    Ring,
    Source,
    Statement,
    TurnPass,
    TurnWait,
)
from core.export.roles.names import Names
from core.export.roles.trees import Kept
from core.export.roles.turns import TurnPlan
from core.ir.model import Operation, Value

_PEELED = 2
"""Iterations at most that stand before the steady state only so that it begins as it ends."""

FEW_STAGES = 2
"""Up to so many iterations before the steady state, each shorter trip count has statements of its own."""


@dataclass(slots=True)
class _Steady:
    """A steady state, the prologue before it, and what is under way between them; `early`: waits of the steady state
    that come earlier than the schedule has them."""

    peeled: int
    prologue: tuple[Statement, ...]
    groups: Groups
    made: dict[Value, int]
    statements: tuple[Statement, ...]
    early: int


class PipelineWriter:
    """Writes the loop of a role.

    `least`: the least trip count for which every role of the loop has its whole prologue. If it is more than
    FEW_STAGES, all roles run shorter ones one iteration after another: some in the order of the pipeline and others not
    might wait for one another.
    """

    def __init__(
        self,
        role: LoopRole,
        names: Names,
        rings: Mapping[Operation, Ring],
        outer: OuterSource,
        turn: TurnPlan | None,
        least: int = 0,
    ) -> None:
        self._role, self._outer, self._turn, self._least = role, outer, turn, least
        self._writer = ItemWriter(role, names, rings, outer)
        self._plan = role.plan
        self._holding = False
        self.storages = self._writer.storages

    def peeled(self) -> int:
        """Iterations before the steady state."""
        return self._find().peeled

    def early_waits(self) -> int:
        """How many waits of the steady state come earlier than the schedule has them."""
        return self._find().early

    def write(self, results: Mapping[int, str]) -> Pipeline:
        """The loop. `results`: the storages that take the wanted results where the last value of the loop is not in one
        storage at every end (`result_storage`)."""
        found = self._find()
        least = found.peeled if self._least <= FEW_STAGES else self._least
        return Pipeline(
            loop=self._plan.loop,
            bounds=self._bounds(),
            least=least,
            stages=found.peeled,
            unroll=self._role.unroll,
            short=self._short(least, results),
            prologue=found.prologue,
            steady=found.statements,
            tails=tuple(self._tail(found, left, results) for left in range(self._role.unroll)),
        )

    def result_storage(self, index: int) -> str | None:
        """The storage that holds a result of the loop at every end; None if there is no such one."""
        tree = self._role.results[index]
        if not isinstance(tree, Kept) or tree.distance != 1:
            return None
        single = self._role.copies[tree.value] == 1 or tree.value in self._role.rotated
        return self.storages.of(tree.value, 0, 0) if single else None

    def _bounds(self) -> tuple[Source, Source, Source]:
        lower, upper, step = (self._outer(bound, ()) for bound in self._plan.loop.bounds)
        return lower, upper, step

    def _find(self) -> _Steady:
        """The steady state with the fewest iterations before it that does not wait for what the schedule has under way
        from one iteration into the next."""
        peeled = max(self._role.stages, int(self._turn is not None))
        most = peeled + _PEELED
        found = self._steady(peeled, peel=True)
        while found is None:
            peeled += 1
            found = self._steady(peeled, peel=peeled < most)
        return found

    def _steady(self, peeled: int, *, peel: bool) -> _Steady | None:
        """A steady state that ends as it begins. None if one more iteration before it would spare it a wait that costs
        time (only with `peel`)."""
        writer, unroll = self._writer, self._role.unroll
        prologue = self._prologue(peeled)
        entry, held, made = writer.groups, self._holding, writer.made
        while True:
            writer.groups, writer.made, self._holding = entry.copy(), dict(made), held
            writer.groups.carry()
            writer.early = 0
            part = Part(Counting(Base.STEADY, peeled))
            for step in range(unroll):
                self._iteration(part, peeled + step)
            end = writer.groups.shifted(-unroll, self._plan.ii)
            if end.same(entry):
                break
            common = end.common(entry)
            if common == len(entry.queue):
                surplus = len(end.queue) - common
                if peel and any(self._is_late(group, peeled + unroll) for group in writer.groups.queue[:surplus]):
                    return None
                part.statements += writer.groups.complete(surplus - 1, "the loop begins with what is open here")
                break
            if peel:
                return None
            trim = len(entry.queue) - common
            prologue.statements += entry.complete(trim - 1, "the loop ends with what is open here")
        return _Steady(peeled, tuple(prologue.statements), entry, made, tuple(part.statements), writer.early)

    def _is_late(self, group: Open, step: int) -> bool:
        """Whether a group is still under way when iteration `step` of the pipeline begins, by the schedule."""
        item = next(item for item in self._role.items if item.op == group.op and self._writer.is_matrix(item))
        ii = self._plan.ii
        begin = self._role.cut + (self._role.first_stage + step) * ii
        return item.start + item.latency + group.phase * ii > begin

    def _prologue(self, peeled: int) -> Part:
        self._begin()
        part = Part(Counting(Base.FIRST), self._writer.presets())
        self._enter(part)
        for step in range(peeled):
            self._iteration(part, step)
        return part

    def _tail(self, found: _Steady, left: int, results: Mapping[int, str]) -> tuple[Statement, ...]:
        """`left` iterations more, and the epilogue."""
        self._begin()
        self._writer.groups, self._writer.made = found.groups.copy(), dict(found.made)
        self._writer.groups.carry()
        self._holding = self._turn is not None and self._turn.wraps
        end = found.peeled + left
        part = Part(Counting(Base.LAST, end, end))
        for step in range(found.peeled, end + self._role.stages):
            self._iteration(part, step)
        self._finish(part, end, results)
        return tuple(part.statements)

    def _short(self, least: int, results: Mapping[int, str]) -> tuple[tuple[Statement, ...], ...]:
        """What runs for trip counts below `least`."""
        if least <= FEW_STAGES:
            return tuple(self._exactly(count, results) for count in range(least))
        return (self._one_by_one(results),)

    def _exactly(self, count: int, results: Mapping[int, str]) -> tuple[Statement, ...]:
        """The whole loop for one trip count."""
        self._begin()
        part = Part(Counting(Base.FIRST, 0, count), self._writer.presets())
        if count:
            self._enter(part)
            for step in range(count + self._role.stages):
                self._iteration(part, step)
        self._finish(part, count, results, turns=count > 0)
        return tuple(part.statements)

    def _one_by_one(self, results: Mapping[int, str]) -> tuple[Statement, ...]:
        """One iteration after another, each in the order of its start cycles; without turns, which count the
        iterations of a pipeline."""
        self._begin(moving=True)
        before = self._writer.presets()
        part = Part(Counting(Base.STEADY))
        for item in sorted(self._role.items, key=lambda item: (item.start, item.rank, item.text)):
            self._writer.run(part, item, 0)
        self._begin(moving=True)
        behind = Part(Counting(Base.LAST, 0, 0))
        self._finish(behind, 0, results, turns=False)
        return (*before, For(self._plan.loop, self._bounds(), tuple(part.statements)), *behind.statements)

    def _begin(self, *, moving: bool = False) -> None:
        self._writer.begin(moving=moving)
        self._holding = False

    def _finish(self, part: Part, end: int, results: Mapping[int, str], *, turns: bool = True) -> None:
        """Completes what is under way and puts results where they are expected."""
        groups = self._writer.groups
        part.statements += groups.complete(len(groups.queue) - 1, "the loop is over")
        if turns and self._turn is not None:
            if self._holding:
                part.statements.append(TurnPass(self._turn.turn))
                self._holding = False
            self._pass_on(part, self._turn.trail)
        for index, storage in results.items():
            source = self._writer.materialize(part, self._role.results[index], end)
            if source is not None and source != Register(storage):
                part.statements.append(Move(Register(storage), source))

    def _enter(self, part: Part) -> None:
        """The turns before the first iteration."""
        if self._turn is not None:
            self._pass_on(part, self._turn.lead)
            if self._turn.wraps:
                part.statements.append(TurnWait(self._turn.turn))
                self._holding = True

    def _pass_on(self, part: Part, times: int) -> None:
        if self._turn is not None:
            part.statements += [TurnWait(self._turn.turn), TurnPass(self._turn.turn)] * times

    def _iteration(self, part: Part, step: int) -> None:
        """One iteration of the pipeline: of each item the instance that is due."""
        end = part.counting.end

        def take_turn() -> None:
            assert self._turn is not None
            part.statements.append(TurnWait(self._turn.turn))
            self._holding = True

        for item in self._role.items:
            phase = step - item.stage
            waits = self._turn is not None and item in self._turn.waits_before
            if phase >= 0 and (end is None or phase < end):
                self._writer.run(part, item, phase, take_turn if waits else None)
            elif waits:
                take_turn()
            if self._holding and self._turn is not None and item in self._turn.passes_behind:
                part.statements.append(TurnPass(self._turn.turn))
                self._holding = False
