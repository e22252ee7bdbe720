"""Triton's own parser as an oracle (extra 'triton')."""

from __future__ import annotations

from pathlib import Path

import pytest


def parse_with_triton(path: Path, target: str) -> str:
    """What Triton 3.9's parser reads of a file for a target like "cuda:90", printed. Skips where it is not installed.

    Raises RuntimeError where it reads nothing.
    """
    pytest.importorskip("triton", reason="Triton 3.9 is not installed (extra 'triton')")
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget("cuda", int(target.removeprefix("cuda:")), 32)).load_dialects(context)
    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    return str(module)
