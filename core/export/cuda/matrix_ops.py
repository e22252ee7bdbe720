"""Lowering of `ttng.warp_group_dot`, and the include with the wgmma instructions of the shapes used."""

from __future__ import annotations

from collections.abc import Iterable

from core.export.cuda.context import Context, Lowerings
from core.export.cuda.elements import ElementError, cpp_type, element_bytes
from core.export.cuda.holds import Tile, View
from core.export.cuda.layouts import Layout
from core.export.cuda.text import MatrixShape

_MOST_COLUMNS = 256  # of one instruction
_TYPES = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
_OPERAND_BYTES = 32  # of a row of A in one instruction


def _warp_group_dot(context: Context) -> None:
    """Operands: A in shared memory or registers, B in shared memory, accumulator (None: zero), whether it counts."""
    op, target = context.operation, context.target()
    left, right = context.held(0), context.view(1)
    if target.element != "f32" or right.element not in _TYPES:
        raise ElementError(f"a product of {right.element} in {target.element}")
    accumulate = "true" if context.operands[2] is not None else "false"
    if len(op.operands) > 3:
        accumulate = context.scalar(3).text
    context.line("tw::mma_fence();")
    if isinstance(left, Tile):
        call, left_text = "mma_rs", left.text
        _check_operand(left, target.layout)
    elif isinstance(left, View):
        call, left_text = "mma_ss", left.text
    else:
        raise ElementError("operand A that is neither a tile nor in shared memory")
    context.role.kernel.matrix_shapes.add(
        MatrixShape(
            columns_of_instruction(target.layout),
            right.element,
            call == "mma_rs",
            isinstance(left, View) and left.transposed,
            not right.transposed,
        )
    )
    context.line(f"tw::{call}(g, {target.text}, {left_text}, {right.text}, {accumulate});")
    context.line("tw::mma_commit();")


def columns_of_instruction(layout: Layout) -> int:
    """Columns of one instruction for an accumulator: all that a warp group has, at most 256."""
    groups_side_by_side = 1
    for basis in layout.warp[2:]:
        groups_side_by_side *= 2 if basis[1] else 1
    return min(_MOST_COLUMNS, layout.shape[1] // groups_side_by_side)


def _check_operand(left: Tile, accumulator: Layout) -> None:
    if left.layout.warp[:2] != tuple((basis[0], 0) for basis in accumulator.warp[:2]):
        raise ElementError("operand A in registers of other warps than the result's")


def wgmma_include(shapes: Iterable[MatrixShape]) -> str:
    """The specialisations of the runtime's `Wgmma`, each with the forms that are used.

    PTX ISA, "wgmma.mma_async": `scale-d`, the two signs, and for 16-bit types whether A (in shared memory) and B are
    transposed, that is, contiguous along m and n.
    """
    forms: dict[tuple[int, str, bool, bool], set[bool]] = {}
    for shape in shapes:
        key = (shape.columns, shape.element, shape.transposed_a, shape.transposed_b)
        forms.setdefault(key, set()).add(shape.from_registers)
    lines = ["// The matrix instructions of this export.", "#pragma once", "", "namespace tw {"]
    for (columns, element, left, right), registers in sorted(forms.items()):
        flags = f"{str(left).lower()}, {str(right).lower()}"
        lines.append(f"template <> struct Wgmma<{columns}, {cpp_type(element)}, {flags}> {{")
        for from_registers in sorted(registers):
            lines += _instruction(columns, element, left, right, from_registers)
        lines.append("};")
    return "\n".join([*lines, "}  // namespace tw", ""])


def _instruction(columns: int, element: str, left: bool, right: bool, from_registers: bool) -> list[str]:
    results = columns // 2
    form = "rs" if from_registers else "ss"
    parameters = "const uint32_t* a, uint64_t b" if from_registers else "uint64_t a, uint64_t b"
    places = ", ".join(f"%{index}" for index in range(results))
    count = 4 if from_registers else 1
    a_text = "{" + ", ".join(f"%{results + index}" for index in range(4)) + "}" if from_registers else f"%{results}"
    b_place, scale_place = results + count, results + count + 1
    signs = "1, 1"
    if element in ("f16", "bf16"):
        signs += f", {int(right)}" if from_registers else f", {int(left)}, {int(right)}"
    elif left or right:
        raise ElementError(f"operands of {element} that are contiguous along m or n")
    k = _OPERAND_BYTES // element_bytes(element)
    name = f"wgmma.mma_async.sync.aligned.m64n{columns}k{k}.f32.{_TYPES[element]}.{_TYPES[element]}"
    outputs = ", ".join(f'"+f"(d[{index}])' for index in range(results))
    inputs = [f'"r"(a[{index}])' for index in range(4)] if from_registers else ['"l"(a)']
    inputs += ['"l"(b)', '"r"(scale)']
    return [
        f"  static TW_CALL void {form}(float* d, {parameters}, int scale) {{",
        '    asm volatile("{\\n.reg .pred p;\\n"',
        f'                 "setp.ne.b32 p, %{scale_place}, 0;\\n"',
        f'                 "{name} {{{places}}}, {a_text}, %{b_place}, p, {signs};\\n}}\\n"',
        f"                 : {outputs}",
        f"                 : {', '.join(inputs)});",
        "  }",
    ]


LOWERINGS: Lowerings = {"ttng.warp_group_dot": _warp_group_dot}
