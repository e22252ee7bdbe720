"""What an operand of a loop's body is on one role: a value that the role keeps, a tile in shared memory, a value from
before the loop, or something that the role computes for itself from such."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.diagnostics import InputError, error
from core.export.roles.places import LoopPlan, Place
from core.ir.model import Operation, Value
from core.ir.operations import category_of, data_positions
from core.ir.roles import BodyRole
from core.ir.tiles import Category
from core.ir.types import TokenType
from core.ir.views import is_landing, viewed


@dataclass(frozen=True, slots=True)
class Kept:
    """A register value of the role, of `distance` iterations before."""

    value: Value
    distance: int


@dataclass(frozen=True, slots=True)
class RingTile:
    """A tile in the ring that `root` fills, seen through `via`."""

    root: Operation
    distance: int
    via: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Outer:
    """A value that does not change in the loop, seen through `via` if it is a buffer."""

    value: Value
    via: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Counter:
    """The induction variable, of `distance` iterations before."""

    distance: int


@dataclass(frozen=True, slots=True)
class Derived:
    """A result of an operation that the role runs where it needs it."""

    operation: Operation
    index: int
    distance: int
    operands: tuple[Tree | None, ...]


Tree = Kept | RingTile | Outer | Counter | Derived


class Trees:
    """Operands as one role sees them.

    `owned`: operations that every role runs for itself and whose results go from iteration to iteration, so that they
    have a place of their own. `presets`: the value from before the loop that a kept value has in iteration -1, -2, ...
    """

    def __init__(self, plan: LoopPlan, role: str) -> None:
        self.plan, self.role = plan, role
        self.owned: dict[Operation, None] = {}
        self.presets: dict[tuple[Value, int], Value] = {}

    def operand(self, operation: Operation, position: int) -> Tree | None:
        """The tree of an operand; None for a token."""
        as_address = position not in data_positions(operation)
        return self.of(operation.operands[position], as_address=as_address)

    def register_place(self, value: Value) -> Place | None:
        """Where the tile op is that makes a register value; None for other values."""
        producer = value.producer
        if producer is None:
            return None
        if producer in self.plan.reads:
            return self.plan.reads[producer]
        return None if producer in self.plan.slots else self.plan.places.get(producer)

    def of(self, value: Value, distance: int = 0, *, as_address: bool = False) -> Tree | None:
        """The tree of a value of `distance` iterations before."""
        plan, body = self.plan, self.plan.body
        if isinstance(body.type(value), TokenType):
            return None
        if value is plan.loop.induction:
            return Counter(distance)
        if body.is_buffer(value):
            return self._buffer(value, distance)
        if value in body.carried:
            return self._carried(value, distance, as_address)
        producer = value.producer
        if producer is None or producer not in body.position:
            return Outer(value)
        role = plan.body_roles[producer]
        if role is BodyRole.INVARIANT:
            return Outer(value)
        if role is BodyRole.TILE and (producer in plan.places or producer in plan.reads):
            # The schedule has no dependence from an elementwise op to the address or mask that is made of it.
            if not (as_address and category_of(producer) is Category.ELEMENTWISE):
                return Kept(value, distance)
        elif role not in (BodyRole.VIEW, BodyRole.DUPLICATED, BodyRole.TILE):
            raise self.unsupported(f"a value of {producer.name}", producer)
        return self.derived(producer, value.index, distance, as_address=as_address)

    def derived(self, producer: Operation, index: int, distance: int, *, as_address: bool) -> Derived:
        """A result of an operation that is run where it is needed."""
        if producer.name == "ttng.warp_group_dot_wait":
            raise self.unsupported("a loop that is pipelined already", producer)
        operands = tuple(self.of(operand, distance, as_address=as_address) for operand in producer.operands)
        return Derived(producer, index, distance, operands)

    def _carried(self, value: Value, distance: int, as_address: bool) -> Tree | None:
        """A carried argument is what the iteration before yielded; in the first one its initial value."""
        body = self.plan.body
        arguments: list[Value] = []
        following = value
        while following in body.carried:
            if body.next(following) is following or following in arguments:
                if arguments:
                    raise self.unsupported("carried values that change places", self.plan.operation)
                return Outer(body.initial(following))
            arguments.append(following)
            following = body.next(following)
        producer = following.producer
        if producer is None or producer not in body.position:
            raise self.unsupported("a carried value that comes from before the loop", self.plan.operation)
        role = self.plan.body_roles[producer]
        if role in (BodyRole.VIEW, BodyRole.DUPLICATED):
            self.owned[producer] = None
        elif role is not BodyRole.TILE:
            raise self.unsupported(f"a carried value of {producer.name}", producer)
        for before, argument in enumerate(reversed(arguments), start=1):
            initial = body.initial(argument)
            if self.presets.setdefault((following, -before), initial) is not initial:
                raise self.unsupported("a value that is carried with several initial values", producer)
        del as_address  # what is carried is kept, whatever it is used for
        return Kept(following, distance + len(arguments))

    def _buffer(self, value: Value, distance: int) -> Tree:
        plan, body = self.plan, self.plan.body
        via: list[Operation] = []
        while True:
            producer = value.producer
            if value in body.carried:
                if body.next(value) is not value:
                    raise self.unsupported("a buffer that goes from iteration to iteration", plan.operation)
                value = body.initial(value)
                continue
            if producer is None or producer not in body.position:
                return Outer(value, tuple(reversed(via)))
            if is_landing(body, producer):
                load = producer.operands[0].producer
                assert load is not None  # by is_landing
                return RingTile(load, distance, tuple(reversed(via)))
            if plan.body_roles[producer] is BodyRole.VIEW:
                via.append(producer)
                value = viewed(producer, value)
                continue
            if plan.body_roles[producer] is BodyRole.INVARIANT:
                return Outer(value, tuple(reversed(via)))
            if producer in plan.slots:
                return RingTile(producer, distance, tuple(reversed(via)))
            raise self.unsupported(f"a buffer of {producer.name}", producer)

    def unsupported(self, why: str, operation: Operation) -> InputError:
        """The refusal of what no role program covers."""
        line = operation.name_span.line
        return error("cannot-export", f"no role program: {why}", file=self.plan.module.file, line=line)


def reading(tree: Tree | None, value: Value, distance: int, instead: Value) -> Tree | None:
    """The tree with `instead` in the place of a kept value of so many iterations before."""
    if isinstance(tree, Derived):
        return replace(tree, operands=tuple(reading(operand, value, distance, instead) for operand in tree.operands))
    if isinstance(tree, Kept) and tree.value is value and tree.distance == distance:
        return replace(tree, value=instead)
    return tree


def leaves(tree: Tree | None) -> Iterator[Kept | RingTile | Outer | Counter]:
    """The leaves of a tree, in order."""
    if isinstance(tree, Derived):
        for operand in tree.operands:
            yield from leaves(operand)
    elif tree is not None:
        yield tree
