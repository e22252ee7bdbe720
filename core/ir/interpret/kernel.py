"""Running a kernel: its arguments in, one program of the grid after another, its outputs out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.diagnostics import InputError, error
from core.ir.interpret.descriptors import Descriptor, TensorDescriptor, contiguous
from core.ir.interpret.errors import KernelError
from core.ir.interpret.execution import finish, function_named, run_block
from core.ir.interpret.formats import Array, Precision, is_float, is_integer, rounded, wrapped
from core.ir.interpret.memory import Memory
from core.ir.interpret.program import Held, Program
from core.ir.model import Module, Operation, Value
from core.ir.types import PointerType, ScalarType, TensorDescType, Type, element_bits, parse_type

Argument = Array | TensorDescriptor | float
"""What a kernel is called with: an array for a pointer, a descriptor (or just its array), a number."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel that a caller must give. `name` is without its `%`."""

    name: str
    type: Type


def parameters(module: Module, function: str) -> tuple[Parameter, ...]:
    """The parameters of a function in order. Raises InputError if the module has no such function.

    Triton lists the shape (i32) and the strides (i64) of a descriptor behind it: they follow from it and are left out.
    """
    values = _values_of(module, _function(module, function))
    return tuple(Parameter(value.name[1:], _type(module, value)) for value, source in values if source is None)


def run(
    module: Module,
    function: str,
    arguments: Mapping[str, Argument],
    grid: tuple[int, ...],
    *,
    precision: Precision = Precision.CASTS,
) -> dict[str, Array]:
    """What a kernel computes: the arrays that it wrote, by parameter, in the shape of the arguments.

    `grid` has one to three sizes; programs run one after another, x fastest. Arguments are copied and rounded to the
    types of the parameters (not if EXACT). Outputs are float64 or int64 and hold values of those types. Two parameters
    must not be given the same memory. Raises InputError for wrong arguments, an op that is not interpreted, and what a
    kernel must not do: an access out of bounds, a division by zero, a failed assertion, a wait that never ends.
    """
    operation = _function(module, function)
    if not operation.regions:
        raise _bad_call(module, operation, f"@{function} is declared here and defined elsewhere")
    if not 1 <= len(grid) <= 3 or any(size < 1 for size in grid):
        raise _bad_call(module, operation, f"the grid must have one to three positive sizes, it is {grid}")
    sizes = (*grid, 1, 1)[:3]
    memory = Memory(exact=precision is Precision.EXACT)
    values = _bind_arguments(module, operation, arguments, memory, precision)
    types: dict[str, Type] = {}
    with np.errstate(all="ignore"):
        for z, y, x in np.ndindex(sizes[2], sizes[1], sizes[0]):
            program = Program(module, memory, precision, (sizes[0], sizes[1], sizes[2]), (x, y, z), dict(values), types)
            finish(program, run_block(program, operation.regions[0]))
    return {buffer.name: buffer.values.reshape(buffer.shape) for buffer in memory.buffers if buffer.written}


def _bind_arguments(
    module: Module, operation: Operation, arguments: Mapping[str, Argument], memory: Memory, precision: Precision
) -> dict[Value, Held]:
    values = _values_of(module, operation)
    names = [value.name[1:] for value, source in values if source is None]
    unknown = [name for name in arguments if name not in names]
    missing = [name for name in names if name not in arguments]
    if unknown or missing:
        wrong = f"{unknown[0]} is no parameter" if unknown else f"no value is given for {missing[0]}"
        raise _bad_call(module, operation, wrong, f"the parameters are {', '.join(names)}")
    held: dict[Value, Held] = {}
    for value, source in values:
        try:
            if source is not None:
                held[value] = _part_of_descriptor(held[source[0]], source[1])
            else:
                held[value] = _argument(module, value, arguments[value.name[1:]], memory, precision)
        except KernelError as problem:
            raise _bad_call(module, operation, str(problem)) from None
    return held


def _argument(module: Module, value: Value, given: Argument, memory: Memory, precision: Precision) -> Held:
    name = value.name[1:]
    match _type(module, value):
        case PointerType(pointee=element) if isinstance(given, np.ndarray) and _is_known(element):
            return np.asarray(memory.add(name, given, element), np.int64)
        case TensorDescType(shape=box, element=element) if isinstance(given, np.ndarray | TensorDescriptor):
            host = given if isinstance(given, TensorDescriptor) else TensorDescriptor(given)
            shape = host.array.shape if host.shape is None else host.shape
            strides = contiguous(shape) if host.strides is None else host.strides
            if not len(shape) == len(strides) == len(box) or strides[-1] != 1 or not _is_known(element):
                raise KernelError(f"{name} needs {len(box)} sizes of {element} and as many strides, the last one 1")
            return Descriptor(memory.add(name, host.array, element), element, shape, strides)
        case ScalarType(name=element) if isinstance(given, int | float | np.number | np.bool_):
            return _number(name, np.asarray(given), element, precision)
        case _:
            raise KernelError(f"{name} is of type {value.type}: a {type(given).__name__} is no value for it")


def _number(name: str, given: Array, element: str, precision: Precision) -> Array:
    if is_float(element):
        number = given.astype(np.float64)
        return number if precision is Precision.EXACT else np.asarray(rounded(number, element))
    bits = element_bits(element)
    if given.dtype.kind not in "iub" or not -(1 << (bits - 1)) <= int(given) < 1 << bits:
        raise KernelError(f"{name} is of type {element}: {given} is no value for it")
    return np.asarray(wrapped(given, element))


def _part_of_descriptor(descriptor: Held, index: int) -> Array:
    """The size or stride of that index among sizes and strides."""
    if not isinstance(descriptor, Descriptor):
        raise KernelError("this parameter's descriptor is none")
    return np.asarray((*descriptor.shape, *descriptor.strides)[index], np.int64)


def _values_of(module: Module, operation: Operation) -> list[tuple[Value, tuple[Value, int] | None]]:
    """The function's arguments, each with the descriptor that it is a size or stride of, and which one."""
    arguments = list(operation.regions[0].blocks[0].arguments) if operation.regions else []
    found: list[tuple[Value, tuple[Value, int] | None]] = []
    while arguments:
        value = arguments.pop(0)
        found.append((value, None))
        type_ = _type(module, value)
        rank = len(type_.shape) if isinstance(type_, TensorDescType) else 0
        following = arguments[: 2 * rank]
        if [other.type for other in following] == ["i32"] * rank + ["i64"] * rank:
            found += [(other, (value, index)) for index, other in enumerate(following)]
            arguments = arguments[2 * rank :]
    return found


def _is_known(element: str) -> bool:
    return is_float(element) or is_integer(element)


def _type(module: Module, value: Value) -> Type:
    return parse_type(value.type, module.aliases)


def _function(module: Module, name: str) -> Operation:
    found = function_named(module.operation, name)
    if found is None:
        functions = (op for op in module.operation.walk() if op.name == "tt.func")
        names = ", ".join(op.attributes.get("sym_name", "").strip('"') for op in functions)
        message = f"the module has no function '{name}'"
        raise error("unknown-function", message, file=module.file, hint=f"it has {names or 'none'}")
    return found


def _bad_call(module: Module, operation: Operation, message: str, hint: str | None = None) -> InputError:
    place = operation.name_span
    return error("bad-call", message, file=module.file, line=place.line, column=place.column, hint=hint)
