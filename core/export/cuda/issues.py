"""One operation of a role program as C++: lowered, put into a slot, or a hole."""

from __future__ import annotations

from collections.abc import Sequence

from core.export.cuda import assembly, matrix_ops, memory_ops, tile_ops
from core.export.cuda.context import Context, Lowering, Lowerings
from core.export.cuda.elements import ElementError, cpp_type
from core.export.cuda.holds import DescriptorMap, Held, Scalar, Tile, View
from core.export.cuda.maps import descriptor_map
from core.export.cuda.scalar import is_elementwise
from core.export.cuda.variables import Variables
from core.export.roles.model import Issue, Register, Slot, Target
from core.ir.model import Operation

TMA_STORES = ("tt.descriptor_store", "tt.experimental_descriptor_store", "tt.descriptor_reduce")
"""Operations that TMA copies from the role's scratch memory."""

_LOWERINGS: Lowerings = {**tile_ops.LOWERINGS, **memory_ops.LOWERINGS, **matrix_ops.LOWERINGS, **assembly.LOWERINGS}
_DESCRIPTOR_MAKERS = ("tt.make_tensor_descriptor", "ttng.reinterpret_tensor_descriptor")
_DESCRIPTOR_LOADS = ("tt.descriptor_load", "tt.experimental_descriptor_load")
_TO_SHARED = (*TMA_STORES, "ttg.local_alloc", "ttg.local_store")


def write_issue(variables: Variables, issue: Issue) -> None:
    """The lines of an operation. What has no text becomes a hole. Raises ElementError for what no hole can stand for:
    a slot that nobody would fill."""
    lines = variables.text.lines
    lines.origin = issue.operation.name_span.line
    _write_issue(variables, issue)
    lines.origin = None


def _write_issue(variables: Variables, issue: Issue) -> None:
    op = issue.operation
    if op.name in _DESCRIPTOR_MAKERS:
        _name_descriptor(variables, issue)
        return
    operands = [variables.source(source) for source in issue.reads]
    slot = next((write for write in issue.writes if isinstance(write, Slot)), None)
    if slot is not None:
        _fill(variables, op, operands, slot)
        return
    if _keeps_layout(variables, issue, operands):
        return
    results, fresh = _results(variables, op, issue.writes)
    context = Context(variables.text, op, operands, results, fresh)
    written = len(variables.text.lines.lines)
    try:
        _lowering(op)(context)
    except ElementError as problem:
        del variables.text.lines.lines[written:]
        _hole(variables, context, str(problem))


def _lowering(op: Operation) -> Lowering:
    if op.name in _LOWERINGS:
        return _LOWERINGS[op.name]
    if is_elementwise(op):
        return tile_ops.elementwise
    raise ElementError("no such operation here")


def _results(
    variables: Variables, op: Operation, writes: Sequence[Target | None]
) -> tuple[list[Held | None], frozenset[int]]:
    results: list[Held | None] = []
    fresh: set[int] = set()
    for index, (write, value) in enumerate(zip(writes, op.results, strict=False)):
        if not isinstance(write, Register) or value not in variables.kernel.users:
            results.append(None)
        elif write.name in variables.storages:
            results.append(variables.held[write.name])
        else:
            results.append(variables.declare(write.name, value))
            if isinstance(results[-1], Scalar):
                fresh.add(index)
    return results, frozenset(fresh)


def _keeps_layout(variables: Variables, issue: Issue, operands: Sequence[Held | None]) -> bool:
    """Whether the result of a layout conversion can be the operand itself: in registers nothing changes, or who takes
    it stores it to shared memory, which any layout may do.

    So the registers that an asynchronous matrix op reads are those of the value itself, which are left alone until it
    is done. A storage may be written again before a later use; in scheduled loops views stand right before it.
    """
    op, operand = issue.operation, operands[0] if operands else None
    if op.name != "ttg.convert_layout" or not isinstance(operand, Tile):
        return False
    source, write = issue.reads[0], issue.writes[0]
    if not isinstance(source, Register) or not isinstance(write, Register) or write.name in variables.storages:
        return False
    users = variables.kernel.users.get(op.results[0], [])
    to_shared = bool(users) and all(user.name in _TO_SHARED for user in users)
    same = variables.like(op.results[0]).layout == operand.layout
    at_once = issue.instance is not None or source.name not in variables.storages
    if not at_once or not (same or to_shared):
        return False
    variables.held[write.name] = operand
    return True


def _hole(variables: Variables, context: Context, reason: str) -> None:
    lines, parameters, arguments = variables.text.lines, list[str](), list[str]()
    for index, held in enumerate(context.results):
        if held is not None:
            parameters.append(f"{context.parameter(held, True)}r{index}")
            arguments.append(held.text)
            if index in context.fresh and isinstance(held, Scalar):
                lines.add(f"{cpp_type(held.element)} {held.text}{{}};")
    for index, held in enumerate(context.operands):
        if held is not None:
            parameters.append(f"{context.parameter(held, False)}x{index}")
            arguments.append(f"{held.text}.base" if isinstance(held, View) else held.text)
    function = variables.kernel.hole(context.operation, reason, parameters)
    lines.add(f"{function}({', '.join(arguments)});")


def _name_descriptor(variables: Variables, issue: Issue) -> None:
    """The host makes it; the name stands for its tensor map."""
    for write, value in zip(issue.writes, issue.operation.results, strict=True):
        if isinstance(write, Register):
            variables.held[write.name] = descriptor_map(variables.kernel, value)


def _fill(variables: Variables, op: Operation, operands: Sequence[Held | None], slot: Slot) -> None:
    ring, lines = variables.rings[slot.ring], variables.text.lines
    view = variables.view(slot, writes=True)
    if op.name in _DESCRIPTOR_LOADS:
        source = operands[0]
        if not isinstance(source, DescriptorMap):
            raise ElementError("a descriptor that the host does not make")
        bar = ring.barrier("full", variables.place(slot, writes=True))
        coordinates = ", ".join(held.text for held in operands[1:] if isinstance(held, Scalar))
        with lines.block("if (tw::elected(g)) {"):
            lines.add(f"tw::bar_expect({bar}, {ring.bytes});")
            lines.add(f"tw::tma_load({bar}, {view.text}, {source.text}, {coordinates});")
    elif op.name == "tt.load":
        pointers, *masks = [held for held in operands if isinstance(held, Tile)]
        vector = variables.text.vectors(op, pointers.layout)
        mask = f", {variables.text.converted(masks[0], pointers.layout).text}" if masks else ""
        lines.add(f"tw::cp_async<{vector}>(g, {view.text}, {pointers.text}{mask});")
    else:
        tile = operands[0]
        if not isinstance(tile, Tile):
            raise ElementError("a shared tile of no register tile")
        lines.add(f"tw::smem_store(g, {view.text}, {tile.text});")
