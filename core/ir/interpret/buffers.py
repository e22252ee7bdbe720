"""Buffers in shared and tensor memory: views of them, loads and stores, copies, mbarriers.

A buffer is a NumPy array and a view of it a NumPy view. Asynchronous ops are carried out where they are issued, which
is right for text that waits where it must; what nothing has written holds `undefined` and so shows in the results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from core.ir.interpret.accesses import (
    combine_box,
    corner_of,
    descriptor_of,
    masked_load,
    nothing,
    read_box,
    write_box,
)
from core.ir.interpret.barriers import Barrier
from core.ir.interpret.errors import KernelError, not_interpreted
from core.ir.interpret.formats import Array, carrier, element_bytes, undefined
from core.ir.interpret.program import Handler, Held, Program, numbers, words
from core.ir.model import Operation
from core.ir.types import ScalarType

_BARRIER_ELEMENT = "i64"
"""Element of the buffers that hold mbarriers; no tile is stored in such a buffer."""

_OFFSETS = re.compile(r"\[([^\]]*)\]")


def _allocate(program: Program, op: Operation) -> Sequence[Held]:
    """`ttg.local_alloc` and `ttng.tmem_alloc`: a copy of the operand, if there is one."""
    if op.operands:
        return [program.array(op.operands[0]).copy()]
    shape, element = program.shape(op.results[0]), program.element(op.results[0])
    if element == _BARRIER_ELEMENT:
        return [np.full(shape, None, np.object_)]
    return [np.full(shape, undefined(element), carrier(element))]


def _free(program: Program, op: Operation) -> Sequence[Held]:
    buffer = op.operands[0]
    held = program.array(buffer)
    held[...] = None if held.dtype == np.object_ else undefined(program.element(buffer))
    return []


def _load(program: Program, op: Operation) -> Sequence[Held]:
    return [program.array(op.operands[0]).copy()]


def _store(program: Program, op: Operation) -> Sequence[Held]:
    """`ttg.local_store` and `ttng.tmem_store`; the latter has a condition."""
    tile, buffer, *conditions = program.arrays(op)
    if all(condition != 0 for condition in conditions):
        buffer[...] = tile
    return []


def _index(program: Program, op: Operation) -> Sequence[Held]:
    buffer, index = program.array(op.operands[0]), program.integer(op.operands[1])
    if not 0 <= index < buffer.shape[0]:
        raise KernelError(f"index {index} of a buffer of {buffer.shape[0]}", "out-of-bounds")
    return [buffer[index, ...]]


def _part(buffer: Array, offsets: Sequence[int], shape: tuple[int, ...]) -> Array:
    """The view of that shape that begins at the offsets; leading sizes of 1 may lack."""
    sizes = (1,) * (buffer.ndim - len(shape)) + shape
    bounds = list(zip(offsets, sizes, buffer.shape, strict=True))
    if any(not 0 <= offset <= whole - size for offset, size, whole in bounds):
        raise KernelError(f"a part {shape} at {tuple(offsets)} of a buffer {buffer.shape}", "out-of-bounds")
    view = buffer[tuple(slice(offset, offset + size) for offset, size, _ in bounds)]
    return view.reshape(shape)


def _subview(program: Program, op: Operation) -> Sequence[Held]:
    buffer, *offsets = op.operands
    return [_part(program.array(buffer), corner_of(program, offsets), program.shape(op.results[0]))]


def _subslice(program: Program, op: Operation) -> Sequence[Held]:
    """`%buffer[0, 16]`."""
    found = _OFFSETS.search(op.text_arguments)
    if found is None:
        raise not_interpreted("this form of the op")
    offsets = [int(offset) for offset in found.group(1).split(",")]
    return [_part(program.array(op.operands[0]), offsets, program.shape(op.results[0]))]


def _columns(program: Program, op: Operation) -> Sequence[Held]:
    """`ttng.tmem_subslice`: columns from N on."""
    offsets = [0, *numbers(op, "N")]
    return [_part(program.array(op.operands[0]), offsets, program.shape(op.results[0]))]


def _transpose(program: Program, op: Operation) -> Sequence[Held]:
    return [program.array(op.operands[0]).transpose(numbers(op, "order"))]


def _reshape(program: Program, op: Operation) -> Sequence[Held]:
    """`ttg.memdesc_reshape`, and `ttg.memdesc_reinterpret` where the element stays the same."""
    buffer, shape = program.array(op.operands[0]), program.shape(op.results[0])
    if program.element(op.operands[0]) != program.element(op.results[0]) or math.prod(shape) != buffer.size:
        raise not_interpreted("a buffer read as one of another element or size")
    view = buffer.reshape(shape)
    if not np.shares_memory(view, buffer):
        raise not_interpreted("this shape for a view that is not contiguous")
    return [view]


def _copy_from_pointers(program: Program, op: Operation) -> Sequence[Held]:
    """`ttg.async_copy_global_to_local %pointers, %buffer mask %mask other %other`."""
    pointer, buffer, *masks = op.operands
    program.array(buffer)[...] = masked_load(program, pointer, masks)
    return []


def _copy_from_tensor(program: Program, op: Operation) -> Sequence[Held]:
    """`%descriptor[%indices] %buffer, %barrier, %condition`: outside the tensor there are zeros, and they count too."""
    source, *indices, target, barrier, condition = op.operands
    if program.integer(condition):
        buffer = program.array(target)
        buffer[...] = read_box(program, descriptor_of(program, source), corner_of(program, indices), buffer.shape)
        program.barrier(barrier).receive(buffer.size * element_bytes(program.element(target)))
    return []


def _copy_to_tensor(program: Program, op: Operation) -> Sequence[Held]:
    target, *indices, source = op.operands
    write_box(program, descriptor_of(program, target), corner_of(program, indices), program.array(source))
    return []


def _reduce_to_tensor(program: Program, op: Operation) -> Sequence[Held]:
    target, *indices, source = op.operands
    corner = corner_of(program, indices)
    combine_box(program, words(op)[0], descriptor_of(program, target), corner, program.array(source))
    return []


def _count(op: Operation) -> int:
    """The number of `%barrier, 128`."""
    try:
        return int(words(op)[1])
    except (IndexError, ValueError):
        raise not_interpreted("this form of the op") from None


def _holds(program: Program, op: Operation) -> bool:
    """Whether a barrier op's condition holds: its last operand, if that is no buffer."""
    last = op.operands[-1]
    return not isinstance(program.type(last), ScalarType) or bool(program.integer(last))


def _init_barrier(program: Program, op: Operation) -> Sequence[Held]:
    program.array(op.operands[0])[...] = Barrier(_count(op))
    return []


def _invalidate_barrier(program: Program, op: Operation) -> Sequence[Held]:
    program.barrier(op.operands[0])
    program.array(op.operands[0])[...] = None
    return []


def _expect(program: Program, op: Operation) -> Sequence[Held]:
    if _holds(program, op):
        program.barrier(op.operands[0]).arrive(expected_bytes=_count(op))
    return []


def _arrive(program: Program, op: Operation) -> Sequence[Held]:
    if _holds(program, op):
        program.barrier(op.operands[0]).arrive(_count(op))
    return []


def _commit(program: Program, op: Operation) -> Sequence[Held]:
    if _holds(program, op):
        program.barrier(op.operands[0]).arrive()
    return []


def may_go_on(program: Program, op: Operation) -> bool:
    """Whether `ttng.wait_barrier %barrier, %parity, %condition deps %buffers` is over."""
    barrier, parity, *rest = op.operands
    guarded = bool(rest) and isinstance(program.type(rest[0]), ScalarType)
    if guarded and not program.integer(rest[0]):
        return True
    return program.barrier(barrier).has_passed(program.integer(parity))


HANDLERS: Mapping[str, Handler] = {
    "ttg.local_alloc": _allocate,
    "ttg.local_dealloc": _free,
    "ttg.local_load": _load,
    "ttg.local_store": _store,
    "ttg.memdesc_index": _index,
    "ttg.memdesc_subview": _subview,
    "ttg.memdesc_subslice": _subslice,
    "ttg.memdesc_trans": _transpose,
    "ttg.memdesc_reshape": _reshape,
    "ttg.memdesc_reinterpret": _reshape,
    "ttg.async_copy_global_to_local": _copy_from_pointers,
    "ttg.async_commit_group": nothing,
    "ttg.async_wait": nothing,
    "ttg.barrier": nothing,
    "gpu.barrier": nothing,
    "ttng.async_tma_copy_global_to_local": _copy_from_tensor,
    "ttng.async_tma_copy_local_to_global": _copy_to_tensor,
    "ttng.async_tma_reduce": _reduce_to_tensor,
    "ttng.async_tma_store_wait": nothing,
    "ttng.fence_async_shared": nothing,
    "ttng.init_barrier": _init_barrier,
    "ttng.inval_barrier": _invalidate_barrier,
    "ttng.barrier_expect": _expect,
    "ttng.arrive_barrier": _arrive,
    "ttng.tc_gen5_commit": _commit,
    "ttng.tmem_alloc": _allocate,
    "ttng.tmem_load": _load,
    "ttng.tmem_store": _store,
    "ttng.tmem_subslice": _columns,
}
