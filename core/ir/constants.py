"""Integer values of scalars, iteration by iteration: slots of rings, flags that start an accumulator afresh."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from core.ir.body import Body
from core.ir.model import Operation, Value

_MAX_DEPTH = 200
_CONSTANT = re.compile(r"\b(true|false)\b|-?\d+\b")


def _quotient(left: int, right: int) -> int | None:
    """Rounded towards zero, as `arith.divsi` does."""
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int | None:
    quotient = _quotient(left, right)
    return None if quotient is None else left - right * quotient


_BINARY: Mapping[str, Callable[[int, int], int | None]] = {
    "arith.addi": lambda left, right: left + right,
    "arith.subi": lambda left, right: left - right,
    "arith.muli": lambda left, right: left * right,
    "arith.xori": lambda left, right: left ^ right,
    "arith.andi": lambda left, right: left & right,
    "arith.ori": lambda left, right: left | right,
    "arith.divsi": _quotient,
    "arith.divui": _quotient,
    "arith.remsi": _remainder,
    "arith.remui": _remainder,
}
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "eq": lambda left, right: left == right,
    "ne": lambda left, right: left != right,
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "gt": lambda left, right: left > right,
    "ge": lambda left, right: left >= right,
}
"""Signed and unsigned alike: slots and iteration counts are not negative."""

_CASTS = frozenset({"arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast"})


class Constants:
    """Evaluates scalar integers of a body; None where a value depends on what is not known at build time."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._known: dict[tuple[Value, int], int | None] = {}

    def value(self, value: Value, iteration: int) -> int | None:
        """The value in an iteration, counted from 0. Call with iterations in rising order: each one rests on the last
        one's values."""
        return self._evaluate(value, iteration, 0)

    def _evaluate(self, value: Value, iteration: int, depth: int) -> int | None:
        body = self._body
        fixed = value not in body.carried and value is not body.loop.induction and not body.has(value)
        key = (value, 0 if fixed else iteration)
        if key not in self._known:
            self._known[key] = None if depth > _MAX_DEPTH else self._compute(value, iteration, depth + 1)
        return self._known[key]

    def _compute(self, value: Value, iteration: int, depth: int) -> int | None:
        body = self._body
        if value in body.carried:
            if iteration == 0:
                return self._evaluate(body.initial(value), 0, depth)
            return self._evaluate(body.next(value), iteration - 1, depth)
        if value is body.loop.induction:
            start, step = (self._evaluate(bound, 0, depth) for bound in (body.loop.bounds[0], body.loop.bounds[2]))
            return None if start is None or step is None else start + step * iteration
        op = value.producer
        if op is None:
            return None
        if op.name == "arith.constant":
            return _constant(op)
        if op.name in _BINARY or op.name in _CASTS or op.name in ("arith.cmpi", "arith.select"):
            return _apply(op, [self._evaluate(operand, iteration, depth) for operand in op.operands])
        return None


def _apply(op: Operation, operands: list[int | None]) -> int | None:
    if op.name == "arith.select":
        condition = operands[0]
        return None if condition is None else operands[1 if condition else 2]
    known = [operand for operand in operands if operand is not None]
    if len(known) != len(operands):
        return None
    if op.name in _CASTS and known:
        return known[0]
    if len(known) != 2:
        return None
    if op.name == "arith.cmpi":
        predicate = op.text_arguments.split(",")[0].strip()
        compare = _COMPARE.get(predicate if predicate in _COMPARE else predicate[1:])
        return None if compare is None else int(compare(*known))
    return _BINARY[op.name](*known)


def _constant(op: Operation) -> int | None:
    """The integer of `arith.constant 3 : i32`, 0 or 1 for `false` and `true`; None for a tile or another number."""
    text = op.attributes.get("value") or op.text_arguments
    match = _CONSTANT.match(text.strip())
    if match is None or "." in text:
        return None
    return {"true": 1, "false": 0}[match.group()] if match.group(1) else int(match.group())
