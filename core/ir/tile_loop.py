"""From a parsed loop to its tile ops: the part of graph building that knows no machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from core.graph.model import DependenceKind, Space
from core.ir.accesses import accesses, accumulate_flag
from core.ir.body import Body, branch_sides, values_read
from core.ir.constants import Constants
from core.ir.memory import Flow, follow
from core.ir.model import Loop, Module, Operation, Value
from core.ir.operations import BARRIERS, category_of, data_positions
from core.ir.origins import Origin, Origins
from core.ir.owners import owners
from core.ir.rescale import Rescale, rescales
from core.ir.roles import BodyRole, body_roles
from core.ir.tile_shapes import (
    extents,
    lands_in_shared_memory,
    operand_axes,
    operand_tiles,
    result_axes,
    result_tiles,
    source_axes,
)
from core.ir.tiles import Category, KeptTile, Operand, Order, Role, Tile, TileLoop, TileOp
from core.ir.views import is_landing, through, viewed, viewed_dimensions

_ACCUMULATOR = 2  # position of C
_STEADY = 4  # iterations after which a flag that starts an accumulator afresh has settled


def tile_loop(module: Module, loop: Loop, *, reduce_branches: bool = False, blocks: Collection[Loop] = ()) -> TileLoop:
    """The tile ops of an `scf.for` with their uses and orders.

    `reduce_branches`: ops of both sides of each `scf.if` are there, and `branches` says which.
    `blocks`: loops of the body that are a tile op each, which knows nothing of their cost. Raises InputError with
    the line if the loop is of another kind or has (other) control flow in its body.
    """
    return _Builder(Body(module, loop, reduce_branches=reduce_branches, blocks=blocks)).build()


class _Builder:
    """One build: what is known of the body, and the tile ops made so far."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._roles = body_roles(body)
        self._origins = Origins(body, self._roles)
        self._constants = Constants(body)
        self._events = accesses(body, self._roles)
        self._memory = follow(body, self._events, self._constants)
        self._flows: dict[tuple[Operation, Value], list[Flow]] = {}
        for flow in self._memory.flows:
            self._flows.setdefault((flow.reader, flow.buffer), []).append(flow)
        self._absorbed = _contractions(body, self._roles)
        self._count: Counter[str] = Counter()
        self._ids = self._name_operations()
        # Loads whose tile is read from shared memory into registers, by an op of its own.
        self._reads = {op: self._next_id("local_load") for op in body.operations if self._is_read(op)}
        self._kept: dict[tuple[str, Value], str] = {}
        self._ops: dict[str, TileOp] = {}

    def build(self) -> TileLoop:
        """The whole loop."""
        body = self._body
        absorbing = {user: multiply for multiply, user in self._absorbed.items()}
        for op in body.operations:
            if self._roles[op] is BodyRole.TILE and op not in self._absorbed:
                self._add(op, absorbing.get(op))
        for rescale in rescales(body, self._events, self._memory, self._ids):
            self._mark(rescale)
        self._keep_tensor_memory()
        orders = [
            Order(self._ids[reuse.reader], self._ids[reuse.writer], reuse.distance, DependenceKind.ANTI)
            for reuse in self._memory.reuses
        ]
        return TileLoop(
            module=body.module,
            loop=body.loop,
            ops=self._ops,
            orders=tuple(dict.fromkeys([*orders, *self._barrier_orders()])),
            kept=tuple(self._kept_tiles()),
            owners=owners(body, self._roles, self._ids),
            branches=dict(self._branches()),
        )

    def _branches(self) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
        """The tile ops on each side of the branches."""
        for branch in self._body.branches:
            sides = branch_sides(branch)
            yield (
                self._branch_ids[branch],
                tuple(tuple(dict.fromkeys(self._ids[op] for op in side if op in self._ids)) for side in sides),
            )

    def _name_operations(self) -> dict[Operation, str]:
        """The id of the tile op that each operation of the text stands for or is part of."""
        own: dict[Operation, str] = {}
        for op in self._body.operations:
            own[op] = self._next_id(op.name)
        self._branch_ids = {op: own[op] for op in self._body.branches}
        ids = {op: id_ for op, id_ in own.items() if self._roles[op] is BodyRole.TILE}
        ids |= {multiply: own[user] for multiply, user in self._absorbed.items()}
        for op in self._body.operations:
            load = op.operands[0].producer if is_landing(self._body, op) else None
            if load is not None:
                ids[op] = own[load]
        return {op: ids[op] for op in self._body.operations if op in ids}

    def _next_id(self, name: str) -> str:
        short = name.rpartition(".")[2]
        self._count[short] += 1
        return f"{short}.{self._count[short] - 1}"

    def _add(self, op: Operation, multiply: Operation | None) -> None:
        """Adds the tile op of `op`, with a multiplication that became one with it."""
        body = self._body
        operands: list[Operand] = []
        for operation in (multiply, op) if multiply is not None else (op,):
            for position, value in enumerate(operation.operands):
                if multiply is None or value.producer is not multiply:
                    operands += self._operands(operation, position, value)
        operands += self._conditions(op)
        if category_of(op) is Category.LOOP:
            operands += self._read_inside(op)
        landings = [user for result in op.results for user in body.users.get(result, ()) if is_landing(body, user)]
        multiplied = operand_tiles(body, multiply) if multiply is not None else ()
        tile_op = TileOp(
            id=self._ids[op],
            kind=op.name,
            category=category_of(op),
            line=op.name_span.line,
            operations=(op, *((multiply,) if multiply is not None else ()), *landings),
            extents=extents(body, op),
            results=result_tiles(body, op),
            result_axes=result_axes(body, op),
            tiles=(*multiplied, *operand_tiles(body, op)),
            operands=tuple(dict.fromkeys(operands)),
            combiner=_combiner(op),
        )
        self._ops[tile_op.id] = tile_op
        if op in self._reads:
            self._add_read(op, tile_op)

    def _operands(self, op: Operation, position: int, value: Value) -> Iterator[Operand]:
        body = self._body
        axes = operand_axes(body, op, position)
        if body.is_buffer(value):
            dimensions = self._buffer_dimensions(value)
            for flow in self._flows.get((op, value), ()):
                role = Role.ACCUMULATOR if flow.update else Role.DATA
                along = source_axes(dimensions, axes, self._rank(flow.writer))
                yield Operand(self._ids[flow.writer], flow.distance, role, along)
            return
        role = self._role(op, position)
        if role is None:
            return
        for origin in self._origins.of(value, as_address=role is Role.ADDRESS):
            if origin.operation is not None:
                source = self._reads.get(origin.operation, self._ids[origin.operation])
                along = source_axes(origin.dimensions, axes, self._rank(origin.operation))
                yield Operand(source, origin.distance, role, along)
            elif role is not Role.ADDRESS:
                yield from self._kept_in_registers(self._ids[op], origin, axes)

    def _read_inside(self, loop: Operation) -> Iterator[Operand]:
        """What the body of an inner loop takes from outside it, besides its operands."""
        blocks = [block for nested in loop.walk() for region in nested.regions for block in region.blocks]
        inside = {result for block in blocks for nested in block.operations for result in nested.results}
        inside |= {argument for block in blocks for argument in block.arguments}
        for value in dict.fromkeys(values_read(loop)):
            if value in inside or value in loop.operands:
                continue
            if self._body.is_buffer(value):
                for flow in self._flows.get((loop, value), ()):
                    role = Role.ACCUMULATOR if flow.update else Role.DATA
                    yield Operand(self._ids[flow.writer], flow.distance, role)
                continue
            role = Role.ADDRESS if self._body.tile(value) is None else Role.DATA
            for origin in self._origins.of(value, as_address=role is Role.ADDRESS):
                if origin.operation is not None:
                    source = self._reads.get(origin.operation, self._ids[origin.operation])
                    yield Operand(source, origin.distance, role)

    def _conditions(self, op: Operation) -> Iterator[Operand]:
        """What decides whether the op runs at all."""
        for branch in self._body.branches:
            if any(op in side for side in branch_sides(branch)):
                for origin in self._origins.of(branch.operands[0], as_address=True):
                    if origin.operation is not None:
                        source = self._reads.get(origin.operation, self._ids[origin.operation])
                        yield Operand(source, origin.distance, Role.ADDRESS)

    def _role(self, op: Operation, position: int) -> Role | None:
        """How the op uses a register operand; None if it does not."""
        if position not in data_positions(op):
            return Role.ADDRESS
        if category_of(op) is Category.MATRIX and position == _ACCUMULATOR:
            flag = accumulate_flag(self._body, op)
            settled = [self._constants.value(flag, iteration) for iteration in range(_STEADY)] if flag else [1]
            return None if settled[-1] == 0 else Role.ACCUMULATOR
        return Role.DATA

    def _rank(self, op: Operation) -> int:
        results = result_tiles(self._body, op)
        return len(results[0].shape) if results else 0

    def _buffer_dimensions(self, buffer: Value) -> tuple[int | None, ...]:
        """The dimension of the buffer's tile along each dimension of a view of it."""
        body = self._body
        tile = body.tile(buffer)
        dimensions: tuple[int | None, ...] = tuple(range(len(tile.shape))) if tile is not None else ()
        seen: set[Value] = set()
        while buffer not in seen:
            seen.add(buffer)
            op = buffer.producer
            if buffer in body.carried:
                buffer = body.next(buffer)
            elif op is not None and self._roles.get(op) is BodyRole.VIEW and not is_landing(body, op):
                dimensions = through(dimensions, viewed_dimensions(body, op, buffer))
                buffer = viewed(op, buffer)
        return dimensions

    def _kept_in_registers(self, reader: str, origin: Origin, axes: tuple[int | None, ...]) -> Iterator[Operand]:
        """A tile from before the loop: an op of its own for each reader, which keeps its registers."""
        kept = self._origins.kept(origin.value)
        if kept is None:
            return
        value, tile = kept
        producer = value.producer
        line = (producer.name_span if producer is not None else value.span).line
        same = self._body.tile(origin.value) == tile
        kept_axes = source_axes(origin.dimensions, axes, len(tile.shape)) if same else (None,) * len(tile.shape)
        if (reader, value) not in self._kept:
            self._kept[reader, value] = self._add_invariant(value.name, tile, line, producer)
        yield Operand(self._kept[reader, value], 0, Role.DATA, kept_axes)

    def _add_invariant(self, kind: str, tile: Tile, line: int, producer: Operation | None) -> str:
        id_ = self._next_id("before")
        self._ops[id_] = TileOp(
            id=id_,
            kind=kind,
            category=Category.INVARIANT,
            line=line,
            operations=(producer,) if producer is not None else (),
            extents=tile.shape,
            results=(tile,),
            result_axes=tuple(range(len(tile.shape))),
        )
        return id_

    def _is_read(self, op: Operation) -> bool:
        """Whether a tile that lands in shared memory has readers in registers."""
        body = self._body
        if self._roles[op] is not BodyRole.TILE or not lands_in_shared_memory(body, op):
            return False
        result = op.results[0]
        return result in body.yielded or any(not is_landing(body, user) for user in body.users.get(result, ()))

    def _add_read(self, load: Operation, tile_op: TileOp) -> None:
        """The copy from shared memory into registers that a load's readers in registers wait for."""
        tile = replace(tile_op.results[0], space=Space.REGISTERS)
        axes = tile_op.result_axes
        id_ = self._reads[load]
        self._ops[id_] = TileOp(
            id=id_,
            kind="ttg.local_load",
            category=Category.MOVE,
            line=tile_op.line,
            operations=(load,),
            extents=tile.shape,
            results=(tile,),
            result_axes=axes,
            tiles=(tile_op.results[0],),
            operands=(Operand(tile_op.id, 0, Role.DATA, axes),),
        )

    def _mark(self, rescale: Rescale) -> None:
        """A rescale runs in pieces, and its store puts the new value where the old one is."""
        for id_ in (rescale.load, rescale.arithmetic):
            self._ops[id_] = replace(self._ops[id_], in_pieces=True)
        load, store = self._ops[rescale.load], self._ops[rescale.store]
        old = tuple(replace(operand, role=Role.REPLACED) for operand in load.operands if operand.role is Role.DATA)
        self._ops[rescale.store] = replace(store, operands=(*store.operands, *old))

    def _keep_tensor_memory(self) -> None:
        """Buffers of tensor memory that the loop only reads keep their columns: one op for each."""
        kept: dict[Value, str] = {}
        for event, root in self._memory.untouched:
            tile = self._body.tile(root)
            if tile is None or tile.space is not Space.TENSOR:
                continue
            if root not in kept:
                producer = root.producer
                line = (producer.name_span if producer is not None else root.span).line
                kept[root] = self._add_invariant(root.name, tile, line, producer)
            reader = self._ops[self._ids[event.operation]]
            operand = Operand(kept[root], 0, Role.DATA, (None,) * len(tile.shape))
            self._ops[reader.id] = replace(reader, operands=(*reader.operands, operand))

    def _kept_tiles(self) -> Iterator[KeptTile]:
        roots = dict.fromkeys(root for _, root in self._memory.untouched)
        for root in roots:
            tile = self._body.tile(root)
            if tile is not None and tile.space is Space.SHARED:
                producer = root.producer
                line = (producer.name_span if producer is not None else root.span).line
                yield KeptTile(root.name, tile.bytes, line)

    def _barrier_orders(self) -> Iterator[Order]:
        """Accesses to shared memory stay on their side of a barrier of the whole block."""
        position = self._body.position
        touching = {event.operation for event in self._events}
        for barrier in (op for op in self._body.operations if op.name in BARRIERS):
            for op in touching:
                before = position[op] < position[barrier]
                yield Order(self._ids[op], self._ids[barrier], 0 if before else 1, DependenceKind.ORDER)
                yield Order(self._ids[barrier], self._ids[op], 1 if before else 0, DependenceKind.ORDER)


def _contractions(body: Body, roles: dict[Operation, BodyRole]) -> dict[Operation, Operation]:
    """Multiplications that are one multiply-add with their only user, an addition or subtraction of the same shape."""
    absorbed: dict[Operation, Operation] = {}
    taken: set[Operation] = set()
    for op in body.operations:
        if op.name != "arith.mulf" or roles[op] is not BodyRole.TILE or op.results[0] in body.yielded:
            continue
        users = body.users.get(op.results[0], [])
        user = users[0] if len(users) == 1 else None
        if user is None or user.name not in ("arith.addf", "arith.subf") or user in taken:
            continue
        if roles[user] is BodyRole.TILE and body.tile(user.results[0]) == body.tile(op.results[0]):
            absorbed[op] = user
            taken.add(user)
    return absorbed


def _combiner(op: Operation) -> tuple[str, ...]:
    """The ops in the region of a reduction, without its terminator."""
    if not op.regions:
        return ()
    return tuple(nested.name for nested in op.walk() if nested is not op and not nested.name.endswith(".return"))
