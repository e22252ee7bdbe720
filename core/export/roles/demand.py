"""Which role runs what outside the scheduled loops: all that it needs and can compute for itself; effects once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from core.export.roles.loop_role import LoopRole
from core.export.roles.places import LoopPlan
from core.ir.model import Block, Loop, Module, Operation, Value
from core.ir.operations import category_of, is_implied
from core.ir.tiles import Category
from core.ir.types import MemDescType, TensorType, element_bits, parse_type
from core.ir.views import is_buffer_view

TMA_LOADS = frozenset({"tt.descriptor_load", "tt.experimental_descriptor_load", "tt.descriptor_gather"})
"""Loads that the copy engine does, into shared memory."""

_SINGLE = (Category.EFFECT, Category.OPAQUE)
_CONTROL = frozenset({"scf.for", "scf.while", "scf.if"})
_SPREADING = frozenset({"tt.splat", "tt.expand_dims", "tt.broadcast"})
"""Operations that only repeat what they are given: a role that needs the result is handed the smaller operand."""
_SILENT = frozenset({"scf.yield", "scf.condition", "tt.return", "func.return"})


class Demand:
    """What each role has to do.

    `loops`: the scheduled ones by operation, with their roles' items. `main`: the role of effects that belong to no
    other; `loader`: that of TMA loads, None if each role does its own. After `settle`: `wanted` by role, `producers`
    and `consumers` of TMA loads, `hand_offs` of values to other roles, `results` wanted of loops.
    """

    def __init__(
        self, module: Module, function: Operation, plans: Mapping[Operation, LoopPlan], main: str, loader: str | None
    ) -> None:
        self.module, self.function, self.main, self.loader = module, function, main, loader
        self.plans = plans
        self.loops: dict[Operation, Loop] = {loop.operation: loop for loop in module.loops}
        self.loop_roles: dict[tuple[Operation, str], LoopRole] = {}
        self.wanted: dict[str, set[Operation]] = {}
        self.producers: dict[Operation, str] = {}
        self.consumers: dict[Operation, dict[str, None]] = {}
        self.hand_offs: dict[Value, dict[str, None]] = {}
        self.results: dict[tuple[Operation, str], set[int]] = {}
        self._homes: dict[Value, str | None] = {}
        self._seen: set[tuple[str, Value]] = set()
        self._blocks = {
            argument: block.parent
            for op in function.walk()
            for region in op.regions
            for block in region.blocks
            for argument in block.arguments
        }

    def settle(self) -> None:
        """Works out everything; roles of loops are made anew while results of loops come to be wanted."""
        for op, plan in self.plans.items():
            for role in plan.roles:
                self._enter_loop(role, op)
        for op in self._straight_operations():
            if op.name not in _CONTROL | _SILENT and category_of(op) in _SINGLE and not self._is_silent(op):
                self._want(self.home_of_operation(op) or self.main, op)

    def home(self, value: Value) -> str | None:
        """The role on which alone a value is; None if any role can compute it."""
        if value not in self._homes:
            self._homes[value] = None  # while it is looked for: what depends on itself adds nothing
            self._homes[value] = self._home(value)
        return self._homes[value]

    def home_of_operation(self, op: Operation) -> str | None:
        """The role that an operation outside of scheduled loops has to run on; None: any."""
        values = [value for nested in op.walk() for value in nested.operands]
        found = [(self._size(value), home) for value in values if (home := self.home(value)) is not None]
        if found:
            return max(found, key=lambda pair: pair[0])[1]
        return self.main if self._is_single(op) else None

    def is_wanted(self, role: str, value: Value) -> bool:
        """Whether the role needs a value."""
        return (role, value) in self._seen

    def _home(self, value: Value) -> str | None:
        producer = value.producer
        if producer is None:
            parent = self._blocks.get(value)
            loop = self.loops.get(parent) if parent is not None else None
            if loop is None or loop.operation in self.plans or value not in loop.arguments:
                return None
            position = loop.arguments.index(value)
            return self.home(loop.yielded[position]) or self.home(loop.initial[position])
        if producer in self.plans:
            return self._home_of_result(self.plans[producer], value.index)
        if producer.name == "scf.for":
            loop = self.loops[producer]
            return self.home(loop.yielded[value.index]) or self.home(loop.initial[value.index])
        if producer.name == "scf.if":
            sides = [block.operations[-1] for region in producer.regions for block in region.blocks]
            homes = (self.home(side.operands[value.index]) for side in sides)
            return next((home for home in homes if home is not None), None)
        return self.home_of_operation(producer)

    def _home_of_result(self, plan: LoopPlan, index: int) -> str | None:
        value = plan.loop.yielded[index]
        while value in plan.body.carried and plan.body.next(value) is not value:
            value = plan.body.next(value)
        producer = value.producer
        if producer is None:
            return None
        place = plan.reads.get(producer) or plan.places.get(producer)
        if place is not None:
            return place.role
        if producer not in plan.body.position:
            return None
        homes = {other.role for op in self._slice(plan, producer) if (other := plan.places.get(op)) is not None}
        return next((role for role in plan.roles if role in homes), None)

    def _slice(self, plan: LoopPlan, op: Operation) -> Iterator[Operation]:
        """The operations of the body that an operation which every role could run depends on, up to tile ops."""
        pending, seen = [op], set[Operation]()
        while pending:
            op = pending.pop()
            if op in seen:
                continue
            seen.add(op)
            yield op
            if op in plan.places:
                continue
            for value in op.operands:
                producer = plan.body.next(value).producer if value in plan.body.carried else value.producer
                if producer is not None and producer in plan.body.position:
                    pending.append(producer)

    def _size(self, value: Value) -> int:
        """Bits of a value, for comparing what it costs to hand it over."""
        type_ = parse_type(value.type, self.module.aliases)
        if isinstance(type_, TensorType | MemDescType):
            return prod(type_.shape) * element_bits(type_.element)
        return 1

    def _is_single(self, op: Operation) -> bool:
        return any(category_of(nested) in _SINGLE and not self._is_silent(nested) for nested in op.walk())

    def _is_silent(self, op: Operation) -> bool:
        known = op.name in _CONTROL | _SILENT | {"tt.reduce.return", "tt.scan.return"} or is_buffer_view(op)
        return known or is_implied(op) or op.name in ("tt.return", "ttg.local_dealloc")

    def _straight_operations(self) -> Iterator[Operation]:
        """All operations that are in no scheduled loop, in the order of the text."""

        def inside(blocks: Sequence[Block]) -> Iterator[Operation]:
            for block in blocks:
                for op in block.operations:
                    yield op
                    if op.name in _CONTROL and op not in self.plans:
                        for region in op.regions:
                            yield from inside(region.blocks)

        for region in self.function.regions:
            yield from inside(region.blocks)

    def _enter_loop(self, role: str, op: Operation) -> None:
        """The role runs its part of a scheduled loop."""
        plan = self.plans[op]
        results = self.results.setdefault((op, role), set())
        loop_role = LoopRole(plan, role, sorted(results))
        self.loop_roles[op, role] = loop_role
        self.wanted.setdefault(role, set()).add(op)
        self._want_parents(role, op)
        for value in (*plan.loop.bounds, *loop_role.outer):
            self.want_value(role, value)

    def _want(self, role: str, op: Operation) -> None:
        """The role runs an operation, and all that it needs for it."""
        wanted = self.wanted.setdefault(role, set())
        if op in wanted:
            return
        wanted.add(op)
        self._want_parents(role, op)
        if op.name == "scf.for":
            operands = op.operands[:3]
        elif op.name == "scf.if":
            operands = op.operands[:1]
        elif op.name == "scf.while":
            self._want_all_of(role, op)
            operands = op.operands
        else:
            operands = op.operands
        for value in operands:
            self.want_value(role, value)

    def _want_all_of(self, role: str, op: Operation) -> None:
        """A loop whose end its body decides: its arguments and everything that they need."""
        for nested in op.walk():
            if nested.name in ("scf.condition", "scf.yield"):
                for value in nested.operands:
                    self.want_value(role, value)

    def _want_parents(self, role: str, op: Operation) -> None:
        parent = op.block.parent if op.block is not None else None
        if parent is not None and parent.name in _CONTROL:
            self._want(role, parent)

    def want_value(self, role: str, value: Value) -> None:
        """The role needs a value."""
        if (role, value) in self._seen:
            return
        self._seen.add((role, value))
        producer = value.producer
        if producer is None:
            self._want_argument(role, value)
            return
        home = self.home(value)
        if home is not None and home != role and producer.name not in _SPREADING:
            self.hand_offs.setdefault(value, {})[role] = None
            self._want_parents(role, producer)
            self.want_value(home, value)
        elif producer in self.plans:
            results = self.results.setdefault((producer, role), set())
            if value.index not in results:
                results.add(value.index)
                self._enter_loop(role, producer)
        elif producer.name in TMA_LOADS:
            self.consumers.setdefault(producer, {})[role] = None
            self._want_parents(role, producer)
            loading = self.producers.setdefault(producer, self.loader or role)
            self._want(loading, producer)
        elif producer.name == "scf.for":
            self._want(role, producer)
            loop = self.loops[producer]
            self.want_value(role, loop.arguments[value.index])
        elif producer.name == "scf.if":
            self._want(role, producer)
            for region in producer.regions:
                for block in region.blocks:
                    self.want_value(role, block.operations[-1].operands[value.index])
        else:
            self._want(role, producer)

    def _want_argument(self, role: str, value: Value) -> None:
        parent = self._blocks.get(value)
        loop = self.loops.get(parent) if parent is not None else None
        if loop is None:
            return
        self._want(role, loop.operation)
        if loop.operation.name == "scf.for" and value in loop.arguments:
            position = loop.arguments.index(value)
            self.want_value(role, loop.initial[position])
            self.want_value(role, loop.yielded[position])
