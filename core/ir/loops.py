"""The loops of a module: where they are, what they hold, and which of them can be scheduled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from core.ir.model import Loop, Module, Operation
from core.ir.vocabulary import BRANCH, BRANCH_OPS, CALL_OPS, LOOP_OPS, MATRIX_OPS


@dataclass(frozen=True, slots=True)
class UseCounts:
    """SSA structure of a loop.

    `uses`: operands of all ops inside, nested regions included, the loop op itself not. `internal`: those of them
    that an op inside defines (no block arguments, nothing from outside). `carried`: results of the loop op.
    """

    uses: int
    internal: int
    carried: int


def find_loops(root: Operation) -> tuple[Loop, ...]:
    """Every `scf.for` and `scf.while` under `root` in textual order."""
    loops: list[Loop] = []
    pending: list[tuple[Operation, int]] = [(root, 0)]
    while pending:
        op, depth = pending.pop()
        if op.name in LOOP_OPS:
            loops.append(_loop(op, len(loops), depth))
            depth += 1
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                pending += [(inner, depth) for inner in reversed(block.operations)]
    return tuple(loops)


def _loop(op: Operation, index: int, depth: int) -> Loop:
    first, body = op.regions[0].blocks[0], op.regions[-1].blocks[0]
    yielded = body.operations[-1].operands if body.operations else ()
    if op.name == "scf.while":
        return Loop(index, op, depth, body, None, first.arguments, op.operands, yielded, ())
    return Loop(
        index=index,
        operation=op,
        depth=depth,
        body=body,
        induction=body.arguments[0],
        arguments=body.arguments[1:],
        initial=op.operands[3:],
        yielded=yielded,
        bounds=op.operands[:3],
    )


def inside(loop: Loop) -> Iterator[Operation]:
    """All ops in the loop's regions, nested ones and terminators included."""
    ops = loop.operation.walk()
    next(ops)
    return ops


def count_ops(loop: Loop) -> dict[str, int]:
    """How many ops of each name are inside, nested ones included, by name."""
    return dict(sorted(Counter(op.name for op in inside(loop)).items()))


def count_uses(loop: Loop) -> UseCounts:
    """The SSA operand uses inside the loop."""
    ops = list(inside(loop))
    defined = {id(value) for op in ops for value in op.results}
    operands = [id(value) for op in ops for value in op.operands]
    return UseCounts(len(operands), sum(value in defined for value in operands), len(loop.operation.results))


def obstacle(
    loop: Loop, *, reduce_branches: bool = False, blocks: Collection[Loop] = ()
) -> tuple[str, Operation] | None:
    """Why the loop cannot be scheduled as it is, and the op that is in the way; None if nothing is.

    `reduce_branches`: each `scf.if` of the body becomes one op, so only branches within branches are in the way.
    `blocks`: loops in the body that are one op each, whatever is in them.
    """
    if loop.operation.name == "scf.while":
        return "the trip count of scf.while depends on data", loop.operation
    if len(loop.operation.regions[0].blocks) > 1:
        return "the loop's body has several blocks", loop.operation
    hidden = {id(op) for block in blocks if block.operation.block is loop.body for op in block.operation.walk()}
    for op in inside(loop):
        if id(op) in hidden:
            continue
        if op.name in LOOP_OPS:
            return f"a loop is inside ({op.name}): schedule that one first", op
        if op.name in BRANCH_OPS and not (reduce_branches and op.name == BRANCH and op.block is loop.body):
            return f"the body has control flow ({op.name})", op
        if op.name in CALL_OPS:
            return f"the body calls a function ({op.name})", op
        if op.name == "ttg.warp_specialize":
            return "the body is split into warp groups already (ttg.warp_specialize)", op
    return None


def main_loop(module: Module) -> tuple[Loop | None, tuple[Loop, ...]]:
    """The innermost loop with the most matrix ops, the first in the text of several; and all those candidates."""
    innermost = [loop for loop in module.loops if not any(op.name in LOOP_OPS for op in inside(loop))]
    if not innermost:
        return None, ()
    weights = [sum(op.name in MATRIX_OPS for op in inside(loop)) for loop in innermost]
    most = max(weights)
    candidates = tuple(loop for loop, weight in zip(innermost, weights, strict=True) if weight == most)
    return candidates[0], candidates
