"""One step of a role's loop as statements: waits, slots and turns around it, operands, and what it issues."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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
    WaitFree,
    WaitFull,
)
from core.export.roles.names import Names
from core.export.roles.places import STORES
from core.export.roles.storages import ACCUMULATOR, Storages
from core.export.roles.trees import Counter, Derived, Kept, Outer, RingTile, Tree, leaves
from core.ir.model import Operation, Value
from core.ir.types import PointerType, ScalarType

_ZEROS = re.compile(r"dense<\+?0+(\.0*)?([eE][+-]?\d+)?>", re.ASCII)

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
class Part:
    """A list of statements in the making. `scalars`: local names of what was computed in it."""

    counting: Counting
    statements: list[Statement] = field(default_factory=list[Statement])
    scalars: dict[tuple[Operation, int], tuple[str, ...]] = field(
        default_factory=dict[tuple[Operation, int], tuple[str, ...]]
    )


class ItemWriter:
    """Writes the steps of a role. `rings`: by the operation that fills it. `groups`: what is under way; `made`: of
    values whose copies move on, the iteration of the last that was made. `moving`: all copies move on, and matrix ops
    are waited for at once: iterations one after another. `early`: how many waits came earlier than the schedule has
    them."""

    def __init__(self, role: LoopRole, names: Names, rings: Mapping[Operation, Ring], outer: OuterSource) -> None:
        self._role, self._names, self._rings, self._outer = role, names, rings, outer
        self._plan = role.plan
        self.storages = Storages(role, names)
        self.groups = Groups()
        self.made: dict[Value, int] = {}
        self.moving = False
        self.early = 0

    def begin(self, *, moving: bool = False) -> None:
        """Nothing is under way, nothing is made."""
        self.groups, self.made, self.moving = Groups(), {}, moving

    def presets(self) -> list[Statement]:
        """Sets what kept values hold before the first iteration; accumulators now, not when the first matrix op is
        under way already."""
        moves: list[Statement] = [
            Move(Register(self.storage(value, phase)), self._outer(initial, ()))
            for (value, phase), initial in self._role.presets.items()
        ]
        matrix = {
            self.storage(value, phase)
            for value, phase in self._role.presets
            if value.producer is not None and self._plan.is_matrix(value.producer)
        }
        return [*moves, Pin(tuple(sorted(matrix)))] if matrix else moves

    def storage(self, value: Value, phase: int) -> str:
        """Where a kept value of an iteration is now."""
        return self.storages.of(value, phase, self.made.get(value, -1), moving=self.moving)

    def _target(self, value: Value, phase: int) -> str:
        """Where the value that is made now goes."""
        return self.storages.of(value, phase, phase, moving=self.moving)

    def run(self, part: Part, item: Item, phase: int, take_turn: Callable[[], None] | None = None) -> None:
        """One step for one iteration. `take_turn`: called when all is there that the step waits for."""
        out = part.statements
        if item.reader is not None and not self.moving:  # what it waits for frees registers that the load may need
            self._wait_for_groups(part, item.reader, phase, *self._registers(item.reader, phase))
        reads, writes = self._registers(item, phase)
        self._wait_for_groups(part, item, phase, reads, writes)
        tiles = self._acquire(part, item, phase)
        if take_turn is not None:
            take_turn()
        if item.takes is not None:
            ring = self._rings[_producer(item.takes)]
            self._rotate(part, item.takes, phase)
            out.append(Take(Register(self.storage(item.takes, phase)), Slot(ring.name, self._behind(ring, phase))))
        if item.puts is not None:
            ring = self._rings[_producer(item.puts)]
            out.append(WaitFree(ring.name, "the slot is free again"))
            out.append(Put(Slot(ring.name), Register(self.storage(item.puts, phase))))
            out.append(ArriveFull(ring.name))
        matrix = self.is_matrix(item)
        for number, operation in enumerate(item.operations):
            self._issue(part, item, operation, phase)
            if matrix:
                last = number == len(item.operations) - 1  # it gives back what all of them read
                held, deadline = frozenset(reads - writes), self._deadline(item, phase)
                done = item.start + item.latency + phase * self._plan.ii
                registers = self._operand_registers(item)
                group = Open(
                    item.op or "", phase, frozenset(writes), held, tiles if last else (), deadline, done, registers
                )
                self.groups.queue.append(group)
        if matrix and self.moving:
            out += self.groups.complete(len(self.groups.queue) - 1, "one iteration after another")
        if not matrix:
            for ring, tile in tiles:
                out += self.groups.read(ring, tile, f"{item.op or 'the copy'} has read it")

    def _registers(self, item: Item, phase: int) -> tuple[set[str], set[str]]:
        """The storages that a step reads and writes; small ones whose copies move on left out, which are no matrix
        op's."""
        rotated = self._role.rotated
        read = (leaf for leaf in item.all_leaves() if isinstance(leaf, Kept) and leaf.value not in rotated)
        made = (value for value, maker in self._role.defined.items() if maker is item and value not in rotated)
        reads = {self.storage(leaf.value, phase - leaf.distance) for leaf in read}
        return reads, {self._target(value, phase) for value in made}

    def _deadline(self, item: Item, phase: int) -> int | None:
        """When the first of the slots that the item reads is to be filled again, by the schedule."""
        found: list[int] = []
        for leaf in item.all_leaves():
            place = self._plan.places.get(leaf.root) if isinstance(leaf, RingTile) else None
            if isinstance(leaf, RingTile) and place is not None:
                found.append(place.start + (phase - leaf.distance + self._rings[leaf.root].depth) * self._plan.ii)
        return min(found, default=None)

    def _operand_registers(self, item: Item) -> int:
        """Registers per thread of what a matrix op multiplies."""
        values = {
            leaf.value
            for operation in item.operations
            for tree in item.trees[operation][:ACCUMULATOR]
            for leaf in leaves(tree)
            if isinstance(leaf, Kept)
        }
        tiles = (self._plan.body.tile(value) for value in values)
        return sum(tile.registers(self._role.warps) for tile in tiles if tile is not None)

    def is_matrix(self, item: Item) -> bool:
        """Whether the step issues a matrix op."""
        return any(self._plan.is_matrix(operation) for operation in item.operations)

    def _wait_for_groups(self, part: Part, item: Item, phase: int, reads: set[str], writes: set[str]) -> None:
        """Waits for the groups under way that the item depends on, and for no other."""
        queue = self.groups.queue
        matrix = self.is_matrix(item)
        if matrix and self._reads_carried(self.groups.carried - 1):
            self.early += 1
            why = f"before {item.op or 'it'} is issued, since the assembler loses count of what a loop has under way"
            part.statements += self.groups.complete(self.groups.carried - 1, why)
            queue = self.groups.queue
        if matrix:
            # Matrix ops complete in order: adding to what an earlier one writes needs no wait.
            chained = {name for group in queue for name in group.writes} & writes
            found = self.groups.youngest(conflicts(group, reads - chained, writes - chained) for group in queue)
        elif writes & self.storages.left:
            # To write an operand register of any matrix op while one is under way makes the assembler serialise all.
            found = len(queue) - 1
        else:
            found = self.groups.youngest(conflicts(group, reads, writes) for group in queue)
        if found >= 0:
            name = item.op or (item.operations[0].name if item.operations else "the copy")
            part.statements += self._complete(found, f"{name} needs {queue[found].op}")
        # Without it what the schedule has in time would wait for slots that only a later wait gives back.
        now = item.start + phase * self._plan.ii
        queue = self.groups.queue
        due = self.groups.youngest(group.deadline is not None and group.deadline <= now for group in queue)
        if due >= 0:
            part.statements += self._complete(due, f"a slot that {queue[due].op} reads is to be filled again")
        crowding = self._crowding(now) if writes else -1
        if crowding >= 0:
            why = f"the registers that {self.groups.queue[crowding].op} reads are needed"
            part.statements += self._complete(crowding, why)

    def _crowding(self, now: int) -> int:
        """The youngest of the groups that the schedule has complete by now, if there is no room for what they still
        hold: a wait as late as possible keeps operands in registers that the schedule has free. -1: there is room."""
        queue = self.groups.queue
        held = [group.held if group.done <= now else 0 for group in queue]
        if not any(held) or sum(held) <= self._plan.spare_registers(self._role.role, now):
            return -1
        return self.groups.youngest(amount > 0 for amount in held)

    def _complete(self, position: int, why: str) -> Iterator[Statement]:
        """Waits for a group and all older ones; for all that are under way where the assembler would not follow.

        The assembler (ptxas 13.0) does not know which group a wait completes that leaves others under way, if the group
        was issued before the loop's head or end: when its result is then read, it serialises all matrix ops (C7514).
        """
        last = len(self.groups.queue) - 1
        if position < last and self._reads_carried(min(position, self.groups.carried - 1)):
            self.early += 1
            position = last
        return self.groups.complete(position, why)

    def _reads_carried(self, position: int) -> bool:
        """Whether another op than a matrix op reads what one of the groups up to there makes, all of them carried."""
        return any(group.writes & self.storages.read for group in self.groups.queue[: position + 1])

    def _acquire(self, part: Part, item: Item, phase: int) -> tuple[tuple[str, int], ...]:
        """Waits for the tiles that the item is the first to read; all tiles that it reads."""
        tiles: dict[tuple[str, int], None] = {}
        roots = [(leaf.root, leaf.distance) for leaf in item.all_leaves() if isinstance(leaf, RingTile)]
        if item.takes is not None:
            roots.append((_producer(item.takes), 0))
        for root, distance in roots:
            ring = self._rings[root]
            if ring.kind is RingKind.OWN:
                tiles[ring.name, phase - distance] = None
                held = self.groups.held.setdefault(ring.name, {})
                held.setdefault(phase - distance, 1 << 30)  # nobody waits for it to be given back
                continue
            held = self.groups.held.setdefault(ring.name, {})
            if phase - distance not in held:
                part.statements.append(WaitFull(ring.name, f"{item.op or 'the copy'} is the first to read it"))
                held[phase - distance] = len(self._role.readers[root])
                self.groups.newest[ring.name] = phase - distance
            tiles[ring.name, phase - distance] = None
        return tuple(tiles)

    def _behind(self, ring: Ring, phase: int) -> int:
        return self.groups.newest.get(ring.name, phase) - phase

    def _issue(self, part: Part, item: Item, operation: Operation, phase: int) -> None:
        out = part.statements
        for result in operation.results:
            self._rotate(part, result, phase)
        reads = [self.materialize(part, tree, phase) for tree in item.trees[operation]]
        ring = self._rings.get(operation) if operation in self._plan.slots else None
        writes: tuple[Target | None, ...]
        if ring is not None:
            writes = (Slot(ring.name), *[None] * (len(operation.results) - 1))
        else:
            writes = tuple(Register(self._target(result, phase)) for result in operation.results)
        if self._plan.is_matrix(operation):
            self._prepare_matrix(part, item, operation, phase, reads, writes[0])
        elif ring is not None and ring.kind is RingKind.OWN:
            out.append(GroupSync(why="all warps have read the slot"))
            self.groups.newest[ring.name] = phase
        elif ring is not None:
            out.append(WaitFree(ring.name, "the slot is free again"))
        elif operation.name in STORES:
            out.append(StoreWait(0, "the staging tile is free again"))
        out.append(Issue(operation, tuple(reads), writes, part.counting.instance(phase), item.op))
        if ring is not None and ring.kind is RingKind.OWN:
            out.append(GroupSync(fence=True, why="the tile is there for the tensor core"))
        elif ring is not None and ring.kind is not RingKind.TMA:
            out.append(ArriveFull(ring.name))

    def _rotate(self, part: Part, value: Value, phase: int) -> None:
        """Makes room for the next value where copies move on."""
        if value in self._role.copies and (self.moving or value in self._role.rotated):
            copies = range(self._role.copies[value])
            names = [self.storages.of(value, -copy, 0, moving=self.moving) for copy in copies]
            for older, newer in reversed(list(pairwise(names))):
                part.statements.append(Move(Register(newer), Register(older)))
            self.made[value] = phase

    def _prepare_matrix(
        self,
        part: Part,
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
            moved = source.name if isinstance(source, Register) else ""
            found = self.groups.youngest(moved in group.writes for group in self.groups.queue)
            part.statements += self.groups.complete(found, f"{item.op} adds to what another matrix op makes")
            part.statements.append(Move(result, source))
            reads[ACCUMULATOR] = result
        left = [
            self.storage(leaf.value, phase - leaf.distance)
            for leaf in leaves(item.trees[operation][0])
            if isinstance(leaf, Kept)
        ]
        part.statements.append(Pin(tuple(sorted({result.name, *left}))))

    def materialize(self, part: Part, tree: Tree | None, phase: int) -> Source | None:
        """The operand of iteration `phase`; what the role has to compute for it is issued first."""
        if tree is None:
            return None
        if isinstance(tree, Kept):
            return Register(self.storage(tree.value, phase - tree.distance))
        if isinstance(tree, Counter):
            return Induction(self._plan.loop, part.counting.instance(phase - tree.distance))
        if isinstance(tree, RingTile):
            ring = self._rings[tree.root]
            return Slot(ring.name, self._behind(ring, phase - tree.distance), tree.via)
        if isinstance(tree, Outer):
            return self._outer(tree.value, tree.via)
        return Register(self._derive(part, tree, phase))

    def _derive(self, part: Part, tree: Derived, phase: int) -> str:
        key = (tree.operation, phase - tree.distance)
        if key in part.scalars:
            return part.scalars[key][tree.index]
        operands = tuple(self.materialize(part, operand, phase) for operand in tree.operands)
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
