"""The accesses of a body's ops to buffers of shared and tensor memory, in program order."""

from __future__ import annotations

from collections.abc import Mapping

from core.ir.body import Body, values_read
from core.ir.memory import Access, Event
from core.ir.model import Operation, Value
from core.ir.operations import ALLOCATIONS, TENSOR_CORE_5, category_of
from core.ir.roles import BodyRole
from core.ir.tiles import Category
from core.ir.types import MemDescType, TokenType
from core.ir.views import is_landing

_STORES = frozenset({"ttng.tmem_store", "ttg.local_store", "ttng.tmem_copy"})


def accesses(body: Body, roles: Mapping[Operation, BodyRole]) -> list[Event]:
    """All accesses. The buffer that a load's tile lands in is written by the load; barriers are no buffers."""
    events: list[Event] = []
    for op in body.operations:
        if roles[op] is BodyRole.TILE:
            events += _of_op(body, op)
        elif roles[op] is BodyRole.VIEW and is_landing(body, op):
            load = op.operands[0].producer
            assert load is not None  # by is_landing
            events.append(Event(load, op.results[0], Access.WRITE))
    return events


def _of_op(body: Body, op: Operation) -> list[Event]:
    buffers = [operand for operand in dict.fromkeys(values_read(op)) if _is_tile_buffer(body, operand)]
    if op.name in ALLOCATIONS:
        return [Event(op, op.results[0], Access.WRITE)]
    if op.name in TENSOR_CORE_5:
        result = op.operands[2]
        reads = [Event(op, buffer, Access.READ) for buffer in buffers if buffer is not result]
        flag = accumulate_flag(body, op)
        return [*reads, Event(op, result, Access.WRITE if flag else Access.UPDATE, flag)]
    if op.name in _STORES:
        target = op.operands[1]
        reads = [Event(op, buffer, Access.READ) for buffer in buffers if buffer is not target]
        return [*reads, Event(op, target, Access.WRITE)]
    if category_of(op) is Category.LOAD:
        return [Event(op, buffer, Access.WRITE) for buffer in buffers[:1]]
    if category_of(op) is Category.LOOP:
        inside = {result for nested in op.walk() for result in nested.results}
        buffers = [buffer for buffer in buffers if buffer not in inside]
    if category_of(op) in (Category.OPAQUE, Category.LOOP):
        changed = [Event(op, buffer, Access.UPDATE if _is_mutable(body, buffer) else Access.READ) for buffer in buffers]
        made = [result for result in op.results if _is_tile_buffer(body, result)]
        return [*changed, *(Event(op, buffer, Access.WRITE) for buffer in made)]
    return [Event(op, buffer, Access.READ) for buffer in buffers]


def accumulate_flag(body: Body, op: Operation) -> Value | None:
    """The flag operand that says whether a matrix op adds to its accumulator; None if it always does."""
    position = 3
    if op.name in TENSOR_CORE_5:
        if len(op.operands) > position and isinstance(body.type(op.operands[position]), TokenType):
            position += 1
        if op.name.endswith("_scaled"):
            position += 2
    elif op.name != "ttng.warp_group_dot":
        return None
    return op.operands[position] if len(op.operands) > position else None


def _is_tile_buffer(body: Body, value: Value) -> bool:
    return body.is_buffer(value) and body.tile(value) is not None


def _is_mutable(body: Body, value: Value) -> bool:
    type_ = body.type(value)
    return isinstance(type_, MemDescType) and type_.mutable
