"""What the sample kernels compute, as formulas in float64, with inputs that need several programs and ragged tiles.

A case has the arguments in the kernel's order, so that it fits texts that name their parameters or number them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from attention_cases import (
    fa_bwd_dkdv,
    fa_bwd_dq,
    fa_bwd_fused,
    fa_bwd_fused_ptr,
    fa_fwd,
    fa_fwd_2q,
    fa_fwd_ptr,
    linear_attn,
)
from case_parts import Array, Case, Tile, f32, padded, up


def tile_of(file: str) -> tuple[str, Tile]:
    """Kernel and tile as the name of a corpus file tells them: `fa_fwd_sm90_d64m128n64-bf16-causal_v39_pre.ttgir`."""
    found = re.fullmatch(r"(\w+?)_sm\d+_(\w+)-([\w-]+?)_v\d+_\w+\.ttgir", file)
    assert found is not None, file
    kernel, sizes, rest = found.groups()
    dtype, *flags = rest.split("-")
    numbers = {letter: int(size) for letter, size in re.findall(r"([a-z])(?:2x)?(\d+)", sizes)}
    rng = np.random.default_rng(zlib.crc32(f"{kernel} {sizes}".encode()))
    return kernel, Tile(numbers, dtype, frozenset(flags), rng)


def case_for(file: str) -> Case:
    """The case of a file of the corpus."""
    kernel, tile = tile_of(file)
    return CASES[kernel](tile)


# --- matrix products -------------------------------------------------------------------------------------------


def ragged(t: Tile) -> tuple[int, int, int]:
    """Sizes of three tiles by two by two and a bit: the last ones are not full. `length`: of longer loops."""
    return 2 * t.m + t.m // 2, t.n + 24, t.sizes.get("length", t.k) + 8


def tiles(t: Tile, m: int, n: int) -> tuple[int, int]:
    return up(m, t.m) // t.m, up(n, t.n) // t.n


def gemm_tma(t: Tile) -> Case:
    m, n, k = ragged(t)
    a, b = t.numbers(m, k), t.numbers(k, n)
    down, across = tiles(t, m, n)
    return Case([a, b, np.zeros((m, n)), m, n, k], (down * across,), {2: a @ b})


def gemm_tma_nt(t: Tile) -> Case:
    m, n, k = ragged(t)
    a, b = t.numbers(m, k), t.numbers(n, k)
    down, across = tiles(t, m, n)
    return Case([a, b, np.zeros((m, n)), m, n, k], (down * across,), {2: a @ b.T})


def gemm_persistent(t: Tile) -> Case:
    """More tiles than the 132 programs."""
    m, n, k = 12 * t.m - 40, 11 * t.n + 8, t.k + 8
    a, b = t.numbers(m, k), t.numbers(k, n)
    return Case([a, b, np.zeros((m, n)), m, n, k], (132,), {2: a @ b})


def gemm_devdesc(t: Tile) -> Case:
    m, n, k = ragged(t)
    a, b = t.numbers(m, k), t.numbers(k, n)
    return Case([a, b, np.zeros((m, n)), m, n, k], tiles(t, m, n), {2: a @ b})


@dataclass(frozen=True)
class Pointers:
    """A product whose arrays are larger than the matrices: rows of whole tiles, and some columns more."""

    a: Array
    b: Array
    c: Array
    sizes: tuple[int, int, int]
    wide: tuple[Array, Array, Array]
    grid: tuple[int, int]

    def arguments(self, *between: Any) -> list[Any]:
        return [*self.wide[:2], *between, self.wide[2], *self.sizes, *(array.shape[1] for array in self.wide)]

    def result(self, product: Array) -> Array:
        """The array of C with a product in its corner."""
        whole = self.wide[2].copy()
        whole[: product.shape[0], : product.shape[1]] = product
        return whole


def pointers(t: Tile, k: int, second: str | None = None, ragged_tiles: bool = True) -> Pointers:
    m, n = (t.m + t.m // 2, t.n + 24) if ragged_tiles else (2 * t.m, 2 * t.n)
    a, b = t.numbers(m, k), t.numbers(k, n, dtype=second)
    wide_a = padded(a, up(m, t.m), up(k, t.k) + 16)
    wide_b = padded(b, up(k, t.k), up(n, t.n) + 16)
    c = t.numbers(up(m, t.m), up(n, t.n) + 16, dtype="f32" if t.dtype == "f32" else "f16" if t.dtype == "f16" else None)
    return Pointers(a, b, c, (m, n, k), (wide_a, wide_b, c), tiles(t, m, n))


def gemm_ptr(t: Tile) -> Case:
    p = pointers(t, 2 * t.k)
    return Case(p.arguments(), p.grid, {2: p.result(p.a @ p.b)})


def gemm_ptr_masked(t: Tile) -> Case:
    p = pointers(t, t.k + 24)
    return Case(p.arguments(), p.grid, {2: p.result(p.a @ p.b)})


def gemm_splitk(t: Tile) -> Case:
    p = pointers(t, 6 * t.k)
    m, n, _ = p.sizes
    return Case(p.arguments(), (*p.grid, 4), {2: p.result(p.c[:m, :n] + p.a @ p.b)})


def gemm_w8(t: Tile) -> Case:
    p = pointers(t, 2 * t.k, second="i8")
    scales = np.abs(t.numbers(up(p.sizes[1], t.n), dtype="f32")) / 64
    return Case(p.arguments(scales), p.grid, {3: p.result(p.a @ p.b * scales[: p.sizes[1]])})


def gemm_call(t: Tile) -> Case:
    p, slope = pointers(t, 3 * t.k, ragged_tiles=False), 0.03125
    weight = 1 / (1 + np.arange(0, 3 * t.k, t.k) * slope).repeat(t.k)
    return Case([*p.arguments(), slope], p.grid, {2: p.result(p.a * weight @ p.b)})


def gemm_skip(t: Tile) -> Case:
    p, flags = pointers(t, 4 * t.k, ragged_tiles=False), np.array([1, 0, 7, 1])
    total = np.zeros((2 * t.m, 2 * t.n))
    for step, flag in enumerate(flags):
        part = slice(step * t.k, (step + 1) * t.k)
        total = total + p.a[:, part] @ p.b[part] if flag else total * 0.5
    arguments = p.arguments()
    return Case([*arguments[:3], flags, *arguments[3:]], p.grid, {2: p.result(total)})


def two_gemms(t: Tile) -> Case:
    size, k = 2 * t.m, 2 * t.k
    ld = max(size, k) + 16
    a, b, c, d = t.numbers(size, k), t.numbers(k, size), t.numbers(size, k), t.numbers(k, size)
    inputs = [padded(x, len(x), ld) for x in (a, b, c, d)]
    expected = padded(a @ b + c @ d, size, ld)
    return Case([*inputs, np.zeros((size, ld)), k, ld], (2, 2), {4: expected})


def gemm_bias_gelu(t: Tile) -> Case:
    m, n, k = ragged(t)
    a, b, bias = t.numbers(m, k, scale=0.3), t.numbers(k, n, scale=0.3), t.numbers(up(n, t.n))
    x = a @ b + bias[:n]
    if "tanh" in t.flags:
        y = 0.5 * x * (1 + np.tanh(f32(0.7978845608) * (x + f32(0.044715) * x * x * x)))
    else:
        y = 0.5 * x * (1 + error_function(x * f32(0.7071067811865476)))
    return Case([a, b, bias, np.zeros((m, n)), m, n, k], tiles(t, m, n), {3: y})


def error_function(x: Array) -> Array:
    """The error function by its Taylor series and, far out, its continued fraction: independent of `math.erf`."""
    near, far = np.clip(x, -3, 3), np.maximum(np.abs(x), 3)
    term, total = near.copy(), near.copy()
    for index in range(1, 80):
        term = -term * near * near / index
        total = total + term / (2 * index + 1)
    fraction = far.copy()
    for index in range(60, 0, -1):
        fraction = far + index / 2 / fraction
    outside = np.sign(x) * (1 - np.exp(-far * far) / fraction / np.sqrt(np.pi))
    return np.where(np.abs(x) < 3, 2 / np.sqrt(np.pi) * total, outside)


def gemm_swiglu(t: Tile) -> Case:
    m, n, k = ragged(t)
    x, gate, up_ = t.numbers(m, k, scale=0.3), t.numbers(k, n, scale=0.5), t.numbers(k, n, scale=0.5)
    g = x @ gate
    return Case([x, gate, up_, np.zeros((m, n)), m, n, k], tiles(t, m, n), {3: g / (1 + np.exp(-g)) * (x @ up_)})


def gemm_fp8(t: Tile) -> Case:
    m, n, k = ragged(t)
    a, b = t.numbers(m, k), t.numbers(n, k)
    by_row, by_column = (np.abs(t.numbers(up(size, tile), dtype="f32")) for size, tile in ((m, t.m), (n, t.n)))
    expected = a @ b.T * by_row[:m, None] * by_column[:n]
    return Case([a, b, np.zeros((m, n)), by_row, by_column, m, n, k], tiles(t, m, n), {2: expected})


def gemm_fp8_blockscale(t: Tile) -> Case:
    m, n, k = ragged(t)
    steps = up(k, t.k) // t.k
    a, b = t.numbers(m, k), t.numbers(n, k)
    left = np.abs(t.numbers(up(m, t.m), steps, dtype="f32"))
    right = np.abs(t.numbers(up(n, t.n) // t.n, steps, dtype="f32"))
    scaled_a = a * left[:m].repeat(t.k, axis=1)[:, :k]
    scaled_b = b * right.repeat(t.k, axis=1)[:, :k].repeat(t.n, axis=0)[:n]
    arguments = [a, b, np.zeros((m, n)), left, right, m, n, k]
    return Case(arguments, tiles(t, m, n), {2: scaled_a @ scaled_b.T})


# --- without matrix products -----------------------------------------------------------------------------------


def layer_norm(t: Tile) -> Case:
    count, width, eps = 3, t.n + t.n // 2, f32(1e-5)
    ld = width + 16
    x = padded(t.numbers(count, width) + 2, count, ld, fill=99.0)
    weight, bias = t.numbers(width), t.numbers(width)
    used = x[:, :width]
    mean, variance = used.mean(1, keepdims=True), used.var(1, keepdims=True)
    y = padded((used - mean) / np.sqrt(variance + eps) * weight + bias, count, ld)
    return Case([x, np.zeros((count, ld)), weight, bias, ld, width, eps], (count,), {1: y})


def softmax_rows(t: Tile) -> Case:
    count, width = t.m + t.m // 2, t.n + 40
    ld = width + 24
    x = padded(t.numbers(count, width, scale=3), count, ld)
    e = np.exp(x[:, :width] - x[:, :width].max(1, keepdims=True))
    y = padded(e / e.sum(1, keepdims=True), count, ld)
    return Case([x, np.zeros((count, ld)), ld, count, width], (2,), {1: y})


def solve_while(t: Tile) -> Case:
    x, tol = t.numbers(3, t.n), f32(1e-3)
    expected = x.copy()
    for row in expected:
        change = np.inf
        while change > tol:
            new = np.cos(row)
            change = np.abs(new - row).max()
            row[:] = new
    return Case([x.reshape(-1), np.zeros(3 * t.n), tol], (3,), {1: expected.reshape(-1)})


def chain_while(t: Tile) -> Case:
    following = np.array([3, -1, 4, 5, 5, 2, 1])  # 0 -> 3 -> 5 -> 2 -> 4 -> 5 never ends: see `starts`
    following[5] = 6
    values = t.numbers(7, t.n)
    expected = np.zeros((3, t.n))
    for program in range(3):
        node = following[program]
        while node >= 0:
            expected[program] += values[node]
            node = following[node]
    return Case([following, values, np.zeros((3, t.n))], (3,), {2: expected})


def axpby(t: Tile) -> Case:
    size = 2 * t.n + 100
    x, y, z = t.numbers(size + 50), t.numbers(size + 50), t.numbers(size + 50)
    a, b = 1.5, -0.75
    expected = z.copy()
    expected[:size] = np.where(x > y, a * x + b * y, np.exp(-x) * b)[:size]
    return Case([x, y, z, a, b, size], (3,), {2: expected})


def matvec(t: Tile) -> Case:
    count, width = t.m + 5, t.n + 30
    ld = width + 16
    a, x, y = t.numbers(count, width), t.numbers(width), t.numbers(count + 3, dtype="f32")
    expected = y.copy()
    expected[:count] = a @ x
    return Case([padded(a, 2 * t.m, ld), x, y, count, width, ld], (2,), {2: expected})


CASES: dict[str, Callable[[Tile], Case]] = {
    function.__name__: function
    for function in (
        fa_fwd,
        fa_fwd_2q,
        fa_fwd_ptr,
        fa_bwd_dkdv,
        fa_bwd_dq,
        fa_bwd_fused,
        fa_bwd_fused_ptr,
        linear_attn,
        gemm_tma,
        gemm_tma_nt,
        gemm_persistent,
        gemm_devdesc,
        gemm_ptr,
        gemm_ptr_masked,
        gemm_splitk,
        gemm_w8,
        gemm_call,
        gemm_skip,
        two_gemms,
        gemm_bias_gelu,
        gemm_swiglu,
        gemm_fp8,
        gemm_fp8_blockscale,
        layer_norm,
        softmax_rows,
        solve_while,
        chain_while,
        axpby,
        matvec,
    )
}
CASES["gemm_tma_cta2"] = gemm_tma
CASES["gemm_devdesc_old"] = gemm_devdesc
