"""Lowering of `ttng.warp_group_dot`."""

from __future__ import annotations

from core.export.cuda.context import Context, Lowerings
from core.export.cuda.elements import ElementError, cpp_type
from core.export.cuda.holds import Tile, View
from core.export.cuda.layouts import Layout
from core.export.cuda.wgmma import WgmmaShape, wrappers

_MOST_COLUMNS = 256  # of one instruction


def _warp_group_dot(context: Context) -> None:
    """Operands: A in shared memory or registers, B in shared memory, accumulator (None: zero), whether it counts."""
    op, target = context.operation, context.target()
    left, right = context.held(0), context.view(1)
    if target.element != "f32":
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
    transposed = isinstance(left, View) and left.transposed
    shape = WgmmaShape(columns_of_instruction(target.layout), cpp_type(right.element), transposed, not right.transposed)
    try:
        wrappers([shape])
    except ValueError as problem:
        raise ElementError(str(problem)) from None
    context.role.kernel.matrix_shapes.add(shape)
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


LOWERINGS: Lowerings = {"ttng.warp_group_dot": _warp_group_dot}
