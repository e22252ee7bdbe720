"""One program of the grid while it runs: the values of its SSA names, and what its ops can reach."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.diagnostics import InputError, error
from core.ir.interpret.barriers import Barrier
from core.ir.interpret.descriptors import Descriptor
from core.ir.interpret.errors import KernelError, not_interpreted
from core.ir.interpret.formats import Array, Precision, rounded
from core.ir.interpret.memory import Memory
from core.ir.model import Module, Operation, Value
from core.ir.types import MemDescType, PointerType, ScalarType, TensorType, TokenType, Type, parse_type

Held = Array | Descriptor | None
"""What a name stands for. Tiles and scalars are arrays that nobody changes. A memory descriptor is the NumPy view of
its buffer (mbarriers: an object array), which ops do change. None is a token."""

Handler = Callable[["Program", Operation], Sequence[Held]]
"""Carries out an op; gives its results without tokens. Raises KernelError."""

MOST_ELEMENTS = 1 << 22
"""Of a tile or buffer; Triton's own limit for tiles is 2**20."""

_NUMBER = re.compile(r"-?\d+")


@dataclass(slots=True)
class Program:
    """`ids` are the program's indices in `grid`; `types` is shared by the programs of a run."""

    module: Module
    memory: Memory
    precision: Precision
    grid: tuple[int, int, int]
    ids: tuple[int, int, int]
    values: dict[Value, Held]
    types: dict[str, Type]
    tensor_maps: dict[int, Descriptor] = field(default_factory=dict[int, Descriptor])  # by address
    executed: int = 0  # ops so far

    def type(self, value: Value) -> Type:
        """The value's type."""
        found = self.types.get(value.type)
        if found is None:
            found = self.types[value.type] = parse_type(value.type, self.module.aliases)
        return found

    def element(self, value: Value) -> str:
        """The element type of a tile or buffer, or the type of a scalar."""
        match self.type(value):
            case TensorType(element=element) | MemDescType(element=element):
                return element
            case ScalarType(name=name):
                return name
            case PointerType():
                return value.type
            case other:
                raise KernelError(f"{value.name} of type {other} is neither a number nor a tile")

    def pointee(self, value: Value) -> str:
        """The element type that a pointer or a tile of pointers points to."""
        pointer = parse_type(self.element(value), self.module.aliases)
        if not isinstance(pointer, PointerType):
            raise KernelError(f"{value.name} is no pointer")
        return pointer.pointee

    def shape(self, value: Value) -> tuple[int, ...]:
        """The shape of a tile or buffer; () for a scalar."""
        type_ = self.type(value)
        return type_.shape if isinstance(type_, TensorType | MemDescType) else ()

    def array(self, value: Value) -> Array:
        """What a tile, scalar, pointer or buffer holds."""
        held = self.values[value]
        if not isinstance(held, np.ndarray):
            raise KernelError(f"{value.name} is neither a number nor a tile")
        return held

    def arrays(self, op: Operation) -> list[Array]:
        """What the operands hold; tokens are left out."""
        return [self.array(value) for value in op.operands if not isinstance(self.type(value), TokenType)]

    def integer(self, value: Value) -> int:
        """The integer that a scalar holds."""
        held = self.array(value)
        if held.shape != ():
            raise KernelError(f"{value.name} is no scalar")
        return int(held)

    def barrier(self, value: Value) -> Barrier:
        """The mbarrier in a buffer of one element."""
        held = self.array(value)
        if held.size != 1:
            raise not_interpreted("mbarriers of several CTAs")
        found = held.item()
        if not isinstance(found, Barrier):
            raise KernelError(f"{value.name} holds no mbarrier: nothing has initialised it")
        return found

    def rounded(self, values: Array, element: str) -> Array:
        """What a float op of that result type computes, in the precision of this run."""
        stated = self.precision is Precision.STATED
        casts = self.precision is Precision.CASTS and element not in ("f32", "f64")
        return rounded(values, element) if stated or casts else values

    def check_sizes(self, op: Operation) -> None:
        """Raises KernelError if a result would have more elements than any machine can hold on chip."""
        for result in op.results:
            if (count := math.prod(self.shape(result))) > MOST_ELEMENTS:
                raise not_interpreted(f"tiles of {count} elements")

    def define(self, op: Operation, results: Sequence[Held]) -> None:
        """Gives the op's results their values; tokens among them do not count. Raises KernelError if a value is missing
        or has another shape than its type says."""
        given = iter([held for held in results if held is not None])
        for result in op.results:
            type_ = self.type(result)
            if isinstance(type_, TokenType):
                self.values[result] = None
                continue
            held = next(given, None)
            if held is None:
                raise KernelError(f"nothing gives {result.name} a value")
            if not isinstance(held, Descriptor):
                held = np.asarray(held)
            if isinstance(type_, TensorType | MemDescType) and held.shape != type_.shape:
                raise KernelError(f"the result {result.name} does not have the shape of its type {result.type}")
            self.values[result] = held

    def error_at(self, op: Operation, problem: KernelError) -> InputError:
        """The problem as an error of the user's file."""
        place = op.name_span
        message = f"{op.name}: {problem}"
        return error(problem.code, message, file=self.module.file, line=place.line, column=place.column)


def numbers(op: Operation, name: str) -> tuple[int, ...]:
    """The integers of an attribute `1 : i32` or `array<i32: 1, 0>`. Raises KernelError if the op has no such one."""
    text = op.attributes.get(name)
    if text is None:
        raise KernelError(f"the attribute {name} is missing")
    return tuple(int(number) for number in _NUMBER.findall(text.rpartition("array<i32:")[2].partition(" : ")[0]))


def words(op: Operation) -> list[str]:
    """What stands between the op's name and its types, cut at commas: `slt`, `%a`, `%b`."""
    return [word.strip() for word in op.text_arguments.split(",")]
