"""Which dimensions of an operation's operands and results are one: how a split of one value reaches the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from core.ir.model import Loop, Module, Operation, Value
from core.ir.operations import category_of
from core.ir.tiles import Category
from core.ir.types import MemDescType, TensorType, parse_type

_NUMBER = re.compile(r"-?\d+")
_SAME = frozenset({"tt.addptr", "tt.load", "tt.store", "tt.bitcast", "tt.atomic_rmw", "ttg.convert_layout"})
"""Ops all of whose tiles have one shape, besides elementwise ones."""


class Place(NamedTuple):
    """A dimension of a value."""

    value: Value
    dimension: int


class Link(NamedTuple):
    """Two dimensions that are split together or not at all."""

    one: Place
    other: Place


def shape_of(module: Module, value: Value) -> tuple[int, ...]:
    """The shape of a tile, in registers or shared memory; () for anything else."""
    type_ = parse_type(value.type, module.aliases)
    return type_.shape if isinstance(type_, TensorType | MemDescType) else ()


def links(module: Module, op: Operation, loops: Mapping[Operation, Loop]) -> Iterator[Link]:
    """The links of an operation; of a loop or branch those of what it carries and hands out."""
    results = op.results
    if op.name == "scf.for":
        loop = loops[op]
        for result, argument, initial, following in zip(
            results, loop.arguments, loop.initial, loop.yielded, strict=True
        ):
            for other in (argument, initial, following):
                yield from _same(module, result, other)
    elif op.name == "scf.if":
        for region in op.regions:
            for block in region.blocks:
                for result, value in zip(results, block.operations[-1].operands, strict=False):
                    yield from _same(module, result, value)
    elif op.name in _SAME or op.name.startswith(("arith.", "math.")) or category_of(op) is Category.ELEMENTWISE:
        tiles = [value for value in (*results, *op.operands) if shape_of(module, value)]
        for other in tiles[1:]:
            yield from _same(module, tiles[0], other)
    elif op.name == "ttg.local_alloc" and op.operands:
        yield from _same(module, results[0], op.operands[0])
    else:
        yield from _reshaping(module, op)


def _reshaping(module: Module, op: Operation) -> Iterator[Link]:
    """Ops whose operand and result have other shapes."""
    if not op.operands or not op.results:
        return
    result, source = op.results[0], op.operands[0]
    rank = len(shape_of(module, result))
    if op.name == "tt.expand_dims":
        axis = numbers(op.attributes.get("axis", "0"))[0]
        for dimension in range(rank):
            if dimension != axis:
                yield Link(Place(result, dimension), Place(source, dimension - (dimension > axis)))
    elif op.name == "tt.reduce":
        axis = numbers(op.attributes.get("axis", "0"))[0]
        for value in op.operands:
            for dimension in range(len(shape_of(module, source))):
                if dimension != axis:
                    yield Link(Place(value, dimension), Place(result, dimension - (dimension > axis)))
    elif op.name == "tt.broadcast":
        pairs = zip(shape_of(module, result), shape_of(module, source), strict=True)
        for dimension, (size, own) in enumerate(pairs):
            if size == own:
                yield Link(Place(result, dimension), Place(source, dimension))
    elif op.name in ("tt.trans", "ttg.memdesc_trans"):
        order = numbers(op.attributes.get("order", "").rpartition("array<i32:")[2])
        for dimension, of in enumerate(order):
            yield Link(Place(result, dimension), Place(source, of))
    elif category_of(op) is Category.MATRIX:
        yield Link(Place(result, 0), Place(source, 0))
        yield Link(Place(result, 1), Place(op.operands[1], 1))
        yield from _same(module, result, op.operands[2])


def _same(module: Module, one: Value, other: Value) -> Iterator[Link]:
    for dimension in range(len(shape_of(module, one))):
        yield Link(Place(one, dimension), Place(other, dimension))


def numbers(text: str) -> list[int]:
    """The integers in `1 : i32` or `1, 0>`, those of types left out."""
    return [int(number) for number in _NUMBER.findall(text.partition(" : ")[0])]
