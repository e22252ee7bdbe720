"""Attention, forward and backward, and linear attention, as formulas in float64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from case_parts import LOG2_E, Array, Case, Tile, f32, padded


@dataclass(frozen=True)
class Attention:
    """One layer with its inputs by head, and everything that forward and backward compute of them."""

    q: Array
    k: Array
    v: Array
    scale: float  # of the scores that go into exp
    log2_scale: float  # of the scores that go into exp2
    causal: bool

    @cached_property
    def scores(self) -> Array:
        s = self.q @ self.k.swapaxes(1, 2) * self.log2_scale
        length = s.shape[1]
        return np.where(np.tri(length, dtype=bool), s, -np.inf) if self.causal else s

    @cached_property
    def lse(self) -> Array:
        peak = self.scores.max(2)
        return peak + np.log2(np.exp2(self.scores - peak[:, :, None]).sum(2))

    @cached_property
    def p(self) -> Array:
        return np.exp2(self.scores - self.lse[:, :, None])

    @cached_property
    def o(self) -> Array:
        return self.p @ self.v


def attention(t: Tile, heads: int, length: int) -> Attention:
    shape = (heads, length, t.d)
    log2_scale = f32(LOG2_E / np.sqrt(t.d))
    return Attention(
        t.numbers(*shape), t.numbers(*shape), t.numbers(*shape), f32(1 / np.sqrt(t.d)), log2_scale, "causal" in t.flags
    )


def heads_of(t: Tile) -> int:
    return t.sizes.get("heads", 2)


def rows(values: Array) -> Array:
    """Heads one below the other."""
    return values.reshape(-1, values.shape[-1])


def fa_fwd(t: Tile) -> Case:
    heads, length = heads_of(t), 2 * max(t.m, t.n)
    a = attention(t, heads, length)
    out, lse = np.zeros((heads * length, t.d)), np.zeros(heads * length)
    arguments = [rows(a.q), rows(a.k), rows(a.v), out, lse, length, a.log2_scale]
    return Case(arguments, (length // t.m, heads), {3: rows(a.o), 4: a.lse.reshape(-1)})


def fa_fwd_2q(t: Tile) -> Case:
    heads, length = heads_of(t), 2 * max(2 * t.m, t.n)
    a = attention(t, heads, length)
    arguments = [rows(a.q), rows(a.k), rows(a.v), np.zeros((heads * length, t.d)), length, a.log2_scale]
    return Case(arguments, (length // (2 * t.m), heads), {3: rows(a.o)})


def fa_fwd_ptr(t: Tile) -> Case:
    heads, length, ld = heads_of(t), 2 * max(t.m, t.n), t.d + 16
    a = attention(t, heads, length)
    q, k, v, out = (padded(rows(x), heads * length, ld) for x in (a.q, a.k, a.v, a.q * 0))
    expected = padded(rows(a.o), heads * length, ld)
    return Case([q, k, v, out, length, ld, a.log2_scale], (length // t.m, heads), {3: expected})


@dataclass(frozen=True)
class Backward:
    """Inputs of the backward kernels, and the gradients."""

    forward: Attention
    do: Array
    lse: Array
    delta: Array

    @cached_property
    def p(self) -> Array:
        return np.exp2(self.forward.scores - self.lse[:, :, None])

    @cached_property
    def ds(self) -> Array:
        return self.p * (self.do @ self.forward.v.swapaxes(1, 2) - self.delta[:, :, None])

    @cached_property
    def dq(self) -> Array:
        return self.ds @ self.forward.k * self.forward.scale

    @cached_property
    def dk(self) -> Array:
        return self.ds.swapaxes(1, 2) @ self.forward.q * self.forward.scale

    @cached_property
    def dv(self) -> Array:
        return self.p.swapaxes(1, 2) @ self.do


def backward(t: Tile, heads: int, length: int) -> Backward:
    a = attention(t, heads, length)
    do = t.numbers(heads, length, t.d)
    lse, delta = (x.astype(np.float32).astype(np.float64) for x in (a.lse, (do * a.o).sum(2)))
    return Backward(a, do, lse, delta)


def tail(b: Backward, length: int) -> list[Any]:
    return [b.lse.reshape(-1), b.delta.reshape(-1), length, b.forward.scale, b.forward.log2_scale]


def fa_bwd_dkdv(t: Tile) -> Case:
    heads, length = heads_of(t), 2 * max(t.m, t.n)
    b = backward(t, heads, length)
    a, empty = b.forward, np.zeros((heads * length, t.d))
    arguments = [rows(a.q), rows(a.k), rows(a.v), rows(b.do), empty, empty.copy(), *tail(b, length)]
    return Case(arguments, (length // t.n, heads), {4: rows(b.dk), 5: rows(b.dv)})


def fa_bwd_dq(t: Tile) -> Case:
    heads, length = heads_of(t), 2 * max(t.m, t.n)
    b = backward(t, heads, length)
    a, empty = b.forward, np.zeros((heads * length, t.d))
    arguments = [rows(a.q), rows(a.k), rows(a.v), rows(b.do), empty, *tail(b, length)]
    return Case(arguments, (length // t.m, heads), {4: rows(b.dq)})


def fa_bwd_fused(t: Tile) -> Case:
    heads, length = heads_of(t), 2 * max(t.m, t.n)
    b = backward(t, heads, length)
    a, empty = b.forward, np.zeros((heads * length, t.d))
    before = t.numbers(heads * length, t.d, dtype="f32")
    arguments = [rows(a.q), rows(a.k), rows(a.v), rows(b.do), before, empty, empty.copy(), *tail(b, length)]
    return Case(arguments, (length // t.n, heads), {4: before + rows(b.dq), 5: rows(b.dk), 6: rows(b.dv)})


def fa_bwd_fused_ptr(t: Tile) -> Case:
    heads, length, ld = heads_of(t), 2 * max(t.m, t.n), t.d + 16
    b = backward(t, heads, length)
    a = b.forward
    wide = (heads * length, ld)
    before = t.numbers(heads * length, t.d, dtype="f32")
    inputs = [padded(rows(x), *wide) for x in (a.q, a.k, a.v, b.do)]
    empty = np.zeros(wide)
    lse, delta, *scalars = tail(b, length)
    arguments = [*inputs, padded(before, *wide), empty, empty.copy(), lse, delta, length, ld, *scalars[1:]]
    results = (before + rows(b.dq), rows(b.dk), rows(b.dv))
    return Case(arguments, (length // t.n, heads), {4 + i: padded(x, *wide) for i, x in enumerate(results)})


def linear_attn(t: Tile) -> Case:
    heads, chunks = 2, 3
    length = chunks * t.c
    q, k = t.numbers(heads, length, t.k, scale=0.3), t.numbers(heads, length, t.k, scale=0.3)
    v = t.numbers(heads, length, t.v)
    decay = np.array([-0.25, -0.03125])
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    weight = np.where(distance >= 0, np.exp2(decay[:, None, None] * distance), 0.0)
    expected = (q @ k.swapaxes(1, 2) * weight) @ v
    out = np.zeros((heads * length, t.v))
    return Case([rows(q), rows(k), rows(v), out, length, decay], (heads,), {3: rows(expected)})
