"""A function in program order as a role program of one role: every operation waits for what it needs.

For functions without a schedule: no loop of theirs is pipelined, and all warps of the module run all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.export.cuda.holds import default_encoding, view_bytes
from core.export.roles.model import (
    Argument,
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
    Register,
    Ring,
    RingKind,
    Role,
    RoleProgram,
    Slot,
    Source,
    Statement,
    Storage,
    Take,
    WaitFull,
    While,
)
from core.ir.model import Block, Loop, Module, Operation, Value
from core.ir.operations import is_pure
from core.ir.types import MemDescType, TensorType, TokenType, parse_type

ROLE = "compute"
"""The name of the role."""

_LOADS = ("tt.descriptor_load", "tt.experimental_descriptor_load")
_MMA = "ttng.warp_group_dot"


def straight_program(module: Module, function: Operation) -> RoleProgram:
    """The role program of a function whose ops run one after another."""
    warps = int(module.attributes.get("ttg.num-warps", "4").split()[0])
    writer = _Straight(module, {loop.operation: loop for loop in module.loops})
    block = function.regions[0].blocks[0]
    for value in block.arguments:
        writer.sources[value] = Argument(value)
    writer.block(block)
    role = Role(ROLE, ROLE, warps, 0, 0, 1, tuple(writer.storages), tuple(writer.statements))
    return RoleProgram(module, function, 32 * warps, (role,), writer.rings)


@dataclass(slots=True)
class _Straight:
    module: Module
    loops: dict[Operation, Loop]
    sources: dict[Value, Source] = field(default_factory=dict[Value, Source])
    storages: list[Storage] = field(default_factory=list[Storage])
    rings: dict[str, Ring] = field(default_factory=dict[str, Ring])
    statements: list[Statement] = field(default_factory=list[Statement])
    names: dict[str, int] = field(default_factory=dict[str, int])

    def block(self, block: Block) -> None:
        """The statements of a block without its terminator."""
        for op in block.operations:
            self._operation(op)

    def _operation(self, op: Operation) -> None:
        if op.name in ("tt.return", "scf.yield", "scf.condition"):
            return
        if op.name == "scf.for":
            self._for(op)
        elif op.name == "scf.while":
            self._while(op)
        elif op.name == "scf.if":
            self._if(op)
        elif op.name in _LOADS:
            self._descriptor_load(op)
        elif op.name == "ttg.local_alloc" and op.operands:
            self._local_alloc(op)
        elif op.name == "ttg.memdesc_trans":
            source = self.sources[op.operands[0]]
            if isinstance(source, Slot):
                self.sources[op.results[0]] = Slot(source.ring, source.behind, (*source.via, op))
        elif op.name == _MMA:
            self._matrix(op)
        elif not (is_pure(op) and not any(self._used(result) for result in op.results)):
            self._issue(op)

    # ---- helpers

    def _fresh(self, name: str) -> str:
        count = self.names[name] = self.names.get(name, 0) + 1
        return name if count == 1 else f"{name}.{count}"

    def _type(self, value: Value):
        return parse_type(value.type, self.module.aliases)

    def _storage(self, value: Value, name: str | None = None) -> Register:
        storage = Storage(self._fresh((name or value.name)[1:]), value)
        self.storages.append(storage)
        return Register(storage.name)

    def _users(self, value: Value) -> list[Operation]:
        function = self.module.operation
        return [op for op in function.walk() if value in op.operands]

    def _used(self, value: Value) -> bool:
        return any(
            user.name != _MMA or not _is_zero(value) or user.operands[2] is not value for user in self._users(value)
        )

    def _reads(self, op: Operation) -> tuple[Source | None, ...]:
        return tuple(self.sources.get(value) for value in op.operands)

    def _issue(self, op: Operation) -> None:
        reads = self._reads(op)
        writes: list[Register | None] = []
        for result in op.results:
            if isinstance(self._type(result), TokenType) or not self._users(result):
                writes.append(None)
                continue
            register = Register(self._fresh(result.name[1:]))
            self.sources[result] = register
            writes.append(register)
        self.statements.append(Issue(op, reads, tuple(writes)))

    def _matrix(self, op: Operation) -> None:
        """The accumulator is updated where the result will be."""
        register = self._storage(op.results[0])
        reads = list(self._reads(op))
        if _is_zero(op.operands[2]):
            reads[2] = None
        else:
            source = self.sources[op.operands[2]]
            self.statements.append(Move(register, source))
            reads[2] = register
        self.sources[op.results[0]] = register
        self.statements.append(Issue(op, tuple(reads), (register,)))
        self.statements += [MmaWait(0, "program order"), Pin((register.name,))]

    # ---- shared memory

    def _ring(self, value: Value, kind: RingKind) -> Slot:
        type_ = self._type(value)
        size = 0
        if isinstance(type_, MemDescType | TensorType):
            size = view_bytes(type_.element, type_.shape, default_encoding(type_.element, type_.shape))
        name = self._fresh(f"tile_{value.name[1:]}")
        full = 1 if kind is RingKind.TMA else 0
        self.rings[name] = Ring(name, value, 1, size, kind, ROLE, (ROLE,), full, 0, "program order")
        return Slot(name)

    def _descriptor_load(self, op: Operation) -> None:
        """Into shared memory; also into registers, if an op wants it there."""
        result = op.results[0]
        users = self._users(result)
        landings = [user for user in users if user.name == "ttg.local_alloc"]
        tile = landings[0].results[0] if landings else result
        slot = self._ring(tile, RingKind.TMA)
        self.statements += [
            GroupSync(fence=True, why="all threads have read what was in the tile"),
            Issue(op, self._reads(op), (slot,)),
            WaitFull(slot.ring, "program order"),
        ]
        if landings:
            self.sources[tile] = slot
        if len(users) > len(landings) or not landings or len(landings) > 1:
            register = self._storage(result)
            self.statements.append(Take(register, slot))
            self.sources[result] = register

    def _local_alloc(self, op: Operation) -> None:
        result = op.results[0]
        if result in self.sources:
            return
        slot = self._ring(result, RingKind.OWN)
        self.statements += [
            GroupSync(why="all threads have read what was in the tile"),
            Issue(op, self._reads(op), (slot,)),
            GroupSync(fence=True, why="all threads have written the tile"),
        ]
        self.sources[result] = slot

    # ---- control flow

    def _inside(self, blocks: Sequence[Block]) -> list[Statement]:
        """The statements of blocks on their own."""
        outside, self.statements = self.statements, []
        for block in blocks:
            self.block(block)
        inside, self.statements = self.statements, outside
        return inside

    def _moves(self, targets: Sequence[Register], values: Sequence[Value]) -> list[Statement]:
        """Parallel moves: what a later one still reads is saved first."""
        found: list[Statement] = []
        pairs = [(target, self.sources[value], value) for target, value in zip(targets, values, strict=True)]
        pairs = [pair for pair in pairs if pair[0] != pair[1]]
        written: set[Source] = {target for target, _, _ in pairs}
        for target, source, value in pairs:
            if isinstance(source, Register) and source in written:
                saved = self._storage(value, f"%{source.name}_before")
                found.append(Move(saved, source))
                pairs = [(t, saved if s == source and t == target else s, v) for t, s, v in pairs]
        return found + [Move(target, source) for target, source, _ in pairs]

    def _for(self, op: Operation) -> None:
        loop = self.loops[op]
        registers = [self._storage(value) for value in loop.arguments]
        self.statements += self._moves(registers, loop.initial)
        bounds = tuple(self.sources[value] for value in loop.bounds)
        for value, register in zip(loop.arguments, registers, strict=True):
            self.sources[value] = register
        if loop.induction is not None:
            self.sources[loop.induction] = Induction(loop, Instance(Base.STEADY))
        body = self._inside([loop.body])
        body += self._moves(registers, loop.yielded)
        self.statements.append(For(loop, (bounds[0], bounds[1], bounds[2]), tuple(body)))
        for result, register in zip(op.results, registers, strict=True):
            self.sources[result] = register

    def _while(self, op: Operation) -> None:
        before, after = (region.blocks[0] for region in op.regions)
        registers = [self._storage(value) for value in before.arguments]
        passed = [self._storage(value) for value in after.arguments]
        self.statements += self._moves(registers, op.operands)
        self.sources |= dict(zip(before.arguments, registers, strict=True))
        self.sources |= dict(zip(after.arguments, passed, strict=True))
        first = self._inside([before])
        condition, *values = before.operations[-1].operands
        test = self._storage(condition, "%condition")
        first += [Move(test, self.sources[condition]), *self._moves(passed, values)]
        second = self._inside([after])
        second += self._moves(registers, after.operations[-1].operands)
        self.statements.append(While(op, tuple(first), test, tuple(second)))
        self.sources |= dict(zip(op.results, passed, strict=True))

    def _if(self, op: Operation) -> None:
        registers = [self._storage(value) for value in op.results]
        sides: list[tuple[Statement, ...]] = []
        for region in op.regions:
            side = self._inside(region.blocks)
            side += self._moves(registers, region.blocks[0].operations[-1].operands if registers else ())
            sides.append(tuple(side))
        otherwise = sides[1] if len(sides) > 1 else ()
        self.statements.append(If(op, self.sources[op.operands[0]], sides[0], otherwise))
        self.sources |= dict(zip(op.results, registers, strict=True))


def _is_zero(value: Value) -> bool:
    op = value.producer
    return (
        op is not None
        and op.name == "arith.constant"
        and (op.attributes.get("value") or op.text_arguments).strip().startswith("dense<0.0")
    )
