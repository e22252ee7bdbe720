"""Which variables the kept values of a pipelined loop are in: one per copy, shared where a matrix op works in place."""

from __future__ import annotations

from core.export.roles.loop_role import Item, LoopRole
from core.export.roles.model import Storage
from core.export.roles.names import Names
from core.export.roles.trees import Kept, Tree, leaves
from core.ir.model import Operation, Value

ACCUMULATOR = 2
"""The operand of a matrix op that it adds to."""


class Storages:
    """Names of the copies of each kept value of a role's loop.

    `left`: the storages that some matrix op reads as its left operand; to write one, no matrix op may be under way.
    `read`: those that something else than a matrix op reads.
    """

    def __init__(self, role: LoopRole, names: Names) -> None:
        self._role, self._names = role, names
        self._shares: dict[Value, Value] = {}
        for item in role.items:
            for operation in item.operations:
                if role.plan.is_matrix(operation):
                    self._share(item, operation)
        self.declared = tuple(
            Storage(names.of(value, copy, role.copies[value]), value)
            for value in role.copies
            if value not in self._shares
            for copy in range(role.copies[value])
        )
        self.left = {
            self.of(leaf.value, phase - leaf.distance)
            for item in role.items
            for operation in item.operations
            if role.plan.is_matrix(operation)
            for leaf in leaves(item.trees[operation][0])
            if isinstance(leaf, Kept)
            for phase in range(role.unroll)
        }
        self.read = {
            self.of(leaf.value, phase - leaf.distance, phase)
            for item in role.items
            if not any(role.plan.is_matrix(operation) for operation in item.operations)
            for leaf in item.all_leaves()
            if isinstance(leaf, Kept) and leaf.value not in role.rotated
            for phase in range(role.unroll)
        }

    def of(self, value: Value, phase: int, newest: int | None = None, *, moving: bool = False) -> str:
        """The storage of a value of iteration `phase`, counted modulo the unrolling; of a rotated one, or with `moving`
        of any, when the value of iteration `newest` is the last that was made."""
        value = self._owner(value)
        copies = self._role.copies[value]
        if copies > 1 and (moving or value in self._role.rotated):
            assert newest is not None and 0 <= newest - phase < copies  # by the number of copies
            return self._names.of(value, newest - phase, copies)
        return self._names.of(value, phase % copies, copies)

    def _owner(self, value: Value) -> Value:
        while value in self._shares:
            value = self._shares[value]
        return value

    def _share(self, item: Item, operation: Operation) -> None:
        """Puts the accumulator where the result is, if their live ranges, and those of all that is there already, leave
        each other alone."""
        result = operation.results[0]
        tree: Tree | None = item.trees[operation][ACCUMULATOR] if len(item.trees[operation]) > ACCUMULATOR else None
        if not isinstance(tree, Kept):
            return
        one, other = self._owner(tree.value), self._owner(result)
        if one is other or one.type != other.type:
            return
        together = [value for value in self._role.copies if self._owner(value) in (one, other)]
        if any(self._role.copies[value] != 1 for value in together):
            return
        ranges = sorted(self._range(value) for value in together)
        period = len(self._role.items)
        following = [*ranges[1:], (ranges[0][0] + period, 0)]
        if all(end <= begin for (_, end), (begin, _) in zip(ranges, following, strict=True)):
            self._shares[one] = other

    def _range(self, value: Value) -> tuple[int, int]:
        """From the making of a value to its last reading, in steps of the steady state."""
        role = self._role
        period = len(role.items)
        made = role.defined[value]
        begin = made.stage * period + made.order
        ends = [
            (item.stage + leaf.distance) * period + item.order
            for item in role.items
            for leaf in item.all_leaves()
            if isinstance(leaf, Kept) and leaf.value is value
        ]
        shift = made.order - begin  # all begin within one period
        return begin + shift, max(ends, default=begin) + shift
