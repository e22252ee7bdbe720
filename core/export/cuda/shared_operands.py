"""Operands A of matrix ops that stay in shared memory instead of registers.

Where operand A comes out of a conversion of layout that moves elements between threads, it goes through shared memory
anyway. It is left there for the tensor core to read: the warps that share rows would each hold a copy in registers.
Only its place differs: who writes it waits for the matrix ops that read it, as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.export.cuda.elements import ElementError, element_bytes
from core.export.cuda.encodings import MmaShared
from core.export.cuda.layouts import Layout, without_exchange
from core.export.cuda.text import KernelText
from core.export.roles.model import Issue, Move, Put, Register, Statement
from core.export.roles.walk import walk
from core.ir.model import Operation, Value
from core.ir.types import TensorType

_WIDEST = 128
"""Bytes of the widest swizzle."""


def shared_operands(kernel: KernelText, statements: Sequence[Statement], warps: int) -> frozenset[Value]:
    """The values of a role that are kept so: read by matrix ops alone, and in no variable that is copied."""
    copied: set[str] = set()
    converted: dict[Value, set[str]] = {}
    for statement in walk(statements):
        match statement:
            case Move(target=target, source=source):
                copied |= {place.name for place in (target, source) if isinstance(place, Register)}
            case Put(source=source):
                copied.add(source.name)
            case Issue(operation=op, writes=(Register(name=name),)) if _may_be_kept(kernel, op, warps):
                converted.setdefault(op.results[0], set()).add(name)
            case _:
                pass
    return frozenset(value for value, names in converted.items() if copied.isdisjoint(names))


def operand_encoding(kernel: KernelText, op: Operation, warps: int) -> MmaShared:
    """The layout in shared memory of what a conversion makes: the way its source lies in registers, if the tensor core
    reads it so. Raises ElementError."""
    source, _ = _layouts(kernel, op, warps)
    bits = 8 * element_bytes(_type(kernel, op.results[0]).element)
    transposed = bits == 16 and bool(source.register) and source.register[0][0] != 0
    swizzle = min(_WIDEST, source.shape[0 if transposed else 1] * bits // 8)
    return MmaShared(swizzle, transposed, bits)


def _may_be_kept(kernel: KernelText, op: Operation, warps: int) -> bool:
    if op.name != "ttg.convert_layout":
        return False
    readers = kernel.users.get(op.results[0], [])
    if not readers or any(
        one.name != "ttng.warp_group_dot" or one.operands.count(op.results[0]) > 1 for one in readers
    ):
        return False
    try:
        layouts = tuple(_layouts(kernel, op, warps))
        encoding = operand_encoding(kernel, op, warps)
    except ElementError:
        return False
    return encoding.swizzle >= 32 and not without_exchange(*layouts)


def _layouts(kernel: KernelText, op: Operation, warps: int) -> Iterator[Layout]:
    for value in (op.operands[0], op.results[0]):
        type_ = _type(kernel, value)
        yield kernel.layout(type_.encoding, type_.shape, warps)


def _type(kernel: KernelText, value: Value) -> TensorType:
    type_ = kernel.type(value)
    if not isinstance(type_, TensorType):
        raise ElementError(f"a tile of type {value.type}")
    return type_
