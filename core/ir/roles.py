"""Which operations of a body are ops of the schedule, and which cost nothing: views, address arithmetic, waits."""

from __future__ import annotations

from enum import Enum

from core.ir.body import Body
from core.ir.model import Operation, Value
from core.ir.operations import ALLOCATIONS, data_positions, is_implied, is_pure
from core.ir.types import TensorType
from core.ir.views import is_view, viewed
from core.ir.vocabulary import BRANCH


class BodyRole(Enum):
    """TILE: an op of the schedule. VIEW: looks at a value in another way. DUPLICATED: scalars, addresses, offsets and
    masks that every group computes for itself. IMPLIED: waits and signals that the dependences stand for.
    INVARIANT: computes the same in every iteration, so it is done before the loop. MERGE: an `scf.if`, which hands on
    what one of its sides made."""

    TILE = "tile"
    VIEW = "view"
    DUPLICATED = "duplicated"
    IMPLIED = "implied"
    INVARIANT = "invariant"
    MERGE = "merge"


def body_roles(body: Body) -> dict[Operation, BodyRole]:
    """The role of each operation of the body."""
    needed = _needed_as_data(body)
    roles: dict[Operation, BodyRole] = {}
    for op in body.operations:
        if op.name == BRANCH:
            roles[op] = BodyRole.MERGE
        elif is_implied(op):
            roles[op] = BodyRole.IMPLIED
        elif is_view(body, op):
            roles[op] = BodyRole.VIEW
        elif _is_invariant(body, op, roles):
            roles[op] = BodyRole.INVARIANT
        elif is_pure(op) and (op not in needed or not any(body.tile(result) for result in op.results)):
            roles[op] = BodyRole.DUPLICATED
        else:
            roles[op] = BodyRole.TILE
    return roles


def _is_invariant(body: Body, op: Operation, roles: dict[Operation, BodyRole]) -> bool:
    """Pure ops, and copies into fresh buffers, of values that do not change with the iteration."""
    if not (is_pure(op) or op.name in ALLOCATIONS or op.name == "ttg.convert_layout"):
        return False
    return all(_does_not_change(body, operand, roles) for operand in op.operands)


def _does_not_change(body: Body, value: Value, roles: dict[Operation, BodyRole]) -> bool:
    if value in body.carried:
        return body.next(value) is value
    if value is body.loop.induction:
        return False
    op = value.producer
    if op is None or op not in body.position:
        return True
    role = roles[op]
    return role is BodyRole.INVARIANT or (
        role is BodyRole.VIEW and all(_does_not_change(body, operand, roles) for operand in op.operands)
    )


def _needed_as_data(body: Body) -> set[Operation]:
    """The pure ops whose results are more than addresses and masks of loads, stores and atomics."""
    pending: list[Value] = []
    for op in body.operations:
        if op.name != BRANCH and not is_pure(op) and not is_implied(op) and not is_view(body, op):
            pending += [op.operands[position] for position in data_positions(op)]
    used_after = _used_after(body)
    for index, value in enumerate(body.loop.yielded):
        type_ = body.type(value)
        if isinstance(type_, TensorType) and body.loop.operation.results[index] in used_after:
            pending.append(value)
    needed: set[Operation] = set()
    seen: set[Value] = set()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.producer
        if value in body.carried:
            pending.append(body.next(value))
        elif op in body.position:
            if op.name == BRANCH:
                pending += body.merged(value)
            elif is_pure(op):
                needed.add(op)
                pending += op.operands
            elif is_view(body, op):
                pending.append(viewed(op, value))
    return needed


def _used_after(body: Body) -> set[Value]:
    """Values that operations behind the loop in its block use."""
    block = body.loop.operation.block
    if block is None:
        return set()
    behind = block.operations[block.operations.index(body.loop.operation) + 1 :]
    return {value for op in behind for nested in op.walk() for value in nested.operands}
