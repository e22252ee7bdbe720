"""Where a value of the body comes from: the tile ops that make it, and how many iterations before."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from core.ir.body import Body
from core.ir.model import Operation, Value
from core.ir.operations import category_of
from core.ir.roles import BodyRole
from core.ir.tiles import Category, Tile
from core.ir.types import TokenType
from core.ir.views import Dimensions, through, viewed, viewed_dimensions

_OUTSIDE_VIEWS = frozenset({"tt.expand_dims", "tt.broadcast", "tt.trans", "tt.reshape", "tt.bitcast"})


@dataclass(frozen=True, slots=True)
class Origin:
    """`operation` (None: before the loop) made `value`, `distance` iterations before. `dimensions`: the dimension of
    `value` along each dimension of the value that was asked for; () if scalars lie between."""

    operation: Operation | None
    value: Value
    distance: int
    dimensions: Dimensions


class Origins:
    """Follows values through views, scalars and carried arguments, in chains too."""

    def __init__(self, body: Body, roles: Mapping[Operation, BodyRole]) -> None:
        self._body = body
        self._roles = roles

    def of(self, value: Value, *, as_address: bool = False) -> list[Origin]:
        """The origins of a value, the nearest iteration of each. `as_address`: what a group needs to compute the value
        for itself, so elementwise ops of the schedule are followed too."""
        body = self._body
        found: list[Origin] = []
        seen: set[Value] = set()
        tile = body.tile(value)
        dimensions: Dimensions = tuple(range(len(tile.shape))) if tile is not None else ()
        pending: deque[tuple[Value, int, Dimensions]] = deque([(value, 0, dimensions)])
        while pending:
            value, distance, dimensions = pending.popleft()
            if value in seen or value is body.loop.induction or isinstance(body.type(value), TokenType):
                continue
            seen.add(value)
            if value in body.carried:
                following = body.next(value)
                if following is value:
                    found.append(Origin(None, body.initial(value), distance, dimensions))
                else:
                    pending.append((following, distance + 1, dimensions))
                continue
            op = value.producer
            role = self._roles.get(op) if op is not None else None
            if op is None or role is None or role is BodyRole.INVARIANT:
                found.append(Origin(None, value, distance, dimensions))
            elif role is BodyRole.VIEW:
                seen_through = through(dimensions, viewed_dimensions(body, op, value))
                pending.appendleft((viewed(op, value), distance, seen_through))
            elif role is BodyRole.MERGE:
                pending.extendleft((merged, distance, dimensions) for merged in body.merged(value))
                if as_address:
                    pending.extendleft((operand, distance, ()) for operand in op.operands)
            elif role is BodyRole.DUPLICATED or (as_address and category_of(op) is Category.ELEMENTWISE):
                pending.extendleft((operand, distance, ()) for operand in op.operands)
            elif role is BodyRole.TILE:
                found.append(Origin(op, value, distance, dimensions))
        return found

    def kept(self, value: Value) -> tuple[Value, Tile] | None:
        """The register tile that a value from before the loop keeps alive: itself, or the smaller tile it only views.
        None for constants, scalars and tiles of one number, which take no registers worth counting."""
        if _is_uniform(self._body, value):
            return None
        while value.producer is not None and value.producer.name in _OUTSIDE_VIEWS:
            value = value.producer.operands[0]
        tile = self._body.tile(value)
        return None if tile is None or self._body.is_buffer(value) else (value, tile)


def _is_uniform(body: Body, value: Value) -> bool:
    """Whether all elements are one number: a splat, a constant, or arithmetic on such."""
    pending, seen = [value], set[Value]()
    while pending:
        value = pending.pop()
        if value in seen or body.is_scalar(value):
            continue
        seen.add(value)
        op = value.producer
        if op is None or op.name == "tt.make_range" or not (op.operands or op.name == "arith.constant"):
            return False
        arithmetic = op.name.startswith(("arith.", "math."))
        if not arithmetic and op.name not in ("tt.splat", "tt.expand_dims", "tt.broadcast", "ttg.convert_layout"):
            return False
        pending += op.operands
    return True
