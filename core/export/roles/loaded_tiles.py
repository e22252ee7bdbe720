"""Tiles that TMA loads outside of scheduled loops bring: the buffers that take them, their views, their readers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from core.ir.model import Operation, Value
from core.ir.views import is_buffer_view


def landings(load: Operation) -> list[Operation]:
    """The buffers of its block that take the tile of a TMA load."""
    operations = load.block.operations if load.block is not None else []
    return [op for op in operations if op.name == "ttg.local_alloc" and op.operands and op.operands[0].producer is load]


def read_in_registers(load: Operation, function: Operation, into: Sequence[Operation]) -> bool:
    """Whether anything but these buffers takes a load's tile."""
    return any(op not in into and load.results[0] in op.operands for op in function.walk())


def reads_any(op: Operation, values: Collection[Value]) -> bool:
    """Whether an operation, or one in it, reads one of the values."""
    return any(value in values for nested in op.walk() for value in nested.operands)


def tiles_of(load: Operation, function: Operation) -> set[Value]:
    """The load's buffers and all views of them."""
    reached = {landing.results[0] for landing in landings(load)}
    for op in function.walk():
        if is_buffer_view(op) and op.operands and op.operands[0] in reached:
            reached |= set(op.results)
    return reached | {load.results[0]}
