"""Conversions between number formats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.ir.interpret.errors import not_interpreted
from core.ir.interpret.formats import (
    Precision,
    decoded,
    encoded,
    is_float,
    is_integer,
    rounded,
    unsigned,
    wrapped,
)
from core.ir.interpret.program import Held, Program
from core.ir.model import Operation
from core.ir.types import element_bits


def to_float(program: Program, op: Operation) -> Sequence[Held]:
    values = program.array(op.operands[0])
    if op.name == "arith.uitofp":
        values = unsigned(values, program.element(op.operands[0]))
    return [program.rounded(values.astype(np.float64), program.element(op.results[0]))]


def to_integer(program: Program, op: Operation) -> Sequence[Held]:
    """Toward zero; what is out of range becomes the nearest integer of the type, NaN becomes 0, as in PTX."""
    element = program.element(op.results[0])
    bits, signed = element_bits(element), op.name == "arith.fptosi"
    integer = np.int64 if signed else np.uint64
    low, limit = (-(2.0 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0.0, 2**bits)
    values = program.array(op.operands[0])
    whole = np.trunc(np.where(np.isnan(values), 0.0, values))
    within = np.where(whole < limit, np.maximum(whole, low), 0.0).astype(integer)
    return [wrapped(np.where(whole < limit, within, integer(limit - 1)), element)]


def to_fewer_bits(program: Program, op: Operation) -> Sequence[Held]:
    """`arith.truncf` and `tt.fp_to_fp`."""
    values, element = program.array(op.operands[0]), program.element(op.results[0])
    modes = [word for word in op.text_arguments.replace(",", " ").split() if word[0] not in "%=" and word != "rounding"]
    if modes in (["rtz"], ["toward_zero"]):
        exact = program.precision is Precision.EXACT
        return [values if exact else rounded(values, element, toward_zero=True)]
    if modes not in ([], ["rtne"], ["to_nearest_even"]):
        raise not_interpreted(f"the rounding mode '{' '.join(modes)}'")
    return [program.rounded(values, element)]


def bitcast(program: Program, op: Operation) -> Sequence[Held]:
    values, before = program.array(op.operands[0]), program.element(op.operands[0])
    after = program.element(op.results[0])
    if not all(is_float(element) or is_integer(element) for element in (before, after)):
        return [values]
    return [decoded(encoded(values, before), after)]
