"""Matrix products in every precision, accumulators, and the formats of operands."""

from __future__ import annotations

import numpy as np
import pytest
from interpret_snippets import Array, kernel, run_text

from core.diagnostics import InputError
from core.ir.interpret import Precision

M, N, K = 4, 6, 48


def multiply(
    op: str, a: Array, b: Array, c: Array, element: str, result: str = "f32", precision: Precision = Precision.STATED
) -> Array:
    """Runs `%r = ...` of the tiles %a, %b, %c; also of the buffers %ma, %mb and, in tensor memory, %mc."""
    types = {"a": (M, K, element), "b": (K, N, element), "c": (M, N, result), "y": (M, N, result)}
    shapes = {name: f"{rows}x{columns}x{kind}" for name, (rows, columns, kind) in types.items()}
    signature = ", ".join(f"%d{name}: !tt.tensordesc<{shape}, #shared>" for name, shape in shapes.items())
    loads = [
        f"%{name} = tt.descriptor_load %d{name}[%z, %z] : !tt.tensordesc<{shape}, #shared> -> tensor<{shape}>"
        for name, shape in shapes.items()
    ]
    buffers = [
        f"%m{name} = ttg.local_alloc %{name} : (tensor<{shapes[name]}>) -> !ttg.memdesc<{shapes[name]}, #shared, #smem>"
        for name in "ab"
    ]
    accumulator = f"!ttg.memdesc<{shapes['c']}, #tmem, #ttng.tensor_memory, mutable>"
    buffers.append(f"%mc = ttng.tmem_alloc %c : (tensor<{shapes['c']}>) -> {accumulator}")
    store = f"tt.descriptor_store %dy[%z, %z], %r : !tt.tensordesc<{shapes['y']}, #shared>, tensor<{shapes['y']}>"
    for name in "abc":
        op = op.replace(f"${name.upper()}", f"tensor<{shapes[name]}>")
        op = op.replace(f"@{name.upper()}", f"!ttg.memdesc<{shapes[name]}, #shared, #smem>")
    op = op.replace("!T", accumulator)
    constants = "%z = arith.constant 0 : i32\n%true = arith.constant true\n%false = arith.constant false"
    text = kernel(signature, "\n".join([constants, *loads, *buffers, op, store]))
    empty = np.zeros((M, N), float if "f" in result else int)
    return run_text(text, {"da": a, "db": b, "dc": c, "dy": empty}, precision=precision)["dy"]


WGMMA = "%r = ttng.warp_group_dot %ma, %mb, %c {inputPrecision = 0 : i32} : @A * @B -> $C"
DOT = "%r = tt.dot %a, %b, %c : $A * $B -> $C"
TCGEN5 = """\
%token = ttng.tc_gen5_mma %ma, %mb, %mc[], %true, %true : @A, @B, !T
%r = ttng.tmem_load %mc : !T -> $C"""
OPS = {"wgmma": WGMMA, "dot": DOT, "tcgen5": TCGEN5}


def inputs(dtype: type) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(shape).astype(dtype).astype(float) for shape in ((M, K), (K, N)))
    return a, b, rng.standard_normal((M, N)).astype(np.float32).astype(float)


@pytest.mark.parametrize("name", OPS)
def test_exact_product_and_accumulator(name: str) -> None:
    a, b, c = inputs(np.float16)
    got = multiply(OPS[name], a, b, c, "f16", precision=Precision.EXACT)
    assert np.allclose(got, c + a @ b, rtol=1e-14)


@pytest.mark.parametrize("name", OPS)
def test_stated_precision_rounds_the_accumulator_once_per_instruction(name: str) -> None:
    """16 products of f16 are one instruction; their sum is exact enough in float64."""
    a, b, c = inputs(np.float16)
    total = c.astype(np.float32)
    for first in range(0, K, 16):
        total = (total + a[:, first : first + 16] @ b[first : first + 16]).astype(np.float32)
    got = multiply(OPS[name], a, b, c, "f16")
    assert got.tolist() == total.astype(float).tolist()
    assert not np.array_equal(got, (c + a @ b).astype(np.float32))


def cut(values: Array) -> Array:
    """f32 without the lower 13 bits of its mantissa."""
    return (values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(float)


def test_f32_operands_are_tf32_on_the_tensor_core() -> None:
    a, b, c = inputs(np.float32)
    tf32, whole = c + cut(a) @ cut(b), c + a @ b
    ieee = DOT.replace("%c :", "%c, inputPrecision = ieee :")
    for op, wanted in ((WGMMA, tf32), (TCGEN5, tf32), (DOT, whole), (ieee, whole)):
        assert np.allclose(multiply(op, a, b, c, "f32", precision=Precision.CASTS), wanted, rtol=0, atol=1e-6), op
    stated = DOT.replace("%c :", "%c, inputPrecision = tf32 :")
    assert np.allclose(multiply(stated, a, b, c, "f32", precision=Precision.CASTS), tf32, rtol=0, atol=1e-6)
    assert np.abs(tf32 - whole).max() > 1e-4
    assert np.allclose(multiply(WGMMA, a, b, c, "f32", precision=Precision.EXACT), whole, rtol=1e-14)
    with pytest.raises(InputError, match="input precision 'bf16x3'"):
        multiply(DOT.replace("%c :", "%c, inputPrecision = bf16x3 :"), a, b, c, "f32")


def test_operands_of_8_bits() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.integers(-15, 16, (M, K)) / 8, rng.integers(-15, 16, (K, N)) / 8
    c = np.zeros((M, N))
    assert np.array_equal(multiply(WGMMA, a, b, c, "f8E4M3FN"), a @ b)
    a, b, c = (rng.integers(-128, 128, shape) for shape in ((M, K), (K, N), (M, N)))
    assert np.array_equal(multiply(DOT, a, b, c + 2**31 - 200, "i8", "i32"), (c + 2**31 - 200 + a @ b).astype(np.int32))


def test_an_accumulator_that_does_not_count() -> None:
    a, b, c = inputs(np.float16)
    flag = WGMMA.replace("%c {", "%c, %false {")
    for op in (flag, TCGEN5.replace("%mc[], %true", "%mc[], %false")):
        assert np.allclose(multiply(op, a, b, np.full((M, N), np.nan), "f16", precision=Precision.EXACT), a @ b), op
    skipped = TCGEN5.replace("%mc[], %true, %true", "%mc[], %true, %false")
    assert np.array_equal(multiply(skipped, a, b, c, "f16"), c)


def test_completion_of_a_tensor_memory_product_arrives_at_its_barriers() -> None:
    barrier = "!ttg.memdesc<1xi64, #shared, #smem, mutable>"
    lines = f"""\
%bar = ttg.local_alloc : () -> {barrier}
ttng.init_barrier %bar, 1 : {barrier}
ttng.tc_gen5_mma %ma, %mb, %mc, %true, %true, %bar[%true] {{is_async}} : @A, @B, !T, {barrier}
ttng.wait_barrier %bar, %z : {barrier}
%r = ttng.tmem_load %mc : !T -> $C"""
    a, b, c = inputs(np.float16)
    assert np.allclose(multiply(lines, a, b, c, "f16", precision=Precision.EXACT), c + a @ b)
    for change in (("%bar[%true]", "%bar[%false]"), ("%true, %true, %bar", "%true, %false, %bar")):
        with pytest.raises(InputError, match="never ends"):
            multiply(lines.replace(*change), a, b, c, "f16")
    old = lines.replace("%bar[%true]", "%bar")
    assert np.allclose(multiply(old, a, b, c, "f16", precision=Precision.EXACT), c + a @ b)
