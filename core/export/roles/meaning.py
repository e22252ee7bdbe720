"""What each value of the text is in each iteration, as a name that can be compared: the oracle of the simulation.

It follows the text alone (operands, carried values, trip counts), and knows nothing of schedules or roles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.ir.model import Loop, Operation, Value
from core.ir.views import is_buffer_view

Iterations = tuple[tuple[int, int], ...]
"""Iterations of the loops around an operation, outermost first, by the loop's index."""

_LOADS = frozenset({"tt.load", "tt.descriptor_load", "tt.experimental_descriptor_load", "tt.descriptor_gather"})


@dataclass(frozen=True, slots=True)
class Token:
    """A value as computed in these iterations; for arguments of a function without any."""

    value: Value
    iterations: Iterations = ()

    def __str__(self) -> str:
        at = ", ".join(str(iteration) for _, iteration in self.iterations)
        return f"{self.value.name}({at})" if at else self.value.name


@dataclass(slots=True)
class Meaning:
    """Tokens of a function's values. `trips`: the trip count of each loop by its index, `taken`: which side of a
    branch runs in given iterations."""

    loops: Mapping[Operation, Loop]
    trips: Callable[[Loop], int]
    taken: Callable[[Operation, Iterations], bool]
    _around: dict[Operation, tuple[Loop, ...]] = field(default_factory=dict[Operation, "tuple[Loop, ...]"])
    _owner: dict[Value, Loop] = field(default_factory=dict[Value, Loop])

    def __post_init__(self) -> None:
        for loop in self.loops.values():
            for argument in loop.arguments:
                self._owner[argument] = loop
            if loop.induction is not None:
                self._owner[loop.induction] = loop

    def around(self, operation: Operation) -> tuple[Loop, ...]:
        """The loops around an operation, outermost first."""
        if operation not in self._around:
            found: list[Loop] = []
            parent = operation.block.parent if operation.block is not None else None
            while parent is not None:
                if parent in self.loops:
                    found.insert(0, self.loops[parent])
                parent = parent.block.parent if parent.block is not None else None
            self._around[operation] = tuple(found)
        return self._around[operation]

    def within(self, operation: Operation, iterations: Mapping[int, int]) -> Iterations:
        """The iterations that matter to an operation, of those at hand."""
        return tuple((loop.index, iterations[loop.index]) for loop in self.around(operation))

    def token(self, value: Value, iterations: Mapping[int, int]) -> Token:
        """What a value is in these iterations."""
        while True:
            loop = self._owner.get(value)
            if loop is not None:
                if value is loop.induction:
                    return Token(
                        value, (*self.within(loop.operation, iterations), (loop.index, iterations[loop.index]))
                    )
                position = loop.arguments.index(value)
                now = iterations[loop.index]
                if now == 0:
                    value = loop.initial[position]
                else:
                    value, iterations = loop.yielded[position], {**iterations, loop.index: now - 1}
                continue
            producer = value.producer
            if producer is None:
                return Token(value)
            if producer.name == "scf.for":
                loop = self.loops[producer]
                trips = self.trips(loop)
                if trips == 0:
                    value = loop.initial[value.index]
                else:
                    value, iterations = loop.yielded[value.index], {**iterations, loop.index: trips - 1}
                continue
            if producer.name == "scf.if":
                side = producer.regions[0 if self.taken(producer, self.within(producer, iterations)) else 1]
                value = side.blocks[0].operations[-1].operands[value.index]
                continue
            followed = self._same_tile(producer, value)
            if followed is None:
                return Token(value, self.within(producer, iterations))
            value = followed

    @staticmethod
    def _same_tile(producer: Operation, value: Value) -> Value | None:
        """The value whose tile a buffer holds: views and the buffers that take a load."""
        if not value.type.startswith("!ttg.memdesc") or not producer.operands:
            return None
        source = producer.operands[0]
        if is_buffer_view(producer):
            return source
        loads = source.producer is not None and source.producer.name in _LOADS
        return source if producer.name == "ttg.local_alloc" and loads else None
