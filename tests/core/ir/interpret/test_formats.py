"""Rounding and bits of number formats against their definitions."""

from __future__ import annotations

import bisect
import math
from fractions import Fraction

import numpy as np
import pytest

from core.ir.interpret.formats import decoded, encoded, rounded, unsigned, wrapped

# Exponent bits, mantissa bits, bias; f8E4M3FN has no infinity and only one NaN.
LAYOUTS = {"f16": (5, 10, 15), "bf16": (8, 7, 127), "f8E5M2": (5, 2, 15), "f8E4M3FN": (4, 3, 7), "tf32": (8, 10, 127)}
SATURATING = ("f8E5M2", "f8E4M3FN")


def value_of(code: int, element: str) -> float:
    """What the bits mean by the definition of the format."""
    exponent_bits, mantissa_bits, bias = LAYOUTS[element]
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) else 1.0
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = code & ((1 << mantissa_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        if element == "f8E4M3FN":
            if mantissa == 7:
                return math.nan
        else:
            return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)


def magnitudes(element: str) -> list[float]:
    """All finite values that are not negative, in the order of their codes."""
    exponent_bits, mantissa_bits, _ = LAYOUTS[element]
    values = [value_of(code, element) for code in range(1 << (exponent_bits + mantissa_bits))]
    return [value for value in values if math.isfinite(value)]


def nearest(value: float, known: list[float], element: str) -> float:
    """The nearest value of the format, by comparing exact distances; a tie goes to the even code."""
    size = abs(value)
    above = bisect.bisect_left(known, size)
    step = Fraction(known[-1]) - Fraction(known[-2])
    if above == len(known):
        too_large = Fraction(size) - Fraction(known[-1]) >= step / 2
        found = known[-1] if element in SATURATING or not too_large else math.inf
    elif known[above] == size:
        found = size
    else:
        down, up = Fraction(size) - Fraction(known[above - 1]), Fraction(known[above]) - Fraction(size)
        if down == up:
            found = known[above] if above % 2 == 0 else known[above - 1]
        else:
            found = known[above - 1] if down < up else known[above]
    return math.copysign(found, value)


def samples(known: list[float]) -> list[float]:
    """Values of the format, the middles between neighbours, points just beside them, and values beyond the largest."""
    rng = np.random.default_rng(3)
    pairs = [int(index) for index in rng.integers(0, len(known) - 1, 300)] + [0, 1, 2, len(known) - 2]
    found = [0.0, known[-1], known[-1] * 1.01, known[-1] * 1.5, known[-1] * 1e6]
    for index in pairs:
        low, high = known[index], known[index + 1]
        middle = low + (high - low) / 2
        found += [low, middle, np.nextafter(middle, 0.0), np.nextafter(middle, 1e300), low + (high - low) * 0.3]
    return [sign * float(value) for value in found for sign in (1.0, -1.0)]


@pytest.mark.parametrize("element", LAYOUTS)
def test_rounds_to_nearest_with_ties_to_even(element: str) -> None:
    known = magnitudes(element)
    values = samples(known)
    wanted = [nearest(value, known, element) for value in values]
    assert rounded(np.array(values), element).tolist() == wanted


@pytest.mark.parametrize("element", LAYOUTS)
def test_rounds_toward_zero(element: str) -> None:
    known = magnitudes(element)
    values = samples(known)
    wanted = [math.copysign(known[bisect.bisect_right(known, abs(value)) - 1], value) for value in values]
    assert rounded(np.array(values), element, toward_zero=True).tolist() == wanted


def test_infinities_and_nan() -> None:
    values = np.array([np.inf, -np.inf, np.nan])
    for element in ("f32", "tf32", "f16", "bf16"):
        assert str(rounded(values, element).tolist()) == "[inf, -inf, nan]"
    for element, largest in (("f8E5M2", 57344.0), ("f8E4M3FN", 448.0)):
        assert str(rounded(values, element).tolist()) == f"[{largest}, -{largest}, nan]"


@pytest.mark.parametrize("element", ["f16", "bf16", "f8E5M2", "f8E4M3FN"])
def test_bits(element: str) -> None:
    exponent_bits, mantissa_bits, _ = LAYOUTS[element]
    codes = np.arange(1 << (1 + exponent_bits + mantissa_bits), dtype=np.uint64)
    values = decoded(codes, element)
    assert np.array_equal(values, [value_of(int(code), element) for code in codes], equal_nan=True)
    numbers = ~np.isnan(values)
    assert np.array_equal(encoded(values[numbers], element), codes[numbers])
    assert np.isnan(decoded(encoded(values[~numbers], element), element)).all()


@pytest.mark.parametrize("element", ["i1", "i8", "i16", "i32", "i64"])
def test_integers_wrap_around(element: str) -> None:
    bits = int(element[1:])
    rng = np.random.default_rng(4)
    values = rng.integers(-(1 << 63), 1 << 63, 500, dtype=np.int64)
    wanted = [(int(v) + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)) for v in values]
    assert wrapped(values, element).tolist() == wanted
    assert unsigned(values, element).tolist() == [int(v) % (1 << bits) for v in values]
