"""Blocks of ops, one op after another: control flow, reductions, calls, warp groups.

A block runs as a generator: it yields a `ttng.wait_barrier` that is not over yet, and who runs it lets other warp
groups go on first. Nothing else waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence

import numpy as np

from core.ir.interpret import accesses, arithmetic, buffers, matrix, shapes
from core.ir.interpret.errors import KernelError, not_interpreted
from core.ir.interpret.formats import Array
from core.ir.interpret.program import Handler, Held, Program, numbers
from core.ir.model import Block, Operation, Region

Run = Generator[Operation, None, list[Held]]
"""Yields waits that are not over; returns results."""

_TERMINATORS = frozenset(
    {
        "scf.condition",
        "scf.yield",
        "tt.reduce.return",
        "tt.return",
        "tt.scan.return",
        "ttg.warp_return",
        "ttg.warp_yield",
    }
)


def finish(program: Program, run: Run) -> list[Held]:
    """Runs to the end what no other warp group can help. Raises InputError if it waits forever."""
    try:
        waiting = next(run)
    except StopIteration as end:
        return end.value
    raise program.error_at(waiting, _endless([waiting]))


def run_block(program: Program, region: Region) -> Run:
    """Runs the only block of a region; returns the operands of its terminator. Raises InputError."""
    for op in _only_block(region).operations:
        try:
            if op.name in _TERMINATORS:
                return [program.values[value] for value in op.operands]
            program.check_sizes(op)
            control = _CONTROL.get(op.name)
            results = (yield from control(program, op)) if control else _handler(op)(program, op)
            program.define(op, results)
        except KernelError as problem:
            raise program.error_at(op, problem) from None
        except (ValueError, IndexError) as problem:  # too few operands, shapes that do not fit
            raise program.error_at(op, KernelError(f"the operands do not fit the op: {problem}")) from problem
        program.executed += 1
    return []


def _handler(op: Operation) -> Handler:
    handler = _HANDLERS.get(op.name)
    if handler is None:
        raise not_interpreted("this op")
    return handler


def _only_block(region: Region) -> Block:
    if len(region.blocks) != 1:
        raise not_interpreted("a region of several blocks")
    return region.blocks[0]


def _bind(program: Program, region: Region, values: Sequence[Held]) -> None:
    program.values.update(zip(_only_block(region).arguments, values, strict=True))


def _for(program: Program, op: Operation) -> Run:
    end = op.name_span.end
    if program.module.text[end : end + 80].split()[:1] == ["unsigned"]:
        raise not_interpreted("a loop with unsigned bounds")
    low, high, step = (program.integer(value) for value in op.operands[:3])
    if step <= 0:
        raise KernelError(f"the step must be positive, it is {step}")
    carried = [program.values[value] for value in op.operands[3:]]
    for index in range(low, high, step):
        _bind(program, op.regions[0], [np.asarray(index, np.int64), *carried])
        carried = yield from run_block(program, op.regions[0])
    return carried


def _if(program: Program, op: Operation) -> Run:
    chosen = op.regions[0 if program.integer(op.operands[0]) else 1 :]
    return (yield from run_block(program, chosen[0])) if chosen else []


def _while(program: Program, op: Operation) -> Run:
    before, after = op.regions
    carried = [program.values[value] for value in op.operands]
    while True:
        _bind(program, before, carried)
        condition, *passed = yield from run_block(program, before)
        if not condition:
            return passed
        _bind(program, after, passed)
        carried = yield from run_block(program, after)


def _wait(program: Program, op: Operation) -> Run:
    while not buffers.may_go_on(program, op):
        yield op
    return []


def _call(program: Program, op: Operation) -> Sequence[Held]:
    """The callee has values of its own, so that a function may call itself."""
    name = op.text_arguments.partition("(")[0].strip()
    callee = function_named(program.module.operation, name.removeprefix("@"))
    if callee is None or not callee.regions:
        raise KernelError(f"the module has no body of {name}")
    arguments = [program.values[value] for value in op.operands]
    outside, program.values = program.values, {}
    _bind(program, callee.regions[0], arguments)
    results = finish(program, run_block(program, callee.regions[0]))
    program.values = outside
    return results


def _reduce(program: Program, op: Operation) -> Sequence[Held]:
    """Neighbours are combined until one element is left, so that only associativity is needed."""
    axis = numbers(op, "axis")[0]
    parts = [np.moveaxis(tile, axis, 0) for tile in program.arrays(op)]
    while (count := len(parts[0])) > 1:
        even = count - count % 2
        combined = _combine(program, op, [part[0:even:2] for part in parts], [part[1:even:2] for part in parts])
        parts = [np.concatenate([new, part[even:]]) for new, part in zip(combined, parts, strict=True)]
    return [part[0] for part in parts]


def _scan(program: Program, op: Operation) -> Sequence[Held]:
    axis = numbers(op, "axis")[0]
    order = slice(None, None, -1 if "true" in op.attributes.get("reverse", "") else 1)
    parts = [np.moveaxis(tile, axis, 0)[order] for tile in program.arrays(op)]
    rows = [[part[0] for part in parts]]
    for index in range(1, len(parts[0])):
        rows.append(_combine(program, op, rows[-1], [part[index] for part in parts]))
    stacked = [np.stack(column)[order] for column in zip(*rows, strict=True)]
    return [np.moveaxis(tile, 0, axis) for tile in stacked]


def _combine(program: Program, op: Operation, left: Sequence[Array], right: Sequence[Array]) -> list[Array]:
    """The op's region, applied to many elements at once: its scalars stand for all of them."""
    _bind(program, op.regions[0], [*left, *right])
    results = finish(program, run_block(program, op.regions[0]))
    return [np.broadcast_to(np.asarray(result), part.shape) for result, part in zip(results, left, strict=True)]


def _warp_specialize(program: Program, op: Operation) -> Sequence[Held]:
    """The default region and the partitions take turns; one gives way where it has to wait."""
    captured = [program.values[value] for value in op.operands]
    partitions = [region for holder in _only_block(op.regions[1]).operations for region in holder.regions]
    for region in partitions:
        _bind(program, region, captured)
    running = [run_block(program, region) for region in (op.regions[0], *partitions)]
    default, results = running[0], list[Held]()
    while running:
        before, waiting = program.executed, dict[Run, Operation]()
        for group in running:
            try:
                waiting[group] = next(group)
            except StopIteration as end:
                results = end.value if group is default else results
        if len(waiting) == len(running) and program.executed == before:
            raise program.error_at(waiting[running[0]], _endless(list(waiting.values())))
        running = list(waiting)
    return results


def _endless(waiting: Sequence[Operation]) -> KernelError:
    lines = ", ".join(str(op.name_span.line) for op in waiting)
    return KernelError(f"this wait never ends: nothing else can go on (waits on lines {lines})", "deadlock")


def function_named(module: Operation, name: str) -> Operation | None:
    """The `tt.func` of that name."""
    found = (op for op in module.walk() if op.name == "tt.func")
    return next((op for op in found if op.attributes.get("sym_name", "").strip('"') == name), None)


_CONTROL: Mapping[str, Callable[[Program, Operation], Run]] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "ttng.wait_barrier": _wait,
}
"""What may have to wait."""

_HANDLERS: Mapping[str, Handler] = {
    **arithmetic.HANDLERS,
    **shapes.HANDLERS,
    **matrix.HANDLERS,
    **accesses.HANDLERS,
    **buffers.HANDLERS,
    "tt.call": _call,
    "tt.reduce": _reduce,
    "tt.scan": _scan,
    "ttg.warp_specialize": _warp_specialize,
}
