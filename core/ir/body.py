"""A loop's body as the tile-op builder reads it: its operations, who uses what, and the tiles of its values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from core.diagnostics import InputError, error
from core.graph.model import Space
from core.ir.layouts import shape_in_block, vector_copies
from core.ir.loops import obstacle
from core.ir.model import Loop, Module, Operation, Value
from core.ir.operations import least_operands
from core.ir.tiles import Tile
from core.ir.types import MemDescType, PointerType, ScalarType, TensorType, Type, parse_type
from core.ir.vocabulary import BRANCH, CALL_OPS

BARRIER_ELEMENT = "i64"
"""Element of the buffers that hold mbarriers; no tile is stored in such a buffer."""


class Body:
    """The operations of an `scf.for` body without its terminator.

    `reduce_branches`: those of both sides of an `scf.if` stand before it, as if both ran, and the `scf.if` itself only
    hands their values on (`merged`). `blocks`: loops inside that are an op of this one each. A call is kept as an op
    that nothing is known of. Raises InputError for another kind of loop, for other control flow in the body, and for
    ops that lack operands.
    """

    def __init__(
        self, module: Module, loop: Loop, *, reduce_branches: bool = False, blocks: Collection[Loop] = ()
    ) -> None:
        self.module, self.loop = module, loop
        found = obstacle(loop, reduce_branches=reduce_branches, blocks=blocks)
        if found is not None and found[1].name not in CALL_OPS:
            raise _refusal(module, *found)
        for op in module.operation.walk():
            if len(op.operands) < least_operands(op):
                raise _malformed(module, op)
        self.branches = [op for op in loop.body.operations if op.name == BRANCH]
        self.operations = list(_in_line(loop.body.operations))
        self.position = {op: index for index, op in enumerate(self.operations)}
        self.carried = {value: index for index, value in enumerate(loop.arguments)}
        self.users: dict[Value, list[Operation]] = {}
        for op in self.operations:
            for value in values_read(op):
                self.users.setdefault(value, []).append(op)
        self.yielded: dict[Value, list[int]] = {}
        for index, value in enumerate(loop.yielded):
            self.yielded.setdefault(value, []).append(index)
        self._types: dict[str, Type] = {}
        self._tiles: dict[str, Tile | None] = {}

    def merged(self, value: Value) -> list[Value]:
        """The values of which a branch's result is one."""
        branch = value.producer
        if branch is None:
            return []
        return [side[-1].operands[value.index] for side in branch_sides(branch) if side]

    def has(self, value: Value) -> bool:
        """Whether an operation of the body makes the value."""
        return value.producer is not None and value.producer in self.position

    def initial(self, argument: Value) -> Value:
        """What a carried argument holds in the first iteration."""
        return self.loop.initial[self.carried[argument]]

    def next(self, argument: Value) -> Value:
        """What a carried argument holds in every later iteration, as the value of the one before."""
        return self.loop.yielded[self.carried[argument]]

    def type(self, value: Value) -> Type:
        """The value's type."""
        found = self._types.get(value.type)
        if found is None:
            found = self._types[value.type] = parse_type(value.type, self.module.aliases)
        return found

    def tile(self, value: Value) -> Tile | None:
        """The value as a tile: a tensor of numbers, or a buffer that holds one. Pointers, scalars, barriers: None."""
        if value.type not in self._tiles:
            self._tiles[value.type] = self._tile(self.type(value))
        return self._tiles[value.type]

    def _tile(self, type_: Type) -> Tile | None:
        if isinstance(type_, TensorType) and not type_.element.startswith("!tt.ptr"):
            copies = vector_copies(type_.encoding, self.module.aliases) if len(type_.shape) == 1 else 1
            return Tile(self._shape(type_), type_.element, Space.REGISTERS, copies)
        if isinstance(type_, MemDescType) and type_.element != BARRIER_ELEMENT:
            space = Space.TENSOR if "tensor_memory" in type_.memory_space else Space.SHARED
            return Tile(self._shape(type_), type_.element, space)
        return None

    def _shape(self, type_: TensorType | MemDescType) -> tuple[int, ...]:
        """What one block has of a tile: a graph is of one SM."""
        alone = self.module.attributes.get("ttg.num-ctas", "1").split()[0] == "1"
        return type_.shape if alone else shape_in_block(type_.shape, type_.encoding, self.module.aliases)

    def is_buffer(self, value: Value) -> bool:
        """Whether the value is a buffer of shared or tensor memory."""
        return isinstance(self.type(value), MemDescType)

    def is_scalar(self, value: Value) -> bool:
        """Whether the value is one number or pointer."""
        return isinstance(self.type(value), ScalarType | PointerType)


def branch_sides(branch: Operation) -> list[list[Operation]]:
    """The operations of each side of an `scf.if`, its terminator last."""
    return [[op for block in region.blocks for op in block.operations] for region in branch.regions]


def _in_line(operations: Iterable[Operation]) -> Iterator[Operation]:
    for op in operations:
        if op.name == BRANCH:
            for side in branch_sides(op):
                yield from _in_line(side)
        if op.name != "scf.yield":
            yield op


def values_read(op: Operation) -> list[Value]:
    """Operands of the op and of what is nested in it; of a branch, whose sides stand by themselves, what it merges."""
    if op.name == BRANCH:
        return [*op.operands, *(value for side in branch_sides(op) if side for value in side[-1].operands)]
    if not op.regions:
        return list(op.operands)
    return [value for nested in op.walk() for value in nested.operands]


def _refusal(module: Module, why: str, op: Operation) -> InputError:
    return error(
        "not-schedulable",
        f"the loop cannot be scheduled: {why}",
        file=module.file,
        line=op.name_span.line,
        column=op.name_span.column,
    )


def _malformed(module: Module, op: Operation) -> InputError:
    return error(
        "missing-operands",
        f"{op.name} has {len(op.operands)} operands, at least {least_operands(op)} are wanted",
        file=module.file,
        line=op.name_span.line,
        column=op.name_span.column,
    )
