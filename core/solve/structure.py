"""What makes two schedules of one loop different kernels: which ops share a group, and the order on each unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from core.graph.model import Graph
from core.schedule.model import Schedule


@dataclass(frozen=True, slots=True)
class Slice:
    """Block number `block` of an op, where it takes its unit for `cycles` from `offset` after the op's start there."""

    op: str
    block: int
    offset: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Structure:
    """`groups`: kind and ops of each, whatever its name. `orders`: by unit, the slices in the order of one interval,
    from the first of the text's on; only units on which no two slices may overlap have an order."""

    groups: frozenset[tuple[str, tuple[str, ...]]]
    orders: tuple[tuple[str, tuple[Slice, ...]], ...]


def structure(graph: Graph, schedule: Schedule) -> Structure:
    """The structure of a legal schedule: the same for its rotations, and for other names of its groups."""
    ops: dict[str, list[str]] = {}
    for op in graph.ops:
        ops.setdefault(schedule.ops[op].group, []).append(op)
    groups = frozenset((schedule.groups[name].kind, tuple(held)) for name, held in ops.items())
    return Structure(groups, tuple((unit, _order(schedule, slices)) for unit, slices in ordered_units(graph)))


def ordered_units(graph: Graph) -> Iterator[tuple[str, tuple[Slice, ...]]]:
    """Units whose slices exclude one another, with them in the order of the text."""
    for unit, capacity in graph.machine.units.items():
        blocks = [
            (block.amount, Slice(name, number, block.offset, block.duration))
            for name, op in graph.ops.items()
            for number, block in enumerate(op.blocks)
            if block.unit == unit and block.duration and block.amount
        ]
        if all(one + other > capacity for (one, _), (other, _) in combinations(blocks, 2)):
            yield unit, tuple(block for _, block in blocks)


def _order(schedule: Schedule, slices: tuple[Slice, ...]) -> tuple[Slice, ...]:
    def begin(one: Slice) -> int:
        place = schedule.ops[one.op]
        return place.start + place.delay + one.offset

    return tuple(sorted(slices, key=lambda one: (begin(one) - begin(slices[0])) % schedule.ii)) if slices else ()
