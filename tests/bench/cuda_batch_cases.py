"""Calls of the corpus' kernels with expected outputs, as batch files: small ones, and some with long loops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.diagnostics import InputError
from core.export.cuda.batch import Case, checked_batch
from core.ir.interpret import parameters
from core.ir.source import load_module
from tests.bench.cuda_exports import Export

sys.path.insert(0, str(Path(__file__).parents[1] / "core" / "ir" / "interpret"))
import kernel_cases
from case_parts import Tile, up


def small_persistent(t: Any) -> kernel_cases.Case:
    """Fewer tiles than programs, so that a batch stays small."""
    m, n, k = 3 * t.m - 40, 2 * t.n + 8, t.sizes.get("length", t.k) + 8
    a, b = t.numbers(m, k), t.numbers(k, n)
    return kernel_cases.Case([a, b, np.zeros((m, n)), m, n, k], (132,), {2: a @ b})


CASES = kernel_cases.CASES | {"gemm_persistent": small_persistent}


def _keys(t: Tile, iterations: int, rows: int = 1) -> dict[str, int]:
    """Attention over so many tiles of keys, beside those that a causal mask leaves to the last rows' other loop."""
    masked = t.m // t.n if "causal" in t.flags else 0
    return {"heads": 1, "n": up(-(-(iterations + masked) * t.n // 2), max(rows * t.m, t.n))}


def _queries(t: Tile, iterations: int) -> dict[str, int]:
    return {"heads": 1, "m": up(-(-iterations * t.m // 2), max(t.m, t.n))}


def _products(t: Tile, iterations: int) -> dict[str, int]:
    return {"length": iterations * t.k}


LONGER: Mapping[str, Callable[[Tile, int], dict[str, int]]] = {
    "fa_fwd": _keys,
    "fa_fwd_ptr": _keys,
    "fa_bwd_dq": _keys,
    "fa_fwd_2q": lambda t, iterations: _keys(t, iterations, rows=2),
    "fa_bwd_dkdv": _queries,
    "fa_bwd_fused": _queries,
    "fa_bwd_fused_ptr": _queries,
    "linear_attn": lambda t, iterations: {"c": up(-(-iterations * t.c // 3), t.c)},
    "gemm_ptr": lambda t, iterations: {"k": -(-iterations // 2) * t.k},
    "gemm_ptr_masked": lambda t, iterations: {"k": iterations * t.k},
    "gemm_splitk": lambda t, iterations: {"k": -(-4 * iterations // 6) * t.k},
    "gemm_w8": lambda t, iterations: {"k": -(-iterations // 2) * t.k},
    "layer_norm": lambda t, iterations: {"n": -(-2 * iterations // 3) * t.n},
    "softmax_rows": lambda t, iterations: {"n": iterations * t.n},
    "matvec": lambda t, iterations: {"n": iterations * t.n},
}
"""The sizes, by kernel, in which a call's loop has at least so many iterations; `_products` for those without an entry.

The cases make of them lengths that the sizes of the kernel's tiles divide, or that are ragged as those of small calls.
"""


def call_of(stem: str, iterations: int = 0) -> kernel_cases.Case:
    """The call of a corpus file's kernel; `iterations` of its main loop: at least so many, if any."""
    name, tile = kernel_cases.tile_of(f"{stem}.ttgir")
    if iterations:
        tile = replace(tile, sizes=tile.sizes | LONGER.get(name, _products)(tile, iterations))
    return CASES[name](tile)


def batch_file(export: Export, stem: str, iterations: int = 0) -> bytes | str:
    """A batch file with that call, or why the interpreter refuses it."""
    case, module = call_of(stem, iterations), load_module(export.file)
    arguments = {p.name: value for p, value in zip(parameters(module, export.kernel), case.arguments, strict=True)}
    try:
        return checked_batch(module, export.kernel, [Case(stem, arguments, case.grid)])
    except InputError as problem:
        return f"not interpreted: {problem.diagnostics[0].message}"
