"""Row sums that a loop carries may stay in parts, one of each thread, until the loop is over.

A value a = a * f + sum(x), or a = a + sum(x), that starts from zero and is read by nothing else in the loop, is the sum
of what each thread makes of its own elements: f is the same in all threads that hold a row. So the loop needs no
exchange between threads for it; one behind the loop puts the parts together. A loop that only goes on with the sum of
another one starts from its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.export.cuda.elements import literals
from core.export.roles.model import Issue, Register, RoleProgram, Statement
from core.ir.model import Loop, Operation, Value

Users = Mapping[Value, Sequence[Operation]]
"""The operations that take each value."""


@dataclass(frozen=True, slots=True)
class DeferredSum:
    """`reduction` of `loop`, whose sum is carried in its result of that index; `before`: the sum it goes on with."""

    loop: Loop
    index: int
    reduction: Operation
    before: DeferredSum | None = None

    @property
    def result(self) -> Value:
        """The loop's result."""
        return self.loop.operation.results[self.index]

    def row(self) -> list[DeferredSum]:
        """This sum and those that it goes on with."""
        return [self, *(self.before.row() if self.before is not None else [])]


def deferred_sums(program: RoleProgram, users: Users) -> Iterator[DeferredSum]:
    """The sums of all loops that may stay in parts, the last of each row of loops; none that is handed to another
    role."""
    handed = {ring.value for ring in program.rings.values()}
    found: dict[Value, DeferredSum] = {}
    for loop in program.module.loops:
        if loop.operation.name != "scf.for":
            continue  # the results of a while are what its condition passes on
        for index, (argument, initial, yielded) in enumerate(
            zip(loop.arguments, loop.initial, loop.yielded, strict=True)
        ):
            before = found.get(initial) if users.get(initial) == [loop.operation] else None
            chain = _chain(argument, yielded, users) if before is not None or _is_zero(initial) else None
            result = loop.operation.results[index]
            if chain is not None and handed.isdisjoint([result, *(value for op in chain for value in op.results)]):
                total = DeferredSum(loop, index, chain[-1], before)
                found[total.result] = total
    gone_on = {id(total.before) for total in found.values()}
    yield from (total for total in found.values() if id(total) not in gone_on)


def register_of(result: Value, behind: Sequence[Statement]) -> str | None:
    """The name under which the statements behind a loop read a result of it."""
    for statement in behind:
        if isinstance(statement, Issue):
            for value, read in zip(statement.operation.operands, statement.reads, strict=True):
                if value is result and isinstance(read, Register):
                    return read.name
    return None


def _chain(argument: Value, yielded: Value, users: Users) -> list[Operation] | None:
    """The sum, the product if there is one, and the reduction, each used by the one before only."""
    total = yielded.producer
    if total is None or total.name != "arith.addf" or [op.name for op in users.get(yielded, [])] != ["scf.yield"]:
        return None
    for carried, reduced in (total.operands, total.operands[::-1]):
        reduction = reduced.producer
        if reduction is None or not _is_sum(reduction) or users.get(reduced) != [total]:
            continue
        if carried is argument and users.get(argument) == [total]:
            return [total, reduction]
        product = carried.producer
        if product is None or product.name != "arith.mulf" or product.block is not total.block:
            continue
        if product.operands.count(argument) == 1 and users.get(argument) == [product] and users.get(carried) == [total]:
            return [total, product, reduction]
    return None


def _is_zero(value: Value) -> bool:
    op = value.producer
    if op is None or op.name != "arith.constant":
        return False
    found = literals(op.attributes.get("value") or op.text_arguments)
    return bool(found) and all("x" not in text and float(text) == 0 for text in found if text not in ("true", "false"))


def _is_sum(op: Operation) -> bool:
    if op.name != "tt.reduce" or len(op.operands) != 1:
        return False
    block = op.regions[0].blocks[0]
    names = [inside.name for inside in block.operations]
    return names == ["arith.addf", "tt.reduce.return"] and set(block.operations[0].operands) == set(block.arguments)
