"""Ops that only look at a value in another way: no cost, no op of the schedule."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.ir.body import Body
from core.ir.layouts import needs_exchange
from core.ir.model import Operation, Value
from core.ir.types import MemDescType, TensorType

Dimensions = tuple[int | None, ...]
"""For each dimension of a viewed value the dimension of its source, None where there is none."""

_VIEWS = frozenset(
    {
        "tt.expand_dims",
        "tt.broadcast",
        "tt.splat",
        "tt.unsplat",
        "tt.trans",
        "tt.reshape",
        "tt.bitcast",
        "arith.bitcast",
        "ttg.memdesc_trans",
        "ttg.memdesc_index",
        "ttg.memdesc_subview",
        "ttg.memdesc_subslice",
        "ttg.memdesc_reshape",
        "ttg.memdesc_reinterpret",
        "ttng.tmem_subslice",
        "ttng.warp_group_dot_wait",
    }
)
_RESHAPES = frozenset(
    {"tt.expand_dims", "tt.broadcast", "tt.trans", "tt.splat", "tt.reshape"}
    | {"ttg.memdesc_trans", "ttg.memdesc_reshape", "ttg.memdesc_reinterpret"}
)
"""Views whose dimensions are not those of the source, unless their attributes say which they are."""

_SLOTS = frozenset({"ttg.memdesc_index", "ttg.memdesc_subview"})
_PARTS = frozenset({"ttg.memdesc_subslice", "ttng.tmem_subslice"})
_LOADS_OF_TILES = frozenset(
    {"tt.load", "tt.descriptor_load", "tt.experimental_descriptor_load", "tt.descriptor_gather"}
)
_NUMBER = re.compile(r"-?\d+")


def is_view(body: Body, op: Operation) -> bool:
    """Whether `op` only views its first operand (a wait: each of them)."""
    if op.name in _VIEWS:
        return True
    if op.name == "ttg.convert_layout":
        before, after = body.type(op.operands[0]), body.type(op.results[0])
        if not isinstance(before, TensorType) or not isinstance(after, TensorType):
            return False
        return not needs_exchange(before, after, body.module.aliases)
    return is_landing(body, op)


def is_buffer_view(op: Operation) -> bool:
    """Whether `op`, in the body or before it, views a buffer or a part or slot of it."""
    return op.name in _VIEWS


def is_landing(body: Body, op: Operation) -> bool:
    """Whether `op` is the buffer into which a load of the body puts its tile."""
    if op.name != "ttg.local_alloc" or not op.operands:
        return False
    producer = op.operands[0].producer
    return producer in body.position and producer.name in _LOADS_OF_TILES


def is_part(op: Operation) -> bool:
    """Whether `op` views only a part of a buffer, so that writing it leaves the rest as it was."""
    return op.name in _PARTS


def slot_indices(op: Operation) -> tuple[Value, ...]:
    """What chooses the slot of a ring that a view looks at; () for other views."""
    return op.operands[1:] if op.name in _SLOTS else ()


def viewed(op: Operation, result: Value) -> Value:
    """The value that a result of a view looks at."""
    return op.operands[result.index if op.name == "ttng.warp_group_dot_wait" else 0]


def viewed_dimensions(body: Body, op: Operation, result: Value) -> Dimensions:
    """The source's dimension along each dimension of a view's result; slots of a ring count for no dimension."""
    shape, source = _shape(body, result), _shape(body, viewed(op, result))
    rank = len(shape)
    axis = _numbers(op.attributes, "axis")
    order = _numbers(op.attributes, "order")
    if op.name == "tt.expand_dims" and len(axis) == 1:
        return tuple(None if index == axis[0] else index - (index > axis[0]) for index in range(rank))
    if op.name == "tt.broadcast" and len(source) == rank:
        return tuple(index if shape[index] == source[index] else None for index in range(rank))
    if op.name in ("tt.trans", "ttg.memdesc_trans") and sorted(order) == list(range(rank)):
        return order
    return tuple(range(rank)) if op.name not in _RESHAPES else (None,) * rank


def through(dimensions: Dimensions, view: Dimensions) -> Dimensions:
    """`dimensions` of a value seen through one more view, below it."""
    return tuple(None if index is None else view[index] for index in dimensions)


def _shape(body: Body, value: Value) -> tuple[int, ...]:
    type_ = body.type(value)
    return type_.shape if isinstance(type_, TensorType | MemDescType) else ()


def _numbers(attributes: Mapping[str, str], name: str) -> tuple[int, ...]:
    """The integers of `1 : i32` or `array<i32: 1, 0>`; () without the attribute."""
    _, _, listed = attributes.get(name, "").rpartition("array<i32:")
    return tuple(int(number) for number in _NUMBER.findall(listed.partition(" : ")[0]))
