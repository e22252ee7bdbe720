"""Matrix products.

The tensor core reads f32 operands as tf32: it leaves the lower 13 bits of the mantissa away. In the precision STATED
the products of one instruction (32 bytes of an operand's row) are summed up in float64, and rounding comes where the
sum is added to the accumulator. How a tensor core rounds inside an instruction is not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.ir.interpret.errors import not_interpreted
from core.ir.interpret.formats import Array, Precision, element_bytes, is_float, rounded, wrapped
from core.ir.interpret.program import Handler, Held, Program, words
from core.ir.model import Operation, Value
from core.ir.types import MemDescType, TokenType

_INSTRUCTION_BYTES = 32


def product(program: Program, left: Value, right: Value, start: Array, element: str, tf32: bool) -> Array:
    """start + left · right, of type `element`."""
    a, b = program.array(left), program.array(right)
    if not is_float(element):
        return wrapped(start + _matmul(a, b), element)
    if tf32 and program.element(left) == "f32" and program.precision is not Precision.EXACT:
        a, b = (rounded(values, "tf32", toward_zero=True) for values in (a, b))
    if program.precision is not Precision.STATED:
        return program.rounded(start + _matmul(a, b), element)
    step = _INSTRUCTION_BYTES // element_bytes(program.element(left))
    for first in range(0, a.shape[-1], step):
        part = _matmul(a[..., first : first + step], b[..., first : first + step, :])
        start = rounded(start + part, element)
    return start


def _matmul(a: Array, b: Array) -> Array:
    """The product of the last two dimensions. Not by BLAS: its order of summation depends on the machine, and on a busy
    one its threads get into each other's way."""
    return np.einsum("...ik,...kj->...ij", a, b)


def _warp_group_dot(program: Program, op: Operation) -> Sequence[Held]:
    """Operands: both factors, the accumulator, and whether it counts (without: it does)."""
    left, right, accumulator, *flag = op.operands
    start = program.array(accumulator)
    if flag and not program.integer(flag[0]):
        start = np.zeros_like(start)
    return [product(program, left, right, start, program.element(op.results[0]), tf32=True)]


def _dot(program: Program, op: Operation) -> Sequence[Held]:
    """Without `inputPrecision`, and for tf32x3, which is as good, f32 operands are taken as they are."""
    left, right, accumulator = op.operands
    stated = [word.partition("=")[2].strip() for word in words(op) if word.startswith("inputPrecision")]
    if any(mode not in ("tf32", "tf32x3", "ieee") for mode in stated):
        raise not_interpreted(f"the input precision '{stated[0]}'")
    start, element = program.array(accumulator), program.element(op.results[0])
    return [product(program, left, right, start, element, tf32=stated == ["tf32"])]


def _tensor_memory_product(program: Program, op: Operation) -> Sequence[Held]:
    """`ttng.tc_gen5_mma`: both factors, the buffer, whether it counts, whether the op is done; then mbarriers, each
    perhaps with its own condition."""
    operands = [value for value in op.operands if not isinstance(program.type(value), TokenType)]
    left, right, buffer, adds, done, *signals = operands
    if not program.integer(done):
        return []
    target = program.array(buffer)
    start = target if program.integer(adds) else np.zeros_like(target)
    target[...] = product(program, left, right, start, program.element(buffer), tf32=True)
    barriers = [value for value in signals if isinstance(program.type(value), MemDescType)]
    conditions = [program.integer(value) for value in signals if value not in barriers]
    for barrier, condition in zip(barriers, conditions or [1] * len(barriers), strict=True):
        if condition:
            program.barrier(barrier).arrive()
    return []


HANDLERS: Mapping[str, Handler] = {
    "ttng.warp_group_dot": _warp_group_dot,
    "tt.dot": _dot,
    "ttng.tc_gen5_mma": _tensor_memory_product,
}
