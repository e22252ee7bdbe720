"""The text of `wgmma.inc`: one wrapper for each shape of warp-group matrix operation that an export uses.

Source of the instruction's form: PTX ISA, "Asynchronous warpgroup level matrix instructions", wgmma.mma_async.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_TYPES = {  # runtime type: (PTX type, K of one instruction, operands may be transposed)
    "tw::f16": ("f16", 16, True),
    "tw::bf16": ("bf16", 16, True),
    "float": ("tf32", 8, False),  # the low 13 bits are left away
    "tw::e4m3": ("e4m3", 32, False),
    "tw::e5m2": ("e5m2", 32, False),
}


@dataclass(frozen=True, slots=True, order=True)
class WgmmaShape:
    """`n`: columns of one instruction, a multiple of 8 up to 256. `element`: runtime type of A and B. `transpose_a`,
    `transpose_b`: the operand's contiguous dimension is M or N instead of K (16-bit types only)."""

    n: int
    element: str
    transpose_a: bool
    transpose_b: bool


def wrappers(shapes: Iterable[WgmmaShape]) -> str:
    """Specialisations of `tw::Wgmma` for the shapes, each once, in order.

    Raises ValueError where wgmma has no such instruction.
    """
    texts = [_wrapper(shape) for shape in sorted(set(shapes))]
    return "#pragma once\n\nnamespace tw {\n" + "\n".join(texts) + "}  // namespace tw\n"


def _wrapper(shape: WgmmaShape) -> str:
    if shape.element not in _TYPES:
        raise ValueError(f"wgmma multiplies no {shape.element}; it can {', '.join(_TYPES)}")
    name, k, transposable = _TYPES[shape.element]
    if shape.n % 8 or not 8 <= shape.n <= 256:
        raise ValueError(f"wgmma has no shape with N = {shape.n}; N is a multiple of 8 from 8 to 256")
    if (shape.transpose_a or shape.transpose_b) and not transposable:
        raise ValueError(f"wgmma reads {shape.element} only with K contiguous")
    both = [_method(shape, name, k, transposable, registers=False)]
    if not shape.transpose_a:
        both.append(_method(shape, name, k, transposable, registers=True))
    transposes = ", ".join("true" if t else "false" for t in (shape.transpose_a, shape.transpose_b))
    head = f"template <> struct Wgmma<{shape.n}, {shape.element}, {transposes}> {{\n"
    return head + "".join(both) + "};\n"


def _method(shape: WgmmaShape, name: str, k: int, transposable: bool, *, registers: bool) -> str:
    count = shape.n // 2
    accumulators = ", ".join(f"%{i}" for i in range(count))
    a = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}" if registers else f"%{count}"
    after = count + (4 if registers else 1)
    flags = ["p", "1", "1"]
    if transposable:
        flags += (
            [str(int(shape.transpose_b))] if registers else [str(int(shape.transpose_a)), str(int(shape.transpose_b))]
        )
    outputs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    inputs = ", ".join(f'"r"(a[{i}])' for i in range(4)) if registers else '"l"(a)'
    signature = (
        "rs(float* d, const uint32_t* a, uint64_t b, int scale_d)"
        if registers
        else "ss(float* d, uint64_t a, uint64_t b, int scale_d)"
    )
    instruction = f"wgmma.mma_async.sync.aligned.m64n{shape.n}k{k}.f32.{name}.{name}"
    return (
        f"  static TW_CALL void {signature} {{\n"
        f'    asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{after + 1}, 0;\\n"\n'
        f'                 "{instruction} {{{accumulators}}}, {a}, %{after}, {", ".join(flags)};\\n}}\\n"\n'
        f"                 : {outputs}\n"
        f'                 : {inputs}, "l"(b), "r"(scale_d));\n'
        "  }\n"
    )
