"""Single ops on numbers against Python's integers and `math`, over corner cases."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from interpret_snippets import elementwise

from core.diagnostics import InputError
from core.ir.interpret import Precision

INTEGERS = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxsi": max,
    "minsi": min,
}
DIVISIONS = {
    "divsi": lambda a, b: int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b)),
    "remsi": lambda a, b: int(math.copysign(1, a)) * (abs(a) % abs(b)),
    "ceildivsi": lambda a, b: -(-a // b),
    "floordivsi": lambda a, b: a // b,
}
UNSIGNED_DIVISIONS = {"divui": lambda a, b: a // b, "remui": lambda a, b: a % b, "ceildivui": lambda a, b: -(-a // b)}
UNSIGNED = {"maxui": max, "minui": min}
PREDICATES: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def signed(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def corners(bits: int) -> np.ndarray:
    """The ends of the range, small numbers and random ones."""
    rng = np.random.default_rng(bits)
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return np.array([low, low + 1, high, high - 1, -1, 0, 1, 7, -7, *rng.integers(low, high, 7, endpoint=True)])


def pairs(bits: int) -> tuple[np.ndarray, np.ndarray]:
    values = corners(bits)
    return values.repeat(len(values)), np.tile(values, len(values))


@pytest.mark.parametrize("bits", [1, 8, 16, 32, 64])
def test_integer_arithmetic(bits: int) -> None:
    a, b = pairs(bits) if bits > 1 else (np.array([0, 0, -1, -1]), np.array([0, -1, 0, -1]))
    mask = (1 << bits) - 1
    for name, function in INTEGERS.items():
        got = elementwise(
            f"%r = arith.{name} %a, %b : tensor<$xi{bits}>", [(f"i{bits}", a), (f"i{bits}", b)], f"i{bits}"
        )
        assert got.tolist() == [signed(function(int(x), int(y)), bits) for x, y in zip(a, b, strict=True)], name
    for name, function in UNSIGNED.items():
        got = elementwise(
            f"%r = arith.{name} %a, %b : tensor<$xi{bits}>", [(f"i{bits}", a), (f"i{bits}", b)], f"i{bits}"
        )
        wanted = [signed(function(int(x) & mask, int(y) & mask), bits) for x, y in zip(a, b, strict=True)]
        assert got.tolist() == wanted, name


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_division(bits: int) -> None:
    a, b = pairs(bits)
    a, b = a[b != 0], b[b != 0]
    mask = (1 << bits) - 1
    for name, function in (DIVISIONS | UNSIGNED_DIVISIONS).items():
        got = elementwise(
            f"%r = arith.{name} %a, %b : tensor<$xi{bits}>", [(f"i{bits}", a), (f"i{bits}", b)], f"i{bits}"
        )
        keep = mask if name in UNSIGNED_DIVISIONS else -1
        wanted = [signed(function(int(x) & keep, int(y) & keep), bits) for x, y in zip(a, b, strict=True)]
        assert got.tolist() == wanted, name


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_shifts(bits: int) -> None:
    values = corners(bits)
    amounts = np.array([0, 1, bits - 1, bits])
    a, b = values.repeat(4), np.tile(amounts, len(values))
    functions = {
        "shli": lambda x, n: x << n,
        "shrsi": lambda x, n: x >> n,
        "shrui": lambda x, n: (x & ((1 << bits) - 1)) >> n,
    }
    for name, function in functions.items():
        got = elementwise(
            f"%r = arith.{name} %a, %b : tensor<$xi{bits}>", [(f"i{bits}", a), (f"i{bits}", b)], f"i{bits}"
        )
        assert got.tolist() == [signed(function(int(x), int(n)), bits) for x, n in zip(a, b, strict=True)], name


@pytest.mark.parametrize("bits", [32, 64])
def test_high_half_of_a_product(bits: int) -> None:
    a, b = pairs(bits)
    got = elementwise(f"%r = tt.mulhiui %a, %b : tensor<$xi{bits}>", [(f"i{bits}", a), (f"i{bits}", b)], f"i{bits}")
    mask = (1 << bits) - 1
    wanted = [signed(((int(x) & mask) * (int(y) & mask)) >> bits, bits) for x, y in zip(a, b, strict=True)]
    assert got.tolist() == wanted


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_integer_comparisons(bits: int) -> None:
    a, b = pairs(bits)
    mask = (1 << bits) - 1
    for name, function in PREDICATES.items():
        for prefix in ("",) if name in ("eq", "ne") else ("s", "u"):
            op = f"%r = arith.cmpi {prefix}{name}, %a, %b : tensor<$xi{bits}>"
            got = elementwise(op, [(f"i{bits}", a), (f"i{bits}", b)], "i1")
            keep = mask if prefix == "u" else -1
            wanted = [-int(function(int(x) & keep, int(y) & keep)) for x, y in zip(a, b, strict=True)]
            assert got.tolist() == wanted, (prefix, name)


def test_float_comparisons() -> None:
    values = np.array([-math.inf, -1.0, -0.0, 0.0, 1.0, math.inf, math.nan])
    a, b = values.repeat(7), np.tile(values, 7)
    unordered = np.isnan(a) | np.isnan(b)
    wanted = {"ord": ~unordered, "uno": unordered, "true": unordered | True, "false": unordered & False}
    for name, function in PREDICATES.items():
        holds = np.array([function(x, y) for x, y in zip(a, b, strict=True)])
        wanted[f"o{name}"], wanted[f"u{name}"] = holds & ~unordered, holds | unordered
    for name, holds in wanted.items():
        got = elementwise(f"%r = arith.cmpf {name}, %a, %b : tensor<$xf32>", [("f32", a), ("f32", b)], "i1")
        assert got.tolist() == [-int(hold) for hold in holds], name


MATH = {
    "absf": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "trunc": math.trunc,
    "roundeven": round,
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "expm1": math.expm1,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "erf": math.erf,
    "erfc": math.erfc,
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
}
POSITIVE = {
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
}
UNIT = {"asin": math.asin, "acos": math.acos, "atanh": math.atanh}


def test_functions() -> None:
    whole = np.array([-3.5, -2.5, -0.5, 0.5, 1.5, 2.25, -1.0, 3.0, 0.125])
    positive = np.abs(whole)
    for functions, x in ((MATH, whole), (POSITIVE, positive), (UNIT, whole / 4), ({"acosh": math.acosh}, positive + 1)):
        for name, function in functions.items():
            got = elementwise(f"%r = math.{name} %a : tensor<$xf64>", [("f64", x)], "f64")
            assert np.allclose(got, [function(float(v)) for v in x], rtol=1e-14, atol=1e-15), name


def test_functions_of_two_and_three() -> None:
    a, b, c = np.array([1.5, -2.0, 0.25, 3.0]), np.array([2.0, 3.0, -1.0, 0.5]), np.array([1.0, -1.0, 8.0, 0.0])
    two = [("f64", a), ("f64", b)]
    assert elementwise("%r = arith.remf %a, %b : tensor<$xf64>", two, "f64").tolist() == list(map(math.fmod, a, b))
    assert elementwise("%r = math.atan2 %a, %b : tensor<$xf64>", two, "f64").tolist() == list(map(math.atan2, a, b))
    assert np.allclose(elementwise("%r = math.powf %a, %b : tensor<$xf64>", two, "f64"), a**b, rtol=1e-15)
    signs = [("f64", a), ("f64", c - 0.5)]
    got = elementwise("%r = math.copysign %a, %b : tensor<$xf64>", signs, "f64")
    assert got.tolist() == [1.5, -2.0, 0.25, -3.0]
    got = elementwise("%r = math.fma %a, %b, %c : tensor<$xf64>", [*two, ("f64", c)], "f64")
    assert got.tolist() == [4.0, -7.0, 7.75, 1.5]
    got = elementwise("%r = tt.precise_divf %a, %b : tensor<$xf32>", [("f32", a), ("f32", b)], "f32")
    assert got.tolist() == (a.astype(np.float32) / b.astype(np.float32)).tolist()


def test_nan_in_maximum_and_minimum() -> None:
    a, b = np.array([math.nan, 1.0, 2.0]), np.array([1.0, math.nan, 3.0])
    wanted = {"maxnumf": "[1.0, 1.0, 3.0]", "minnumf": "[1.0, 1.0, 2.0]"}
    wanted |= {"maximumf": "[nan, nan, 3.0]", "minimumf": "[nan, nan, 2.0]"}
    for name, text in wanted.items():
        got = elementwise(f"%r = arith.{name} %a, %b : tensor<$xf32>", [("f32", a), ("f32", b)], "f32")
        assert str(got.tolist()) == text, name
    for mode, text in (("none", "[0.0, 1.0, 5.0]"), ("all", "[nan, 1.0, 5.0]")):
        inputs = [("f32", np.array([math.nan, 1.0, 9.0])), ("f32", np.zeros(3)), ("f32", np.full(3, 5.0))]
        op = f"%r = tt.clampf %a, %b, %c, propagateNan = {mode} : tensor<$xf32>"
        assert str(elementwise(op, inputs, "f32").tolist()) == text


@pytest.mark.parametrize("element", ["f32", "f16"])
def test_stated_precision_rounds_every_op(element: str) -> None:
    native = {"f32": np.float32, "f16": np.float16}[element]
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(400).astype(native) for _ in range(2))
    inputs = [(element, a.astype(np.float64)), (element, b.astype(np.float64))]
    for name, function in {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}.items():
        got = elementwise(f"%r = arith.{name} %a, %b : tensor<$x{element}>", inputs, element)
        assert np.array_equal(got, function(a, b).astype(np.float64)), name


def test_what_each_precision_rounds() -> None:
    third = [("f32", np.array([1.0])), ("f32", np.array([3.0]))]
    lines = "%q = arith.divf %a, %b : tensor<$xf32>\n%r = arith.mulf %q, %b : tensor<$xf32>"
    stored = {mode: elementwise(lines, third, "f32", mode)[0] for mode in Precision}
    assert set(stored.values()) == {1.0}
    lines = "%q = arith.divf %a, %b : tensor<$xf32>\n%r = arith.extf %q : tensor<$xf32> to tensor<$xf64>"
    kept = {mode: elementwise(lines, third, "f64", mode)[0] for mode in Precision}
    assert kept[Precision.EXACT] == kept[Precision.CASTS] == 1 / 3
    assert kept[Precision.STATED] == float(np.float32(1) / np.float32(3))
    narrow = (
        "%h = arith.truncf %q : tensor<$xf32> to tensor<$xf16>\n%r = arith.extf %h : tensor<$xf16> to tensor<$xf64>"
    )
    lines = f"%q = arith.divf %a, %b : tensor<$xf32>\n{narrow}"
    cast = {mode: elementwise(lines, third, "f64", mode)[0] for mode in Precision}
    assert cast[Precision.EXACT] == 1 / 3
    assert cast[Precision.CASTS] == cast[Precision.STATED] == float(np.float16(1 / 3))


def test_integer_casts() -> None:
    values = corners(16)
    cases = {
        "%r = arith.extsi %a : tensor<$xi16> to tensor<$xi64>": ("i64", [int(v) for v in values]),
        "%r = arith.extui %a : tensor<$xi16> to tensor<$xi32>": ("i32", [int(v) % (1 << 16) for v in values]),
        "%r = arith.trunci %a : tensor<$xi16> to tensor<$xi8>": ("i8", [signed(int(v), 8) for v in values]),
        "%r = arith.trunci %a : tensor<$xi16> to tensor<$xi1>": ("i1", [-(int(v) & 1) for v in values]),
        "%r = arith.sitofp %a : tensor<$xi16> to tensor<$xf64>": ("f64", [float(v) for v in values]),
        "%r = arith.uitofp %a : tensor<$xi16> to tensor<$xf64>": ("f64", [float(int(v) % (1 << 16)) for v in values]),
    }
    for op, (element, wanted) in cases.items():
        assert elementwise(op, [("i16", values)], element).tolist() == wanted, op


def test_bits_of_true() -> None:
    true = [("i1", np.array([True, False]))]
    cases = {"extsi": [-1, 0], "extui": [1, 0], "sitofp": [-1.0, 0.0], "uitofp": [1.0, 0.0]}
    for name, wanted in cases.items():
        element = "f32" if name.endswith("fp") else "i32"
        assert (
            elementwise(f"%r = arith.{name} %a : tensor<$xi1> to tensor<$x{element}>", true, element).tolist() == wanted
        )


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_floats_to_integers(bits: int) -> None:
    x = np.array([1.9, -1.9, 0.0, 100.5, 1e30, -1e30, math.inf, -math.inf, math.nan])
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    got = elementwise(f"%r = arith.fptosi %a : tensor<$xf32> to tensor<$xi{bits}>", [("f32", x)], f"i{bits}")
    assert got.tolist() == [1, -1, 0, 100, high, low, high, low, 0]
    got = elementwise(f"%r = arith.fptoui %a : tensor<$xf32> to tensor<$xi{bits}>", [("f32", x)], f"i{bits}")
    assert got.tolist() == [1, 0, 0, 100, -1, 0, -1, 0, 0]


def test_casts_to_fewer_bits() -> None:
    x = np.array([1.0009765625, -1.0009765625, 1.1, 1e6, 465.0])
    got = elementwise("%r = arith.truncf %a : tensor<$xf32> to tensor<$xf16>", [("f32", x)], "f16")
    with np.errstate(over="ignore"):
        assert got.tolist() == x.astype(np.float16).astype(np.float64).tolist()
    got = elementwise("%r = tt.fp_to_fp %a, rounding = rtz : tensor<$xf32> -> tensor<$xbf16>", [("f32", x)], "bf16")
    bits = x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    assert got.tolist() == bits.view(np.float32).astype(np.float64).tolist()
    got = elementwise(
        "%r = tt.fp_to_fp %a, rounding = rtne : tensor<$xf32> -> tensor<$xf8E4M3FN>", [("f32", x)], "f8E4M3FN"
    )
    assert got.tolist() == [1.0, -1.0, 1.125, 448.0, 448.0]
    with pytest.raises(InputError, match="rounding mode 'upward'"):
        elementwise("%r = arith.truncf %a upward : tensor<$xf32> to tensor<$xf16>", [("f32", x)], "f16")


def test_bitcasts() -> None:
    x = np.array([1.0, -2.0, 0.5, 448.0])
    got = elementwise("%r = arith.bitcast %a : tensor<$xf32> to tensor<$xi32>", [("f32", x)], "i32")
    assert got.tolist() == x.astype(np.float32).view(np.int32).tolist()
    codes = np.array([0x3C00, -0x4000, 0x7BFF])
    got = elementwise("%r = tt.bitcast %a : tensor<$xi16> -> tensor<$xf16>", [("i16", codes)], "f16")
    assert got.tolist() == [1.0, -2.0, 65504.0]
    got = elementwise("%r = tt.bitcast %a : tensor<$xf8E4M3FN> -> tensor<$xi8>", [("f8E4M3FN", x)], "i8")
    assert got.tolist() == [0x38, signed(0xC0, 8), 0x30, 0x7E]


def test_constants() -> None:
    size = [("i32", np.zeros(4, np.int64))]
    cases = {
        "dense<0xFF800000> : tensor<$xf32>": ("f32", [-math.inf] * 4),
        "dense<0xFC00> : tensor<$xf16>": ("f16", [-math.inf] * 4),
        "dense<-1.000000e+09> : tensor<$xf32>": ("f32", [-1e9] * 4),
        "dense<0.1> : tensor<$xf32>": ("f32", [float(np.float32(0.1))] * 4),
        "dense<[1, -2, 3, 300]> : tensor<$xi8>": ("i8", [1, -2, 3, 44]),
        "dense<true> : tensor<$xi1>": ("i1", [-1] * 4),
    }
    for text, (element, wanted) in cases.items():
        for precision in Precision:
            assert elementwise(f"%r = arith.constant {text}", size, element, precision).tolist() == wanted, text


def test_library_functions() -> None:
    x = np.array([0.5, -1.0])
    form = '%r = tt.extern_elementwise %a {{libname = "", libpath = "", pure = true, symbol = "{}"}} : {} -> {}'
    tile = "tensor<$xf32>"
    got = elementwise(form.format("__nv_tanhf", f"({tile})", tile), [("f32", x)], "f32")
    assert got.tolist() == np.tanh(x).astype(np.float32).tolist()
    got = elementwise(form.format("__nv_fabsf", f"({tile})", tile), [("f32", x)], "f32")
    assert got.tolist() == [0.5, 1.0]
    with pytest.raises(InputError, match="function '__nv_j0f'"):
        elementwise(form.format("__nv_j0f", f"({tile})", tile), [("f32", x)], "f32")


def test_division_by_zero_is_an_error_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        elementwise(
            "%r = arith.divsi %a, %b : tensor<$xi32>", [("i32", np.ones(2, int)), ("i32", np.array([1, 0]))], "i32"
        )
    (found,) = caught.value.diagnostics
    assert (found.code, found.file, found.line, found.column) == ("bad-execution", "t.ttgir", 14, 6)
    assert "division by zero" in found.message
