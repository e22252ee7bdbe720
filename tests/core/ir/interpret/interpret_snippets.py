"""Small kernels as text, and running them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.ir.interpret import Precision, run
from core.ir.parser import parse_module

Array = np.ndarray[Any, Any]

_ALIASES = """\
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
"""


def kernel(signature: str, body: str, functions: str = "") -> str:
    """A module with a function `f`; `body` begins on line 3, and aliases of layouts come last."""
    head = 'module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {\n'
    return f"{head}tt.func public @f({signature}) {{\n{body}\ntt.return\n}}\n{functions}}}\n{_ALIASES}"


def run_text(
    text: str, arguments: Mapping[str, Any], grid: tuple[int, ...] = (1,), precision: Precision = Precision.STATED
) -> dict[str, Array]:
    """What the function `f` of a text writes."""
    return run(parse_module(text, "t.ttgir"), "f", arguments, grid, precision=precision)


def tile(size: int, element: str) -> str:
    return f"tensor<{size}x{element}>"


def address(name: str, pointer: str, size: int, element: str) -> str:
    """Lines that define `%name_at`: the addresses of an array's first elements."""
    pointers = tile(size, f"!tt.ptr<{element}>")
    return f"""\
%{name}_r = tt.make_range {{end = {size} : i32, start = 0 : i32}} : {tile(size, "i32")}
%{name}_p = tt.splat %{pointer} : !tt.ptr<{element}> -> {pointers}
%{name}_at = tt.addptr %{name}_p, %{name}_r : {pointers}, {tile(size, "i32")}"""


def elementwise(
    op: str, inputs: list[tuple[str, Array]], result: str, precision: Precision = Precision.STATED
) -> Array:
    """Runs one op on whole arrays: `%r = arith.addi %a, %b : tensor<$xi32>`; `$` is their size.

    `inputs` are element types and values of %a, %b, %c; `result` is the element type of %r.
    """
    size = len(inputs[0][1])
    names = "abc"[: len(inputs)]
    lines = [address("out", "out", size, result)]
    for name, (element, _) in zip(names, inputs, strict=True):
        lines.append(address(name, f"in_{name}", size, element))
        lines.append(f"%{name} = tt.load %{name}_at : {tile(size, f'!tt.ptr<{element}>')}")
    lines.append(op.replace("$", str(size)))
    lines.append(f"tt.store %out_at, %r : {tile(size, f'!tt.ptr<{result}>')}")
    parameters = [f"%in_{name}: !tt.ptr<{element}>" for name, (element, _) in zip(names, inputs, strict=True)]
    signature = ", ".join([*parameters, f"%out: !tt.ptr<{result}>"])
    empty = np.zeros(size, np.float64 if "f" in result else np.int64)
    arguments = {f"in_{name}": values for name, (_, values) in zip(names, inputs, strict=True)} | {"out": empty}
    return run_text(kernel(signature, "\n".join(lines)), arguments, precision=precision)["out"]
