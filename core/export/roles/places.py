"""A scheduled loop as the role program reads it: where each operation of the body runs, and what its rings are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.diagnostics import error
from core.graph.fuse import Fusion, Part
from core.graph.model import Graph, Op, Space
from core.ir.body import Body
from core.ir.model import Loop, Module, Operation
from core.ir.roles import BodyRole, body_roles
from core.ir.tiles import Category, TileLoop, TileOp
from core.schedule.liveness import live_ranges, profiles
from core.schedule.model import Placement, Schedule

STORES = frozenset({"tt.descriptor_store", "tt.experimental_descriptor_store", "tt.descriptor_reduce"})
"""Stores that the copy engine does, from a staging tile in shared memory."""

Copies = Mapping[tuple[Operation, int | None], Operation]
"""The operation at hand for one of the text as it was scheduled: for each of its parts, or (None) for the whole."""


@dataclass(frozen=True, slots=True)
class ScheduledLoop:
    """A loop, its graph and a legal schedule of it. `fusion`: how blocks of the graph stand for several tile ops."""

    tiles: TileLoop
    graph: Graph
    schedule: Schedule
    fusion: Fusion | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tile op runs: on which role, at which cycle of iteration 0, and when its result is there."""

    op: str
    role: str
    start: int
    latency: int


@dataclass(frozen=True, slots=True)
class Slots:
    """The ring of a value in shared memory: depth and bytes of a slot."""

    depth: int
    slot_bytes: int


class LoopPlan:
    """A scheduled loop in the module at hand; `copies`: where it has other operations than the scheduled text.

    `places`: of every operation that a tile op stands for, but those that cost nothing here. `reads`: of the copies
    from shared memory into registers, by the load. `slots`: by operation the ring of its result in shared memory;
    `hand_offs`: by operation the buffer of its register value that crosses groups. `given`: registers per thread of the
    roles, where that is more than their grants. Raises InputError for what the role program does not cover.
    """

    def __init__(
        self,
        module: Module,
        loop: Loop,
        scheduled: ScheduledLoop,
        copies: Copies | None = None,
        given: Mapping[str, int] | None = None,
    ) -> None:
        tiles = scheduled.tiles
        refuse(tiles)
        self.module, self.loop, self.schedule = module, loop, scheduled.schedule
        self.body = Body(module, loop)
        self.body_roles: Mapping[Operation, BodyRole] = body_roles(self.body)
        self.ii = scheduled.schedule.ii
        self.graph = scheduled.graph if scheduled.fusion is None else scheduled.fusion.original
        self.places: dict[Operation, Place] = {}
        self.reads: dict[Operation, Place] = {}
        self.slots: dict[Operation, Slots] = {}
        self.hand_offs: dict[Operation, Slots] = {}
        if copies is None:
            walk = zip(tiles.loop.operation.walk(), loop.operation.walk(), strict=True)
            copies = {(old, None): new for old, new in walk}
        live = live_ranges(scheduled.graph, scheduled.schedule)
        crossing = {_last_part(scheduled.fusion, op): buffer for op, buffer in live.hand_offs.items()}
        self._registers = profiles(scheduled.graph, scheduled.schedule).registers
        self._given = given or {}
        self._groups = {
            copy: place.group
            for tile, place in _placed(tiles, scheduled)
            for operation in tile.operations
            for copy in _copies(copies, operation, tile.part)
        }
        for tile, place in _placed(tiles, scheduled):
            op = self.graph.ops[tile.id]
            operations = [copy for operation in tile.operations for copy in _copies(copies, operation, tile.part)]
            first = operations[0]
            where = Place(tile.id, place.group, place.start, op.latency)
            if tile.kind == "ttg.local_load" != first.name:
                self.reads[first] = where
                continue
            for operation in operations:
                if not self._goes_to_store(operation, place.group):
                    self.places[operation] = where
            if tile.id in live.rings:
                ring = live.rings[tile.id]
                self.slots[first] = Slots(ring.depth, ring.amount)
            if tile.id in crossing:
                buffer = crossing[tile.id]
                self.hand_offs[first] = Slots(buffer.depth, buffer.amount)

    def _goes_to_store(self, operation: Operation, group: str) -> bool:
        """Whether an operation only changes the layout of a tile that a store of the same role stages in shared memory,
        which it can do from any layout."""
        if operation.name != "ttg.convert_layout" or operation.results[0] in self.body.yielded:
            return False
        users = self.body.users.get(operation.results[0], [])
        return bool(users) and all(user.name in STORES and self._groups.get(user) == group for user in users)

    @property
    def operation(self) -> Operation:
        """The loop's own operation."""
        return self.loop.operation

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that run something of the loop, in the order of the schedule."""
        used = {place.role for place in (*self.places.values(), *self.reads.values())}
        return tuple(name for name in self.schedule.groups if name in used)

    def op(self, place: Place) -> Op:
        """The op of the graph at a place."""
        return self.graph.ops[place.op]

    def spare_registers(self, role: str, cycle: int) -> int:
        """Registers per thread that the role has beyond what the schedule holds and keeps back at a cycle."""
        held = [step.level for step in self._registers[role] if step.slot <= cycle % self.ii]
        return self._given.get(role, self.schedule.groups[role].grant) - (held[-1] if held else 0)

    def is_matrix(self, operation: Operation) -> bool:
        """Whether the operation is one for the tensor core."""
        place = self.places.get(operation)
        return place is not None and self.graph.ops[place.op].matrix


def refuse(tiles: TileLoop) -> None:
    """Raises InputError for a loop that the role program does not cover."""
    for tile in tiles.ops.values():
        why = None
        if tile.category is Category.LOOP:
            why = "a loop inside a scheduled loop"
        elif tile.space is Space.TENSOR:
            why = "values in tensor memory"
        if why is not None:
            raise error("cannot-export", f"no role program: {why} ({tile.id})", file=tiles.module.file, line=tile.line)
    if tiles.branches:
        line = tiles.loop.operation.name_span.line
        raise error("cannot-export", "no role program: a branch in the loop", file=tiles.module.file, line=line)


def _copies(copies: Copies, operation: Operation, part: int | None) -> list[Operation]:
    """The operations that stand for a part of another one, or for a whole: a matrix op that sums over parts is several,
    one after another."""
    if part is not None and (operation, part) in copies:
        return [copies[operation, part]]
    summed = [copy for (of, number), copy in copies.items() if of is operation and number is not None]
    return [*summed, copies[operation, None]] if part is None else [copies[operation, None]]


def _last_part(fusion: Fusion | None, op: str) -> str:
    """The op whose value is that of a block."""
    return fusion.blocks[op][-1].op.id if fusion is not None and op in fusion.blocks else op


def _placed(tiles: TileLoop, scheduled: ScheduledLoop) -> Iterator[tuple[TileOp, Placement]]:
    """All tile ops that run in the loop, with their places; those inside fused blocks too."""
    schedule, fusion = scheduled.schedule, scheduled.fusion
    blocks: Mapping[str, tuple[Part, ...]] = {} if fusion is None else fusion.blocks
    for op, place in schedule.ops.items():
        parts = [(part.op.id, part.offset) for part in blocks[op]] if op in blocks else [(op, 0)]
        for name, offset in parts:
            tile = tiles.ops[name]
            if tile.category is not Category.INVARIANT:
                yield tile, Placement(place.start + offset, place.group, place.delay)
