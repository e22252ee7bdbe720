"""Arithmetic, element by element: the dialects `arith` and `math`, and their like in `tt`.

Floats are computed in float64 and rounded to the result's type as the precision asks; of `math.fma` that rounds twice.
Integers wrap around. A shift by the type's width or more gives what PTX gives: zero, or the sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from core.ir.interpret.casts import bitcast, to_fewer_bits, to_float, to_integer
from core.ir.interpret.errors import KernelError, not_interpreted
from core.ir.interpret.formats import (
    Array,
    truth,
    unsigned,
    wrapped,
)
from core.ir.interpret.literals import constant
from core.ir.interpret.program import Handler, Held, Program, words
from core.ir.model import Operation
from core.ir.types import element_bits

_Function = Callable[..., Any]


def _round_half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1.0, x), 0.0)


def _reciprocal_root(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _multiply_add(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


def _each(function: Callable[[float], float]) -> _Function:
    return np.vectorize(function, otypes=[np.float64])


_FLOAT_OF_ONE: dict[str, _Function] = {
    "arith.negf": np.negative,
    "arith.extf": np.positive,
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.trunc": np.trunc,
    "math.round": _round_half_away,
    "math.roundeven": np.rint,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.sqrt": np.sqrt,
    "math.rsqrt": _reciprocal_root,
    "math.cbrt": np.cbrt,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.tan": np.tan,
    "math.asin": np.arcsin,
    "math.acos": np.arccos,
    "math.atan": np.arctan,
    "math.sinh": np.sinh,
    "math.cosh": np.cosh,
    "math.tanh": np.tanh,
    "math.asinh": np.arcsinh,
    "math.acosh": np.arccosh,
    "math.atanh": np.arctanh,
    "math.erf": _each(math.erf),
    "math.erfc": _each(math.erfc),
    "tt.precise_sqrt": np.sqrt,
}

_FLOAT_OF_TWO: dict[str, _Function] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "math.atan2": np.arctan2,
    "math.powf": np.power,
    "math.copysign": np.copysign,
    "tt.precise_divf": np.divide,
}

_LIBDEVICE_NAMES = {"fabs": "absf", "pow": "powf"}
"""Functions of NVIDIA's libdevice that `math` names otherwise."""

_COMPARE: dict[str, _Function] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _nonzero(divisor: Array) -> Array:
    if not divisor.all():
        raise KernelError("division by zero")
    return divisor


def _quotient(a: Array, b: Array) -> Array:
    """Rounded toward zero."""
    floor, remainder = np.divmod(a, _nonzero(b))
    return floor + ((remainder != 0) & ((a < 0) != (b < 0)))


def _remainder(a: Array, b: Array) -> Array:
    """With the sign of `a`."""
    return a - b * _quotient(a, b)


def _floor(a: Array, b: Array) -> Array:
    return np.floor_divide(a, _nonzero(b))


def _modulo(a: Array, b: Array) -> Array:
    return np.remainder(a, _nonzero(b))


def _ceiling(a: Array, b: Array) -> Array:
    floor, remainder = np.divmod(a, _nonzero(b))
    return floor + (remainder != 0)


_SIGNED_OF_ONE: dict[str, _Function] = {
    "arith.extsi": np.positive,
    "arith.trunci": np.positive,
    "arith.index_cast": np.positive,
    "math.absi": np.abs,
    "tt.ptr_to_int": np.positive,
    "tt.int_to_ptr": np.positive,
}

_SIGNED_OF_TWO: dict[str, _Function] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.divsi": _quotient,
    "arith.remsi": _remainder,
    "arith.ceildivsi": _ceiling,
    "arith.floordivsi": _floor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
}

_UNSIGNED_OF_ONE: dict[str, _Function] = {
    "arith.extui": np.positive,
    "arith.index_castui": np.positive,
}

_UNSIGNED_OF_TWO: dict[str, _Function] = {
    "arith.divui": _floor,
    "arith.remui": _modulo,
    "arith.ceildivui": _ceiling,
    "arith.maxui": np.maximum,
    "arith.minui": np.minimum,
}


def _operands(program: Program, op: Operation, count: int) -> Sequence[Array]:
    operands = program.arrays(op)
    if len(operands) != count:
        raise KernelError(f"the op takes {count} operands, not {len(operands)}")
    return operands


def _of_floats(function: _Function, count: int) -> Handler:
    def handle(program: Program, op: Operation) -> Sequence[Held]:
        return [program.rounded(function(*_operands(program, op, count)), program.element(op.results[0]))]

    return handle


def _of_signed(function: _Function, count: int) -> Handler:
    def handle(program: Program, op: Operation) -> Sequence[Held]:
        return [wrapped(function(*_operands(program, op, count)), program.element(op.results[0]))]

    return handle


def _of_unsigned(function: _Function, count: int) -> Handler:
    def handle(program: Program, op: Operation) -> Sequence[Held]:
        element = program.element(op.operands[0])
        operands = [unsigned(values, element) for values in _operands(program, op, count)]
        return [wrapped(function(*operands), program.element(op.results[0]))]

    return handle


def _shift(name: str) -> Handler:
    def handle(program: Program, op: Operation) -> Sequence[Held]:
        element = program.element(op.results[0])
        values, amounts = program.arrays(op)
        bits = element_bits(element)
        amount = np.minimum(unsigned(amounts, element), np.uint64(bits))
        within = np.minimum(amount, np.uint64(bits - 1)).astype(np.int64)
        if name == "arith.shrsi":
            return [values >> within]
        shifted = values << within if name == "arith.shli" else unsigned(values, element) >> within.astype(np.uint64)
        return [wrapped(np.where(amount < bits, shifted.astype(np.int64), 0), element)]

    return handle


def _high_product(program: Program, op: Operation) -> Sequence[Held]:
    """`tt.mulhiui`: the upper half of the product of unsigned numbers."""
    element = program.element(op.results[0])
    a, b = (unsigned(values, element).astype(object) for values in program.arrays(op))
    return [wrapped(np.asarray((a * b) >> element_bits(element)).astype(np.uint64), element)]


def _compare_integers(program: Program, op: Operation) -> Sequence[Held]:
    predicate = words(op)[0]
    a, b = program.arrays(op)
    compare = _COMPARE.get(predicate)
    if compare is None:
        compare = _COMPARE.get(predicate[1:])
        if predicate[:1] == "u":
            element = program.element(op.operands[0])
            a, b = unsigned(a, element), unsigned(b, element)
    if compare is None:
        raise not_interpreted(f"the predicate '{predicate}'")
    return [truth(compare(a, b))]


def _compare_floats(program: Program, op: Operation) -> Sequence[Held]:
    predicate = words(op)[0]
    a, b = program.arrays(op)
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in ("true", "false"):
        return [truth(np.full(unordered.shape, predicate == "true"))]
    if predicate in ("ord", "uno"):
        return [truth(unordered == (predicate == "uno"))]
    compare = _COMPARE.get(predicate[1:])
    if compare is None:
        raise not_interpreted(f"the predicate '{predicate}'")
    holds = compare(a, b)
    return [truth(holds | unordered if predicate[0] == "u" else holds & ~unordered)]


def _select(program: Program, op: Operation) -> Sequence[Held]:
    condition = program.array(op.operands[0])
    if condition.shape == ():
        return [program.values[op.operands[1 if condition else 2]]]
    return [np.where(condition != 0, program.array(op.operands[1]), program.array(op.operands[2]))]


def _clamp(program: Program, op: Operation) -> Sequence[Held]:
    x, low, high = program.arrays(op)
    found = np.fmin(np.fmax(x, low), high)
    if "propagateNan = all" in op.text_arguments:
        found = np.where(np.isnan(x), x, found)
    return [found]


def _library_function(program: Program, op: Operation) -> Sequence[Held]:
    """`tt.extern_elementwise` of libdevice: `__nv_tanhf`."""
    symbol = op.attributes.get("symbol", "").strip('"')
    name = symbol.removeprefix("__nv_")
    for plain in (name, name.removesuffix("f")):
        math_name = "math." + _LIBDEVICE_NAMES.get(plain, plain)
        for functions, count in ((_FLOAT_OF_ONE, 1), (_FLOAT_OF_TWO, 2)):
            if symbol.startswith("__nv_") and math_name in functions:
                return _of_floats(functions[math_name], count)(program, op)
    raise not_interpreted(f"the function '{symbol}'")


HANDLERS: Mapping[str, Handler] = {
    **{name: _of_floats(function, 1) for name, function in _FLOAT_OF_ONE.items()},
    **{name: _of_floats(function, 2) for name, function in _FLOAT_OF_TWO.items()},
    **{name: _of_signed(function, 1) for name, function in _SIGNED_OF_ONE.items()},
    **{name: _of_signed(function, 2) for name, function in _SIGNED_OF_TWO.items()},
    **{name: _of_unsigned(function, 1) for name, function in _UNSIGNED_OF_ONE.items()},
    **{name: _of_unsigned(function, 2) for name, function in _UNSIGNED_OF_TWO.items()},
    **{name: _shift(name) for name in ("arith.shli", "arith.shrsi", "arith.shrui")},
    "arith.constant": constant,
    "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats,
    "arith.select": _select,
    "arith.sitofp": to_float,
    "arith.uitofp": to_float,
    "arith.fptosi": to_integer,
    "arith.fptoui": to_integer,
    "arith.truncf": to_fewer_bits,
    "arith.bitcast": bitcast,
    "tt.bitcast": bitcast,
    "tt.fp_to_fp": to_fewer_bits,
    "math.fma": _of_floats(_multiply_add, 3),
    "tt.clampf": _clamp,
    "tt.extern_elementwise": _library_function,
    "tt.mulhiui": _high_product,
}
