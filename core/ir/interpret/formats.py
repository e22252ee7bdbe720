"""The numbers of TTGIR in NumPy: how they are held, rounded, and written as bits.

An integer of N bits is held as int64, sign-extended; a float as float64, a value of its own format. So arithmetic is
written once for all formats: compute, then `wrapped` or `rounded`. Pointers are held as int64 addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ir.types import element_bits

Array = NDArray[Any]
"""A tile or, with shape (), a scalar: float64 or int64."""


class Precision(Enum):
    """Where values are rounded to the type that the text states for them."""

    EXACT = "exact"
    """Nowhere: all floats are float64, also those in memory. For checks against formulas."""

    CASTS = "casts"
    """Where a value has fewer bits than f32, and in memory: the text's own casts with float64 between them."""

    STATED = "stated"
    """After every op; matrix ops add the products of one instruction at a time to their accumulator."""


@dataclass(frozen=True, slots=True)
class _Format:
    """A binary floating-point format with subnormal numbers."""

    mantissa: int  # bits after the point
    least_exponent: int  # of normal numbers
    largest: float
    saturates: bool = False  # too large a value becomes the largest, not infinity


_FORMATS = {
    "f32": _Format(23, -126, (2 - 2.0**-23) * 2.0**127),
    "tf32": _Format(10, -126, (2 - 2.0**-10) * 2.0**127),
    "f16": _Format(10, -14, 65504.0),
    "bf16": _Format(7, -126, (2 - 2.0**-7) * 2.0**127),
    # Conversions to 8 bits saturate, as NVIDIA's do (`cvt.rn.satfinite`).
    "f8E5M2": _Format(2, -14, 57344.0, saturates=True),
    "f8E4M3FN": _Format(3, -6, 448.0, saturates=True),
}

_NATIVE = {"f32": np.float32, "f16": np.float16}
"""Formats that NumPy itself rounds to, to nearest and much faster."""


def is_float(element: str) -> bool:
    """Whether the element type is a float that is known here."""
    return element == "f64" or element in _FORMATS


def is_integer(element: str) -> bool:
    """Whether the element type is an integer of at most 64 bits."""
    return element == "index" or (element[:1] == "i" and element[1:].isdigit() and int(element[1:]) <= 64)


def is_pointer(element: str) -> bool:
    """Whether the element type is a pointer."""
    return element.startswith("!tt.ptr")


def element_bytes(element: str) -> int:
    """Bytes of an element in memory; an `i1` takes one."""
    return max(1, element_bits(element) // 8)


def rounded(values: Array, element: str, *, toward_zero: bool = False) -> Array:
    """The values in a float format: to nearest, ties to even, or toward zero. NaN stays NaN."""
    if element == "f64":
        return values
    if element in _NATIVE and not toward_zero:
        with np.errstate(over="ignore"):
            return values.astype(_NATIVE[element]).astype(np.float64)
    form = _FORMATS[element]
    _, exponent = np.frexp(values)  # values = fraction * 2**exponent with 0.5 <= |fraction| < 1
    unit = np.maximum(exponent - 1, form.least_exponent) - form.mantissa
    steps = np.ldexp(values, -unit)
    found = np.ldexp(np.trunc(steps) if toward_zero else np.rint(steps), unit)
    too_large = np.abs(found) > form.largest
    limit = form.largest if form.saturates or toward_zero else np.inf
    clamped = np.where(too_large, np.copysign(limit, values), found)
    infinite = np.isinf(values) & (not form.saturates)
    return np.where(infinite, values, clamped)


def wrapped(values: Array, element: str) -> Array:
    """Integers modulo 2**N, sign-extended: what fits into the type."""
    bits = element_bits(element)
    if bits == 64:
        return values.astype(np.int64)
    sign = np.int64(1 << (bits - 1))
    return ((values.astype(np.int64) & ((1 << bits) - 1)) ^ sign) - sign


def unsigned(values: Array, element: str) -> NDArray[np.uint64]:
    """The same bits read as unsigned numbers."""
    return values.astype(np.uint64) & np.uint64((1 << element_bits(element)) - 1)


def truth(condition: Array) -> Array:
    """Booleans as `i1`: true has all its bits set, so it is -1."""
    return -np.asarray(condition).astype(np.int64)


def undefined(element: str) -> float | int:
    """What stands for a value that nothing has set: NaN, or the least integer of the type."""
    if is_float(element):
        return float("nan")
    return 0 if is_pointer(element) else -(1 << (element_bits(element) - 1))


def carrier(element: str) -> type[np.float64] | type[np.int64]:
    """The NumPy type that holds elements of this type."""
    return np.float64 if is_float(element) else np.int64


def encoded(values: Array, element: str) -> NDArray[np.uint64]:
    """The bits of values of a type; a float must be a value of its format."""
    if not is_float(element):
        return unsigned(values, element)
    if element == "f64":
        return np.asarray(values, np.float64).view(np.uint64)
    if element == "f8E4M3FN":
        codes = np.searchsorted(_E4M3_VALUES, np.abs(values)).astype(np.uint64)  # NaN sorts behind all: 127
        return codes | (np.signbit(values).astype(np.uint64) << np.uint64(7))
    if element in ("f16", "f8E5M2"):
        return np.asarray(values, np.float16).view(np.uint16).astype(np.uint64) >> np.uint64(16 - element_bits(element))
    return np.asarray(values, np.float32).view(np.uint32).astype(np.uint64) >> np.uint64(32 - element_bits(element))


def decoded(codes: NDArray[np.uint64], element: str) -> Array:
    """The values that bits mean in a type."""
    if not is_float(element):
        return wrapped(codes.astype(np.int64), element)
    if element == "f64":
        return codes.view(np.float64)
    if element == "f8E4M3FN":
        magnitude = np.append(_E4M3_VALUES, np.nan)[(codes & np.uint64(127)).astype(np.int64)]
        return np.where(codes > 127, -magnitude, magnitude)
    if element in ("f16", "f8E5M2"):
        shifted = (codes << np.uint64(16 - element_bits(element))).astype(np.uint16)
        return shifted.view(np.float16).astype(np.float64)
    shifted = (codes << np.uint64(32 - element_bits(element))).astype(np.uint32)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return shifted.view(np.float32).astype(np.float64)


def _e4m3_values() -> NDArray[np.float64]:
    """The finite values of f8E4M3FN that are not negative, by code: 0 to 126."""
    code = np.arange(127)
    exponent, mantissa = code >> 3, code & 7
    return np.where(exponent == 0, np.ldexp(mantissa, -9), np.ldexp(8 + mantissa, exponent - 10))


_E4M3_VALUES = _e4m3_values()
