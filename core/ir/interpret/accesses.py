"""Ops on global memory: pointers, loads and stores, atomics, tensor descriptors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from core.ir.interpret.descriptors import Descriptor
from core.ir.interpret.errors import KernelError, not_interpreted
from core.ir.interpret.formats import Array, element_bytes, unsigned
from core.ir.interpret.program import Handler, Held, Program, words
from core.ir.model import Operation, Value
from core.ir.types import TokenType

_Combine = Callable[[Array, Array, str], Array]


def _by_unsigned(choose: Callable[[Array, Array], Array]) -> _Combine:
    def combine(old: Array, new: Array, element: str) -> Array:
        first = unsigned(old, element)
        return np.where(choose(first, unsigned(new, element)) == first, old, new)

    return combine


_COMBINE: Mapping[str, _Combine] = {
    "add": lambda old, new, _: old + new,
    "fadd": lambda old, new, _: old + new,
    "max": lambda old, new, _: np.maximum(old, new),
    "min": lambda old, new, _: np.minimum(old, new),
    "umax": _by_unsigned(np.maximum),
    "umin": _by_unsigned(np.minimum),
    "and": lambda old, new, _: old & new,
    "or": lambda old, new, _: old | new,
    "xor": lambda old, new, _: old ^ new,
    "exch": lambda old, new, _: new,
}


def _add_pointer(program: Program, op: Operation) -> Sequence[Held]:
    addresses, offsets = program.arrays(op)
    return [addresses + offsets * element_bytes(program.pointee(op.operands[0]))]


def mask_of(program: Program, shape: tuple[int, ...], masks: Sequence[Value]) -> Array:
    """Which elements an access is for: all without a mask."""
    return program.array(masks[0]) != 0 if masks else np.ones(shape, np.bool_)


def masked_load(program: Program, pointer: Value, masks: Sequence[Value]) -> Array:
    """What is loaded: `masks` are the mask and what stands where it is false, each if there is one."""
    addresses = program.array(pointer)
    where = mask_of(program, addresses.shape, masks)
    found = program.memory.load(addresses, program.pointee(pointer), where)
    return np.where(where, found, program.array(masks[1])) if len(masks) > 1 else found


def _load(program: Program, op: Operation) -> Sequence[Held]:
    pointer, *masks = op.operands
    return [masked_load(program, pointer, masks)]


def _store(program: Program, op: Operation) -> Sequence[Held]:
    pointer, values, *masks = op.operands
    addresses = program.array(pointer)
    where = mask_of(program, addresses.shape, masks)
    program.memory.store(addresses, program.array(values), program.pointee(pointer), where)
    return []


def _combine(program: Program, kind: str, addresses: Array, values: Array, element: str, where: Array) -> Array:
    """Reads, combines and writes element after element; returns what was there before.

    Elements with the same address take turns: each round does those that come first at their address.
    """
    combine = _COMBINE.get(kind)
    if combine is None:
        raise not_interpreted(f"the kind '{kind}'")
    before = program.memory.load(addresses, element, np.zeros_like(where))
    waiting = where
    while waiting.any():
        positions = np.flatnonzero(waiting)
        _, first = np.unique(addresses.reshape(-1)[positions], return_index=True)
        turn = np.zeros(waiting.size, np.bool_)
        turn[positions[first]] = True
        turn = turn.reshape(waiting.shape)
        old = program.memory.load(addresses, element, turn)
        program.memory.store(addresses, combine(old, values, element), element, turn)
        before = np.where(turn, old, before)
        waiting = waiting & ~turn
    return before


def _atomic_combine(program: Program, op: Operation) -> Sequence[Held]:
    """`tt.atomic_rmw fadd, relaxed, gpu, %pointers, %values, %mask`."""
    pointer, values, *masks = op.operands
    addresses = program.array(pointer)
    where = mask_of(program, addresses.shape, masks)
    return [_combine(program, words(op)[0], addresses, program.array(values), program.pointee(pointer), where)]


def corner_of(program: Program, indices: Sequence[Value]) -> tuple[int, ...]:
    """The coordinates at which a box begins."""
    return tuple(program.integer(index) for index in indices)


def descriptor_of(program: Program, value: Value) -> Descriptor:
    """A descriptor, or the one that a tensor map at an address is (Triton 3.3)."""
    held = program.values[value]
    if isinstance(held, Descriptor):
        return held
    found = program.tensor_maps.get(program.integer(value))
    if found is None:
        raise KernelError(f"no tensor map was made at {value.name}")
    return found


def _box(descriptor: Descriptor, corner: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Addresses of a box and which are inside, in the shape of the tile that it is; leading sizes of 1 may lack."""
    missing = len(corner) - len(shape)
    if len(corner) != len(descriptor.shape) or missing < 0:
        raise KernelError(f"{len(corner)} coordinates for a descriptor of rank {len(descriptor.shape)}")
    addresses, inside = descriptor.box(corner, (1,) * missing + shape)
    return addresses.reshape(shape), inside.reshape(shape)


def read_box(program: Program, descriptor: Descriptor, corner: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """The tile that begins there; what is outside the tensor is 0."""
    addresses, inside = _box(descriptor, corner, shape)
    return np.where(inside, program.memory.load(addresses, descriptor.element, inside), 0)


def write_box(program: Program, descriptor: Descriptor, corner: tuple[int, ...], tile: Array) -> None:
    """Stores a tile; what is outside the tensor is left away."""
    addresses, inside = _box(descriptor, corner, tile.shape)
    program.memory.store(addresses, tile, descriptor.element, inside)


def combine_box(program: Program, kind: str, descriptor: Descriptor, corner: tuple[int, ...], tile: Array) -> None:
    """Combines a tile with what is there."""
    addresses, inside = _box(descriptor, corner, tile.shape)
    _combine(program, kind, addresses, tile, descriptor.element, inside)


def _descriptor_load(program: Program, op: Operation) -> Sequence[Held]:
    source, *indices = op.operands
    shape = program.shape(op.results[0])
    return [read_box(program, descriptor_of(program, source), corner_of(program, indices), shape)]


def _descriptor_store(program: Program, op: Operation) -> Sequence[Held]:
    target, *indices, tile = op.operands
    write_box(program, descriptor_of(program, target), corner_of(program, indices), program.array(tile))
    return []


def _descriptor_reduce(program: Program, op: Operation) -> Sequence[Held]:
    target, *indices, tile = op.operands
    corner = corner_of(program, indices)
    combine_box(program, words(op)[0], descriptor_of(program, target), corner, program.array(tile))
    return []


def _make_descriptor(program: Program, op: Operation) -> Sequence[Held]:
    """`%pointer, [%sizes], [%strides]`."""
    pointer, *rest = op.operands
    if "padding" in op.attributes:
        raise not_interpreted(f"the padding {op.attributes['padding']}")
    sizes = [program.integer(value) for value in rest]
    rank = len(sizes) // 2
    if sizes[-1] != 1:
        raise KernelError(f"the last stride must be 1, it is {sizes[-1]}")
    address, element = program.integer(pointer), program.pointee(pointer)
    return [Descriptor(address, element, tuple(sizes[:rank]), tuple(sizes[rank:]))]


def _make_tensor_map(program: Program, op: Operation) -> Sequence[Held]:
    """`%where, %pointer, [%box], [%sizes], [%strides], [%element strides]`: the fastest dimension comes first; strides
    are in bytes, and that of the fastest dimension is left out."""
    where, pointer, *rest = op.operands
    rank = (len(rest) + 1) // 4
    given = [program.integer(value) for value in rest]
    sizes, strides, steps = given[rank : 2 * rank], given[2 * rank : 3 * rank - 1], given[3 * rank - 1 :]
    element = program.pointee(pointer)
    size = element_bytes(element)
    if any(step != 1 for step in steps) or any(stride % size for stride in strides):
        raise not_interpreted("a tensor map with such strides")
    elements = [1, *(stride // size for stride in strides)]
    found = Descriptor(program.integer(pointer), element, tuple(reversed(sizes)), tuple(reversed(elements)))
    program.tensor_maps[program.integer(where)] = found
    return []


def _reinterpret_as_descriptor(program: Program, op: Operation) -> Sequence[Held]:
    return [descriptor_of(program, op.operands[0])]


def _scratch(program: Program, op: Operation) -> Sequence[Held]:
    """Memory that holds nothing but tensor maps: an address that is in no array."""
    return [np.asarray(-1 - op.span.start, np.int64)]


def _assert(program: Program, op: Operation) -> Sequence[Held]:
    if not program.array(op.operands[0]).all():
        raise KernelError(f"the assertion fails: {op.text_arguments.partition(',')[2].strip()}", "assertion")
    return []


def nothing(program: Program, op: Operation) -> Sequence[Held]:
    """An op that changes no value: results, if any, are tokens."""
    if any(not isinstance(program.type(result), TokenType) for result in op.results):
        raise not_interpreted("this form of the op")
    return []


HANDLERS: Mapping[str, Handler] = {
    "tt.addptr": _add_pointer,
    "tt.load": _load,
    "tt.store": _store,
    "tt.atomic_rmw": _atomic_combine,
    "tt.descriptor_load": _descriptor_load,
    "tt.descriptor_store": _descriptor_store,
    "tt.descriptor_reduce": _descriptor_reduce,
    "tt.experimental_descriptor_load": _descriptor_load,
    "tt.experimental_descriptor_store": _descriptor_store,
    "tt.experimental_tensormap_create": _make_tensor_map,
    "tt.experimental_tensormap_fenceproxy_acquire": nothing,
    "tt.make_tensor_descriptor": _make_descriptor,
    "tt.print": nothing,
    "tt.assert": _assert,
    "ttg.global_scratch_alloc": _scratch,
    "ttng.reinterpret_tensor_descriptor": _reinterpret_as_descriptor,
    "ttng.tensormap_create": _make_tensor_map,
    "ttng.tensormap_fenceproxy_acquire": nothing,
}
