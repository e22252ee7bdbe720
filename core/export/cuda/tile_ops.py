"""Lowering of ops on register tiles and scalars: elementwise, views, reductions, conversions of layout."""

from __future__ import annotations

import re

from core.export.cuda.context import Context, Lowerings, RoleText
from core.export.cuda.elements import ElementError, cpp_type, element_bytes, literal
from core.export.cuda.holds import Scalar, Tile, View
from core.export.cuda.layouts import Layout, narrowed, permuted, with_dimension, without_dimension
from core.export.cuda.names import identifier
from core.export.cuda.scalar import constant, expression
from core.ir.model import Operation

_NUMBER = re.compile(r"-?\d+")
_AXES = {"x": 0, "y": 1, "z": 2}


def numbers(op: Operation, name: str) -> tuple[int, ...]:
    """The integers of an attribute `1 : i32` or `array<i32: 1, 0>`. Raises ElementError without it."""
    text = op.attributes.get(name)
    if text is None:
        raise ElementError(f"the op without its attribute {name}")
    return tuple(int(number) for number in _NUMBER.findall(text.rpartition("array<i32:")[2].partition(" : ")[0]))


def elementwise(context: Context) -> None:
    """A map over tiles of one layout; scalars among the operands of a tile stand for all elements."""
    op, result = context.operation, context.results[0]
    operands = [context.held(index) for index in range(len(op.operands))]
    if isinstance(result, Scalar):
        scalars = [context.scalar(index) for index in range(len(operands))]
        context.set(expression(op, [s.text for s in scalars], [s.element for s in scalars], result.element))
        return
    target = context.target()
    tiles = [
        _uniform(context, held, target.layout)
        if isinstance(held, Scalar)
        else context.role.converted(held, target.layout)
        for held in operands
        if isinstance(held, Tile | Scalar)
    ]
    if len(tiles) != len(operands):
        raise ElementError("an operand that is neither a tile nor a number")
    elements = [tile.element for tile in tiles]
    if op.name == "arith.truncf" and elements == ["f32"]:
        context.line(f"tw::cast({target.text}, {tiles[0].text});")
        return
    names = ["a", "b", "c", "d"][: len(tiles)]
    body = expression(op, names, elements, target.element)
    parameters = ", ".join(f"{cpp_type(element)} {name}" for element, name in zip(elements, names, strict=True))
    sources = "".join(f", {tile.text}" for tile in tiles)
    context.line(f"tw::map({target.text}, TW_FN({parameters}) {{ return {body}; }}{sources});")


def _uniform(context: Context, held: Scalar, layout: Layout) -> Tile:
    tile = context.role.temporary("uniform", held.element, layout)
    context.line(f"tw::fill({tile.text}, {held.text});")
    return tile


def _constant(context: Context) -> None:
    result = context.results[0]
    if isinstance(result, Scalar):
        context.set(constant(context.operation, result.element))
        return
    target = context.target()
    context.line(f"tw::fill({target.text}, {cpp_type(target.element)}({constant(context.operation, target.element)}));")


def _splat(context: Context) -> None:
    context.line(f"tw::fill({context.target().text}, {context.scalar(0).text});")


def _make_range(context: Context) -> None:
    target, (start,) = context.target(), numbers(context.operation, "start")
    context.line(f"tw::iota<0>(g, {target.text}, {literal(str(start), target.element)});")


def _program_id(context: Context) -> None:
    axis = context.operation.text_arguments.strip()
    if axis not in _AXES:
        raise ElementError(f"the axis '{axis}'")
    number = _AXES[axis]
    context.set(f"pid{number}" if context.operation.name == "tt.get_program_id" else f"p.grid[{number}]")


def _expand_dims(context: Context) -> None:
    target, (axis,) = context.target(), numbers(context.operation, "axis")
    source = context.role.converted(context.tile(0), without_dimension(target.layout, axis))
    context.line(f"tw::expand<{axis}>({target.text}, {source.text});")


def _broadcast(context: Context) -> None:
    target, source = context.target(), context.tile(0)
    source = context.role.converted(source, narrowed(target.layout, source.layout.shape))
    context.line(f"tw::broadcast({target.text}, {source.text});")


def _transpose(context: Context) -> None:
    target, order = context.target(), numbers(context.operation, "order")
    inverse = tuple(order.index(dimension) for dimension in range(len(order)))
    source = context.role.converted(context.tile(0), permuted(target.layout, inverse))
    context.line(f"tw::permute<{', '.join(map(str, order))}>({target.text}, {source.text});")


def _convert_layout(context: Context) -> None:
    result = context.results[0]
    if not isinstance(result, View):
        context.role.move(context.target(), context.tile(0))
        return
    context.line("tw::group_sync(g);")  # all warps are done with what was there
    context.line(f"tw::smem_store(g, {result.text}, {context.tile(0).text});")
    context.line("tw::async_fence();")
    context.line("tw::group_sync(g);")


def _unsplat(context: Context) -> None:
    context.set(f"{context.tile(0).text}.get(0)")


def _reduce(context: Context) -> None:
    """One operand; a vector is reduced as a tile of one row, whose result each thread has."""
    op, (axis,) = context.operation, numbers(context.operation, "axis")
    if len(op.operands) != 1:
        raise ElementError("a reduction of several tiles at once")
    source, result = context.tile(0), context.results[0]
    if isinstance(result, Scalar):
        if len(source.layout.shape) != 1:
            raise ElementError("a scalar of a tile with several dimensions")
        row = context.role.temporary("row", source.element, with_dimension(source.layout, 0))
        context.line(f"tw::expand<0>({row.text}, {source.text});")
        single = context.role.temporary("total", result.element, without_dimension(row.layout, 1))
        _reduction(context, single, row, 1)
        context.set(f"{single.text}.get(0)")
        return
    target = context.target()
    natural = without_dimension(source.layout, axis)
    if target.layout == natural or op in context.role.deferred:
        _reduction(context, target, source, axis)
    else:
        reduced = context.role.temporary("reduced", target.element, natural)
        _reduction(context, reduced, source, axis)
        context.role.move(target, reduced)


def _reduction(context: Context, target: Tile, source: Tile, axis: int) -> None:
    combine = _combiner(context.operation, target.element)
    if context.operation in context.role.deferred:
        context.line(f"tw::reduce_own<{axis}>({target.text}, {source.text}, {combine});")
        return
    scratch = _reduction_scratch(context.role, target, source, axis)
    context.line(f"tw::reduce<{axis}>(g, {target.text}, {source.text}, {combine}{scratch});")


def _reduction_scratch(role: RoleText, target: Tile, source: Tile, axis: int) -> str:
    """The argument for the memory through which warps that share a row exchange, if they do."""
    if not any(basis[axis] for basis in source.layout.warp):
        return ""
    size = 32 * source.layout.warps * target.layout.registers * element_bytes(target.element)
    return f", {role.use_scratch(size)}"


def put_together(role: RoleText, op: Operation, total: Tile, source: Tile) -> None:
    """Makes the sum of its parts in all threads; `source`: a tile like the one that `op` reduces."""
    (axis,) = numbers(op, "axis")
    scratch = _reduction_scratch(role, total, source, axis)
    layout = role.kernel.layout_name(source.layout)
    combine = _combiner(op, total.element)
    role.lines.add(f"tw::reduce_threads<{axis}, {layout}>(g, {total.text}, {combine}{scratch});")


def _combiner(op: Operation, element: str) -> str:
    """The region of a reduction as a function of two elements."""
    block = op.regions[0].blocks[0]
    kind = cpp_type(element)
    texts = {value: identifier(f"a{index}") for index, value in enumerate(block.arguments)}
    parameters = ", ".join(f"{kind} {texts[value]}" for value in block.arguments)
    *steps, last = block.operations
    body = ""
    for index, step in enumerate(steps):
        elements = [operand.type for operand in step.operands]
        result = step.results[0]
        text = (
            constant(step, result.type)
            if step.name == "arith.constant"
            else expression(step, [texts[operand] for operand in step.operands], elements, result.type)
        )
        if index == len(steps) - 1 and last.operands == (result,):
            return f"TW_FN({parameters}) {{ {body}return {text}; }}"
        texts[result] = f"x{index}"
        body += f"const {cpp_type(result.type)} x{index} = {text}; "
    return f"TW_FN({parameters}) {{ {body}return {texts[last.operands[0]]}; }}"


LOWERINGS: Lowerings = {
    "arith.constant": _constant,
    "tt.splat": _splat,
    "tt.make_range": _make_range,
    "tt.get_program_id": _program_id,
    "tt.get_num_programs": _program_id,
    "tt.expand_dims": _expand_dims,
    "tt.broadcast": _broadcast,
    "tt.trans": _transpose,
    "ttg.convert_layout": _convert_layout,
    "tt.unsplat": _unsplat,
    "tt.reduce": _reduce,
}
