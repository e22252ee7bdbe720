"""What a role runs outside of scheduled loops, in the order of the text; the loops are put in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.diagnostics import error
from core.export.roles.demand import TMA_LOADS, Demand
from core.export.roles.item_writer import starts_from_zero
from core.export.roles.loaded_tiles import landings, read_in_registers, reads_any, tiles_of
from core.export.roles.model import (
    Argument,
    ArriveFree,
    ArriveFull,
    Base,
    For,
    GroupSync,
    If,
    Induction,
    Instance,
    Issue,
    MmaWait,
    Move,
    Pin,
    Put,
    Register,
    Ring,
    Slot,
    Source,
    Statement,
    Storage,
    StoreWait,
    Take,
    Target,
    WaitFree,
    WaitFull,
    While,
)
from core.export.roles.names import Names
from core.export.roles.pipeline import PipelineWriter
from core.export.roles.places import STORES
from core.export.roles.shared_tiles import SharedTiles
from core.export.roles.storages import ACCUMULATOR
from core.export.roles.turns import TurnPlan
from core.export.roles.walk import walk
from core.ir.model import Block, Operation, Value
from core.ir.operations import is_implied
from core.ir.views import is_buffer_view
from core.ir.vocabulary import MATRIX_OPS


@dataclass(slots=True)
class RoleWriter:
    """Writes one role. `turns`: by loop its turns there; `least`: by loop the least trip count that all roles pipeline.
    `bound`: what the values outside of scheduled loops are on it."""

    role: str
    demand: Demand
    tiles: SharedTiles
    turns: Mapping[Operation, TurnPlan]
    least: Mapping[Operation, int]
    names: Names = field(default_factory=Names)
    bound: dict[Value, Source] = field(default_factory=dict[Value, Source])
    storages: list[Storage] = field(default_factory=list[Storage])

    def write(self) -> list[Statement]:
        """The role's statements."""
        body = self.demand.function.regions[0].blocks[0]
        self.bound |= {argument: Argument(argument) for argument in body.arguments}
        statements = self._block(body)
        if any(isinstance(each, Issue) and each.operation.name in STORES for each in walk(statements)):
            statements.append(StoreWait(0, "the block may end"))
        return statements

    def _wants(self, op: Operation) -> bool:
        return op in self.demand.wanted.get(self.role, ())

    def _block(self, block: Block) -> list[Statement]:
        out: list[Statement] = []
        releases = self._releases(block)
        for op in block.operations:
            out += self._operation(op)
            out += releases.get(op, ())
        return out

    def _releases(self, block: Block) -> dict[Operation, list[Statement]]:
        """Slots that the role gives back, by the operation that is the last to read them."""
        found: dict[Operation, list[Statement]] = {}
        for load, ring in self.tiles.loads.items():
            if load.block is not block or self.role not in ring.consumers or not landings(load):
                continue
            reached = tiles_of(load, self.demand.function)
            last = next(op for op in reversed(block.operations) if reads_any(op, reached))
            found.setdefault(last, []).append(ArriveFree(ring.name, "nothing behind reads it"))
        return found

    def _operation(self, op: Operation) -> Iterator[Statement]:
        if op in self.demand.plans:
            if self._wants(op):
                yield from self._pipeline(op)
        elif op.name in TMA_LOADS:
            yield from self._load(op)
        elif self._wants(op):
            yield from self._wanted(op)
        for result in op.results:
            ring = self.tiles.hand_offs.get(result)
            if ring is not None:
                yield from self._hand_off(result, ring)

    def _wanted(self, op: Operation) -> Iterator[Statement]:
        if op.name == "scf.for":
            yield from self._for(op)
        elif op.name == "scf.if":
            yield from self._if(op)
        elif op.name == "scf.while":
            yield from self._while(op)
        elif not is_implied(op) and not op.name.endswith((".return", ".yield")):
            yield from self._issue(op)

    def source(self, value: Value, via: tuple[Operation, ...] = ()) -> Source:
        """What a value from outside of scheduled loops is on this role."""
        views: list[Operation] = []
        while value not in self.bound and value.producer is not None and is_buffer_view(value.producer):
            views.append(value.producer)
            value = value.producer.operands[0]
        found = self.bound.get(value)
        if found is None:
            raise self._unsupported(f"the value {value.name} on role {self.role}", value.producer)
        if isinstance(found, Slot):
            return Slot(found.ring, found.behind, (*found.via, *reversed(views), *via))
        return found

    def _hand_off(self, value: Value, ring: Ring) -> Iterator[Statement]:
        if ring.producer == self.role:
            source = self.source(value)
            assert isinstance(source, Register)  # only register values are handed over so
            yield WaitFree(ring.name, "the slot is free again")
            yield Put(Slot(ring.name), source)
            yield ArriveFull(ring.name)
        elif self.role in ring.consumers:
            name = self._local(value)
            yield WaitFull(ring.name, f"{ring.producer} hands it over")
            yield Take(Register(name), Slot(ring.name))
            yield ArriveFree(ring.name, "it is in registers")

    def _load(self, op: Operation) -> Iterator[Statement]:
        ring = self.tiles.loads.get(op)
        if ring is None:
            return
        if ring.producer == self.role:
            yield WaitFree(ring.name, "the slot is free again")
            yield Issue(op, self._reads(op), (Slot(ring.name),))
        if self.role in ring.consumers:
            yield WaitFull(ring.name, "the tile has arrived")
            into = landings(op)
            for landing in into:
                self.bound[landing.results[0]] = Slot(ring.name)
            if not into or read_in_registers(op, self.demand.function, into):
                yield Take(Register(self._local(op.results[0])), Slot(ring.name))
            if not into:
                yield ArriveFree(ring.name, "it is in registers")

    def _local(self, value: Value) -> str:
        name = self.names.of(value)
        self.bound[value] = Register(name)
        return name

    def _stored(self, value: Value) -> Register:
        """A storage for a value that is set in several places."""
        name = self.names.of(value)
        if all(storage.name != name for storage in self.storages):
            self.storages.append(Storage(name, value))
        self.bound[value] = Register(name)
        return Register(name)

    def _reads(self, op: Operation) -> tuple[Source | None, ...]:
        return tuple(None if value.type == "!ttg.async.token" else self.source(value) for value in op.operands)

    def _issue(self, op: Operation) -> Iterator[Statement]:
        own = self.tiles.own.get((self.role, op))
        if is_buffer_view(op) and op.operands and isinstance(self.bound.get(op.operands[0]), Slot):
            return
        if op in self.demand.loops or op.name in MATRIX_OPS:
            yield from self._matrix(op)
            return
        if op.name == "ttg.local_alloc" and op.results[0] in self.bound:
            return  # a TMA load puts its tile there
        reads = self._reads(op)
        if own is not None:
            if op.operands:
                yield GroupSync(why="all warps have read the slot")
                yield Issue(op, reads, (Slot(own.name),))
                yield GroupSync(fence=True, why="the tile is there for all warps and for the tensor core")
            self.bound[op.results[0]] = Slot(own.name)
            return
        if op.name in STORES:
            yield StoreWait(0, "the staging tile is free again")
        stores = op.name == "ttg.local_store"
        if stores:
            yield GroupSync(why="all warps have read the slot")
        targets: tuple[Target, ...] = tuple(Register(self._local(result)) for result in op.results)
        yield Issue(op, reads, targets)
        if stores:
            yield GroupSync(fence=True, why="the tile is there for all warps and for the tensor core")

    def _matrix(self, op: Operation) -> Iterator[Statement]:
        """In program order: one group, and a wait for it."""
        reads = list(self._reads(op))
        result = self._stored(op.results[0])
        if len(reads) > ACCUMULATOR:
            accumulator = reads[ACCUMULATOR]
            if starts_from_zero(op.operands[ACCUMULATOR]):
                reads[ACCUMULATOR] = None
            elif accumulator is not None and accumulator != result:
                yield Move(result, accumulator)
                reads[ACCUMULATOR] = result
        yield Pin((result.name,))
        yield Issue(op, tuple(reads), (result,))
        yield MmaWait(0, "in the order of the text")
        yield Pin((result.name,))

    def _pipeline(self, op: Operation) -> Iterator[Statement]:
        plan = self.demand.plans[op]
        for argument, initial in zip(plan.loop.arguments, plan.loop.initial, strict=True):
            if plan.body.next(argument) is argument and initial in self.bound:
                self.bound[argument] = self.bound[initial]
        for inside in plan.loop.body.operations:
            if self._wants(inside):
                yield from self._wanted(inside)
        loop_role = self.demand.loop_roles[op, self.role]
        turn, least = self.turns.get(op), self.least[op]
        writer = PipelineWriter(loop_role, self.names, self.tiles.in_loops, self.source, turn, least)
        self.storages += writer.storages.declared
        moved: dict[int, str] = {}
        for index in loop_role.results:
            storage = writer.result_storage(index)
            if storage is None:
                moved[index] = self._stored(op.results[index]).name
            else:
                self.bound[op.results[index]] = Register(storage)
        yield writer.write(moved)

    def _for(self, op: Operation) -> Iterator[Statement]:
        loop = self.demand.loops[op]
        bounds = (self.source(op.operands[0]), self.source(op.operands[1]), self.source(op.operands[2]))
        carried = [
            (argument, loop.initial[index], loop.yielded[index])
            for index, argument in enumerate(loop.arguments)
            if self.demand.is_wanted(self.role, argument)
        ]
        for argument, initial, _ in carried:
            source = self.source(initial)
            if isinstance(source, Slot):
                raise self._unsupported("a buffer that goes from iteration to iteration", op)
            yield Move(self._stored(argument), source)
        if loop.induction is not None:
            self.bound[loop.induction] = Induction(loop, Instance(Base.STEADY, 0))
        body = self._block(loop.body)
        body += self._assign([(argument, self.source(next_)) for argument, _, next_ in carried])
        yield For(loop, bounds, tuple(body))
        for index, argument in enumerate(loop.arguments):
            if argument in self.bound:
                self.bound[op.results[index]] = self.bound[argument]

    def _assign(self, moves: Sequence[tuple[Value, Source]]) -> Iterator[Statement]:
        """Sets storages at once: what is still to be read is kept aside."""
        targets = {Register(self.names.of(value)) for value, _ in moves}
        moves = [(value, source) for value, source in moves if source != Register(self.names.of(value))]
        if any(source in targets for _, source in moves):
            aside: list[tuple[Value, Source]] = []
            for value, source in moves:
                name = self.names.fresh(value)
                self.storages.append(Storage(name, value))
                yield Move(Register(name), source)
                aside.append((value, Register(name)))
            moves = aside
        for value, source in moves:
            yield Move(Register(self.names.of(value)), source)

    def _if(self, op: Operation) -> Iterator[Statement]:
        wanted = [result for result in op.results if self.demand.is_wanted(self.role, result)]
        condition = self.source(op.operands[0])
        sides: list[tuple[Statement, ...]] = []
        for region in op.regions:
            statements: list[Statement] = []
            for block in region.blocks:
                statements += self._block(block)
                for result in wanted:
                    source = self.source(block.operations[-1].operands[result.index])
                    statements.append(Move(self._stored(result), source))
            sides.append(tuple(statements))
        sides += [()] * (2 - len(sides))
        yield If(op, condition, sides[0], sides[1])

    def _while(self, op: Operation) -> Iterator[Statement]:
        before, behind = op.regions[0].blocks[0], op.regions[1].blocks[0]
        for argument, initial in zip(before.arguments, op.operands, strict=True):
            yield Move(self._stored(argument), self.source(initial))
        deciding = self._block(before)
        decision = before.operations[-1]
        for argument, result, value in zip(behind.arguments, op.results, decision.operands[1:], strict=True):
            source = self.source(value)
            deciding.append(Move(self._stored(argument), source))
            self.bound[result] = Register(self.names.of(argument))
        condition = self.source(decision.operands[0])
        body = self._block(behind)
        following = zip(before.arguments, behind.operations[-1].operands, strict=True)
        body += self._assign([(argument, self.source(value)) for argument, value in following])
        yield While(op, tuple(deciding), condition, tuple(body))

    def _unsupported(self, why: str, op: Operation | None) -> Exception:
        line = (op or self.demand.function).name_span.line
        return error("cannot-export", f"no role program: {why}", file=self.demand.module.file, line=line)
