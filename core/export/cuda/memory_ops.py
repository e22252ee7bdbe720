"""Lowering of ops on global and shared memory: pointers, tensor descriptors, shared tiles."""

from __future__ import annotations

from core.export.cuda.context import Context, Lowerings
from core.export.cuda.elements import ElementError, cpp_type, pointee
from core.export.cuda.holds import DescriptorMap, Scalar, Tile, view_bytes, view_type


def _load(context: Context) -> None:
    """`tt.load %pointers, %mask, %other`."""
    pointer, result = context.held(0), context.results[0]
    count = len(context.operation.operands)
    if isinstance(pointer, Scalar):
        value = f"*{pointer.text}"
        if count > 1:
            other = context.scalar(2).text if count > 2 else f"{cpp_type(pointee(pointer.element))}(0)"
            value = f"{context.scalar(1).text} ? {value} : {other}"
        if isinstance(result, Scalar) and result.element == "i1":
            value = f"({value}) != 0"
        context.set(value)
        return
    target = context.target()
    pointers = context.role.converted(context.tile(0), target.layout)
    vector = context.role.vectors(context.operation, target.layout)
    if count == 1:
        context.line(f"tw::load<{vector}>({target.text}, {pointers.text});")
        return
    mask = context.role.converted(context.tile(1), target.layout)
    other = context.role.converted(context.tile(2), target.layout) if count > 2 else _zeros(context, target)
    context.line(f"tw::load<{vector}>({target.text}, {pointers.text}, {mask.text}, {other.text});")


def _zeros(context: Context, like: Tile) -> Tile:
    tile = context.role.temporary("zeros", like.element, like.layout)
    context.line(f"tw::fill({tile.text}, tw::to<{cpp_type(like.element)}>(0.0f));")
    return tile


def _store(context: Context) -> None:
    """`tt.store %pointers, %values, %mask`."""
    pointer, masked = context.held(0), len(context.operation.operands) > 2
    if isinstance(pointer, Scalar):
        condition = f" && {context.scalar(2).text}" if masked else ""
        context.line(f"if (tw::elected(g){condition}) *{pointer.text} = {context.scalar(1).text};")
        return
    pointers = context.tile(0)
    layout = pointers.layout
    values = context.role.converted(context.tile(1), layout)
    mask = f", {context.role.converted(context.tile(2), layout).text}" if masked else ""
    context.line(
        f"tw::store<{context.role.vectors(context.operation, layout)}>(g, {pointers.text}, {values.text}{mask});"
    )


def _atomic(context: Context) -> None:
    """`tt.atomic_rmw fadd, relaxed, gpu, %pointers, %values, %mask`."""
    op = context.operation
    kind = op.text_arguments.split(",")[0].strip()
    if kind not in ("fadd", "add"):
        raise ElementError(f"the atomic operation '{kind}'")
    if any(result is not None for result in context.results):
        raise ElementError("the old values of an atomic operation")
    pointers = context.tile(0)
    values = context.role.converted(context.tile(1), pointers.layout)
    mask = f", {context.role.converted(context.tile(2), pointers.layout).text}" if len(op.operands) > 2 else ""
    context.line(f"tw::atomic_add(g, {pointers.text}, {values.text}{mask});")


def _descriptor_store(context: Context) -> None:
    """`tt.descriptor_store %desc[%i, %j], %tile` and `tt.descriptor_reduce add, ...`: through scratch memory."""
    op = context.operation
    target = context.held(0)
    if not isinstance(target, DescriptorMap):
        raise ElementError("a descriptor that the host does not make")
    if op.name == "tt.descriptor_reduce" and op.text_arguments.split(",")[0].strip() != "add":
        raise ElementError("a reduction to memory other than a sum")
    tile = context.tile(len(op.operands) - 1)
    coordinates = [context.scalar(index).text for index in range(1, len(op.operands) - 1)]
    view = view_type(tile.element, tile.layout.shape, target.encoding)
    scratch = context.role.use_scratch(view_bytes(tile.element, tile.layout.shape, target.encoding))
    call = "tma_reduce_add" if op.name == "tt.descriptor_reduce" else "tma_store"
    lines = context.role.lines
    with lines.block("{"):
        lines.add(f"const {view} stage{{{scratch}}};")
        lines.add(f"tw::smem_store(g, stage, {tile.text});")
        lines.add("tw::async_fence();")
        lines.add("tw::group_sync(g);")
        with lines.block("if (tw::elected(g)) {"):
            lines.add(f"tw::{call}({target.text}, stage, {', '.join(coordinates)});")
            lines.add("tw::tma_store_commit();")
    context.role.stored = True


def _local_load(context: Context) -> None:
    context.line(f"tw::smem_load(g, {context.target().text}, {context.view(0).text});")


LOWERINGS: Lowerings = {
    "tt.load": _load,
    "tt.store": _store,
    "tt.atomic_rmw": _atomic,
    "tt.descriptor_store": _descriptor_store,
    "tt.experimental_descriptor_store": _descriptor_store,
    "tt.descriptor_reduce": _descriptor_store,
    "ttg.local_load": _local_load,
}
