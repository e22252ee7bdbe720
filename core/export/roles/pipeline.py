"""A scheduled loop on one role as statements: prologue, steady state, epilogue, and what short trip counts run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from core.export.roles.groups import Groups, Open, conflicts
from core.export.roles.loop_role import Item, LoopRole
from core.export.roles.model import (
    ArriveFull,
    Base,
    GroupSync,
    Induction,
    Instance,
    Issue,
    Move,
    Pin,
    Pipeline,
    Put,
    Register,
    Ring,
    RingKind,
    Slot,
    Source,
    Statement,
    StoreWait,
    Take,
    Target,
    TurnPass,
    TurnWait,
    WaitFree,
    WaitFull,
)
from core.export.roles.names import Names
from core.export.roles.storages import ACCUMULATOR, Storages
from core.export.roles.trees import Counter, Derived, Kept, Outer, RingTile, Tree, leaves
from core.export.roles.turns import TurnPlan
from core.ir.model import Operation, Value
from core.ir.types import PointerType, ScalarType

STORES = frozenset({"tt.descriptor_store", "tt.experimental_descriptor_store", "tt.descriptor_reduce"})
"""Stores that the copy engine does, from a staging tile in shared memory."""

_ZEROS = re.compile(r"dense<\+?0+(\.0*)?([eE][+-]?\d+)?>", re.ASCII)

_PEELED = 2
"""Iterations at most that stand before the steady state only so that it begins as it ends."""

OuterSource = Callable[[Value, tuple[Operation, ...]], Source]
"""The operand that stands for a value from before the loop on this role."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How iteration numbers of a part are written: iteration `phase` is `base` + `phase` - `origin`. `end`: the phase
    that iteration n would have, None where all are below n."""

    base: Base
    origin: int = 0
    end: int | None = None

    def instance(self, phase: int) -> Instance:
        """The iteration of that phase."""
        return Instance(self.base, phase - self.origin)


@dataclass(slots=True)
class _Part:
    """A list of statements in the making. `scalars`: local names of what was computed in it."""

    counting: Counting
    statements: list[Statement] = field(default_factory=list[Statement])
    scalars: dict[tuple[Operation, int], tuple[str, ...]] = field(
        default_factory=dict[tuple[Operation, int], tuple[str, ...]]
    )


class PipelineWriter:
    """Writes the loop of a role. `rings`: by the operation that fills it."""

    def __init__(
        self,
        role: LoopRole,
        names: Names,
        rings: Mapping[Operation, Ring],
        outer: OuterSource,
        turn: TurnPlan | None,
    ) -> None:
        self._role, self._names, self._rings, self._outer, self._turn = role, names, rings, outer, turn
        self._plan = role.plan
        self.storages = Storages(role, names)
        self._groups = Groups()
        self._made: dict[Value, int] = {}  # of rotated values: the iteration of the last that was made
        self._holding = False

    def _storage(self, value: Value, phase: int) -> str:
        return self.storages.of(value, phase, self._made.get(value, -1))

    def presets(self) -> list[Statement]:
        """Sets what kept values hold before the first iteration."""
        return [
            Move(Register(self.storages.of(value, phase, -1)), self._outer(initial, ()))
            for (value, phase), initial in self._role.presets.items()
        ]

    def write(self, results: Mapping[int, str]) -> Pipeline:
        """The loop. `results`: the storages that take the wanted results where the last value of the loop is not in one
        storage at every end (`result_storage`)."""
        held = self._turn is not None and self._holds_between()
        peeled = max(self._role.stages, int(held))
        found = self._steady(peeled, peel=True)
        while found is None:
            peeled += 1
            found = self._steady(peeled, peel=peeled < self._role.stages + _PEELED)
        prologue, entry, steady = found
        made = dict(self._made)
        unroll = self._role.unroll
        return Pipeline(
            loop=self._plan.loop,
            bounds=(
                self._outer(self._plan.loop.bounds[0], ()),
                self._outer(self._plan.loop.bounds[1], ()),
                self._outer(self._plan.loop.bounds[2], ()),
            ),
            stages=peeled,
            unroll=unroll,
            short=tuple(self._short(count, results) for count in range(peeled)),
            prologue=prologue,
            steady=steady,
            tails=tuple(self._tail(peeled, left, entry.copy(), dict(made), results) for left in range(unroll)),
        )

    def result_storage(self, index: int) -> str | None:
        """The storage that holds a result of the loop at every end; None if there is no such one."""
        tree = self._role.results[index]
        if not isinstance(tree, Kept) or tree.distance:
            return None
        single = self._role.copies[tree.value] == 1 or tree.value in self._role.rotated
        return self.storages.of(tree.value, 0, 0) if single else None

    def _steady(self, peeled: int, *, peel: bool) -> tuple[tuple[Statement, ...], Groups, tuple[Statement, ...]] | None:
        """Prologue, the state behind it, and a steady state that ends as it begins. None if one more iteration before
        it would spare it a wait for what the schedule has under way from one iteration into the next (only with
        `peel`)."""
        unroll = self._role.unroll
        prologue = self._prologue(peeled)
        turn_held, made = self._holding, self._made
        entry = self._groups
        while True:
            self._groups, self._holding, self._made = entry.copy(), turn_held, dict(made)
            part = _Part(Counting(Base.STEADY, peeled))
            for step in range(unroll):
                self._iteration(part, peeled + step)
            end = self._groups.shifted(-unroll, self._plan.ii)
            self._made = dict(made)
            if end.same(entry):
                break
            common = end.common(entry)
            if common == len(entry.queue):
                surplus = len(self._groups.queue) - common
                if peel and any(self._is_late(group, peeled + unroll) for group in self._groups.queue[:surplus]):
                    return None
                part.statements += self._groups.complete(surplus - 1, "the loop begins with what is open here")
                break
            if peel:
                return None
            trim = len(entry.queue) - common
            prologue.statements += entry.complete(trim - 1, "the loop ends with what is open here")
        return tuple(prologue.statements), entry, tuple(part.statements)

    def _begin(self) -> None:
        self._groups, self._holding, self._made = Groups(), False, {}

    def _is_late(self, group: Open, step: int) -> bool:
        """Whether a group is still under way when iteration `step` of the pipeline begins, by the schedule."""
        item = next(item for item in self._role.items if item.op == group.op and self._is_matrix(item))
        ii = self._plan.ii
        return item.start + item.latency + group.phase * ii > (self._role.first_stage + step) * ii

    def _prologue(self, peeled: int) -> _Part:
        self._begin()
        part = _Part(Counting(Base.FIRST))
        self._pass_on(part, self._turn.lead if self._turn else 0)
        for step in range(peeled):
            self._iteration(part, step)
        return part

    def _tail(
        self, peeled: int, left: int, state: Groups, made: dict[Value, int], results: Mapping[int, str]
    ) -> tuple[Statement, ...]:
        """`left` iterations more, and the epilogue."""
        self._groups, self._made = state, made
        self._holding = self._turn is not None and self._holds_between()
        end = peeled + left
        part = _Part(Counting(Base.LAST, end, end))
        for step in range(peeled, end + self._role.stages):
            self._iteration(part, step)
        self._finish(part, end, results)
        return tuple(part.statements)

    def _short(self, count: int, results: Mapping[int, str]) -> tuple[Statement, ...]:
        """The whole loop for a trip count below the iterations that overlap."""
        self._begin()
        part = _Part(Counting(Base.FIRST, 0, count))
        if count:
            self._pass_on(part, self._turn.lead if self._turn else 0)
            for step in range(count + self._role.stages):
                self._iteration(part, step)
        self._finish(part, count, results, turns=count > 0)
        return tuple(part.statements)

    def _finish(self, part: _Part, end: int, results: Mapping[int, str], *, turns: bool = True) -> None:
        """Completes what is under way and puts results where they are expected."""
        part.statements += self._groups.complete(len(self._groups.queue) - 1, "the loop is over")
        if turns and self._turn is not None:
            if self._holding:
                part.statements.append(TurnPass(self._turn.turn))
                self._holding = False
            self._pass_on(part, self._turn.trail)
        for index, storage in results.items():
            source = self._materialize(part, self._role.results[index], end - 1)
            if source is not None and source != Register(storage):
                part.statements.append(Move(Register(storage), source))

    def _pass_on(self, part: _Part, times: int) -> None:
        if self._turn is not None:
            part.statements += [TurnWait(self._turn.turn), TurnPass(self._turn.turn)] * times

    def _holds_between(self) -> bool:
        """Whether the role has its turn from one iteration into the next."""
        assert self._turn is not None
        holding = False
        for item in self._role.items:
            if item in self._turn.waits_before:
                holding = True
            if item in self._turn.passes_behind:
                holding = False
        return holding

    def _iteration(self, part: _Part, step: int) -> None:
        """One iteration of the pipeline: of each item the instance that is due."""
        end = part.counting.end
        for item in self._role.items:
            phase = step - item.stage
            active = phase >= 0 and (end is None or phase < end)
            waits = self._turn is not None and item in self._turn.waits_before
            if active:
                self._run(part, item, phase, waits)
            elif waits:
                self._take_turn(part)
            if self._holding and self._turn is not None and item in self._turn.passes_behind:
                part.statements.append(TurnPass(self._turn.turn))
                self._holding = False

    def _take_turn(self, part: _Part) -> None:
        assert self._turn is not None
        part.statements.append(TurnWait(self._turn.turn))
        self._holding = True

    def _run(self, part: _Part, item: Item, phase: int, waits_for_turn: bool) -> None:
        out = part.statements
        reads = {
            self._storage(leaf.value, phase - leaf.distance) for leaf in item.all_leaves() if isinstance(leaf, Kept)
        }
        made = [value for value, maker in self._role.defined.items() if maker is item]
        writes = {self.storages.of(value, phase, phase) for value in made}
        self._wait_for_groups(part, item, phase, reads, writes)
        tiles = self._acquire(part, item, phase)
        if waits_for_turn:
            self._take_turn(part)
        if item.takes is not None:
            ring = self._rings[_producer(item.takes)]
            self._rotate(part, item.takes, phase)
            out.append(Take(Register(self._storage(item.takes, phase)), Slot(ring.name, self._behind(ring, phase))))
        if item.puts is not None:
            ring = self._rings[_producer(item.puts)]
            out.append(WaitFree(ring.name, "the slot is free again"))
            out.append(Put(Slot(ring.name), Register(self._storage(item.puts, phase))))
            out.append(ArriveFull(ring.name))
        for operation in item.operations:
            self._issue(part, item, operation, phase)
        if self._is_matrix(item):
            held = frozenset(reads - writes)
            self._groups.queue.append(
                Open(item.op or "", phase, frozenset(writes), held, tiles, self._deadline(item, phase))
            )
        else:
            for ring, tile in tiles:
                out += self._groups.read(ring, tile, f"{item.op or 'the copy'} has read it")

    def _deadline(self, item: Item, phase: int) -> int | None:
        """When the first of the slots that the item reads is to be filled again, by the schedule."""
        found: list[int] = []
        for leaf in item.all_leaves():
            place = self._plan.places.get(leaf.root) if isinstance(leaf, RingTile) else None
            if isinstance(leaf, RingTile) and place is not None:
                found.append(place.start + (phase - leaf.distance + self._rings[leaf.root].depth) * self._plan.ii)
        return min(found, default=None)

    def _is_matrix(self, item: Item) -> bool:
        return any(self._plan.is_matrix(operation) for operation in item.operations)

    def _wait_for_groups(self, part: _Part, item: Item, phase: int, reads: set[str], writes: set[str]) -> None:
        """Waits for the groups under way that the item depends on, and for no other."""
        queue = self._groups.queue
        matrix = self._is_matrix(item)
        if matrix:
            # Matrix ops complete in order: adding to what an earlier one writes needs no wait.
            chained = {name for group in queue for name in group.writes} & writes
            found = self._groups.youngest(conflicts(group, reads - chained, writes - chained) for group in queue)
        elif writes & self.storages.left:
            # To write an operand register of any matrix op while one is under way makes the assembler serialise all.
            found = len(queue) - 1
        else:
            found = self._groups.youngest(conflicts(group, reads, writes) for group in queue)
        if found >= 0:
            name = item.op or (item.operations[0].name if item.operations else "the copy")
            part.statements += self._groups.complete(found, f"{name} needs {queue[found].op}")
        # Without it what the schedule has in time would wait for slots that only a later wait gives back.
        now = item.start + phase * self._plan.ii
        queue = self._groups.queue
        due = self._groups.youngest(group.deadline is not None and group.deadline <= now for group in queue)
        if due >= 0:
            part.statements += self._groups.complete(due, f"a slot that {queue[due].op} reads is to be filled again")

    def _acquire(self, part: _Part, item: Item, phase: int) -> tuple[tuple[str, int], ...]:
        """Waits for the tiles that the item is the first to read; all tiles that it reads."""
        tiles: dict[tuple[str, int], None] = {}
        roots = [(leaf.root, leaf.distance) for leaf in item.all_leaves() if isinstance(leaf, RingTile)]
        if item.takes is not None:
            roots.append((_producer(item.takes), 0))
        for root, distance in roots:
            ring = self._rings[root]
            if ring.kind is RingKind.OWN:
                tiles[ring.name, phase - distance] = None
                held = self._groups.held.setdefault(ring.name, {})
                held.setdefault(phase - distance, 1 << 30)  # nobody waits for it to be given back
                continue
            held = self._groups.held.setdefault(ring.name, {})
            if phase - distance not in held:
                part.statements.append(WaitFull(ring.name, f"{item.op or 'the copy'} is the first to read it"))
                held[phase - distance] = len(self._role.readers[root])
                self._groups.newest[ring.name] = phase - distance
            tiles[ring.name, phase - distance] = None
        return tuple(tiles)

    def _behind(self, ring: Ring, phase: int) -> int:
        return self._groups.newest.get(ring.name, phase) - phase

    def _issue(self, part: _Part, item: Item, operation: Operation, phase: int) -> None:
        out = part.statements
        for result in operation.results:
            self._rotate(part, result, phase)
        reads = [self._materialize(part, tree, phase) for tree in item.trees[operation]]
        ring = self._rings.get(operation) if operation in self._plan.slots else None
        writes: tuple[Target | None, ...]
        if ring is not None:
            writes = (Slot(ring.name), *[None] * (len(operation.results) - 1))
        else:
            writes = tuple(Register(self.storages.of(result, phase, phase)) for result in operation.results)
        if self._plan.is_matrix(operation):
            self._prepare_matrix(part, item, operation, phase, reads, writes[0])
        elif ring is not None and ring.kind is RingKind.OWN:
            out.append(GroupSync(why="all warps have read the slot"))
            self._groups.newest[ring.name] = phase
        elif ring is not None:
            out.append(WaitFree(ring.name, "the slot is free again"))
        elif operation.name in STORES:
            out.append(StoreWait(0, "the staging tile is free again"))
        out.append(Issue(operation, tuple(reads), writes, part.counting.instance(phase), item.op))
        if ring is not None and ring.kind is RingKind.OWN:
            out.append(GroupSync(fence=True, why="the tile is there for the tensor core"))
        elif ring is not None and ring.kind is not RingKind.TMA:
            out.append(ArriveFull(ring.name))

    def _rotate(self, part: _Part, value: Value, phase: int) -> None:
        """Makes room for the next value where copies move on."""
        if value in self._role.rotated:
            names = [self.storages.of(value, -copy, 0) for copy in range(self._role.copies[value])]
            for older, newer in reversed(list(pairwise(names))):
                part.statements.append(Move(Register(newer), Register(older)))
            self._made[value] = phase

    def _prepare_matrix(
        self,
        part: _Part,
        item: Item,
        operation: Operation,
        phase: int,
        reads: list[Source | None],
        result: Target | None,
    ) -> None:
        """Puts the accumulator where the result will be, and keeps the operands' registers in place."""
        tree = item.trees[operation][ACCUMULATOR] if len(reads) > ACCUMULATOR else None
        if isinstance(tree, Outer) and starts_from_zero(tree.value):
            reads[ACCUMULATOR] = None
        source = reads[ACCUMULATOR] if len(reads) > ACCUMULATOR else None
        assert isinstance(result, Register)  # by the ISA of this target
        if source is not None and source != result:
            part.statements.append(Move(result, source))
            reads[ACCUMULATOR] = result
        left = [
            self._storage(leaf.value, phase - leaf.distance)
            for leaf in leaves(item.trees[operation][0])
            if isinstance(leaf, Kept)
        ]
        part.statements.append(Pin(tuple(sorted({result.name, *left}))))

    def _materialize(self, part: _Part, tree: Tree | None, phase: int) -> Source | None:
        """The operand of iteration `phase`; what the role has to compute for it is issued first."""
        if tree is None:
            return None
        if isinstance(tree, Kept):
            return Register(self._storage(tree.value, phase - tree.distance))
        if isinstance(tree, Counter):
            return Induction(self._plan.loop, part.counting.instance(phase - tree.distance))
        if isinstance(tree, RingTile):
            ring = self._rings[tree.root]
            return Slot(ring.name, self._behind(ring, phase - tree.distance), tree.via)
        if isinstance(tree, Outer):
            return self._outer(tree.value, tree.via)
        return Register(self._derive(part, tree, phase))

    def _derive(self, part: _Part, tree: Derived, phase: int) -> str:
        key = (tree.operation, phase - tree.distance)
        if key in part.scalars:
            return part.scalars[key][tree.index]
        operands = tuple(self._materialize(part, operand, phase) for operand in tree.operands)
        names = tuple(self._names.fresh(result) for result in tree.operation.results)
        targets = tuple(Register(name) for name in names)
        instance = part.counting.instance(phase - tree.distance)
        part.statements.append(Issue(tree.operation, operands, targets, instance))
        if all(isinstance(self._plan.body.type(result), ScalarType | PointerType) for result in tree.operation.results):
            part.scalars[key] = names
        return names[tree.index]


def starts_from_zero(value: Value) -> bool:
    """Whether a value is a tile of zeros from a constant."""
    producer = value.producer
    if producer is None or producer.name != "arith.constant":
        return False
    text = producer.attributes.get("value") or producer.text_arguments
    return _ZEROS.match(text.strip()) is not None


def _producer(value: Value) -> Operation:
    assert value.producer is not None  # a kept value is a result
    return value.producer
