"""Batch files of the exported test program: inputs, expected outputs and grids of some calls of a kernel.

The expected outputs are the interpreter's, run with the casts of the text. What a kernel only writes holds NaN before a
run, here and there, so that an element that nobody writes shows; it is compared with nothing, since the interpreter
leaves it alone too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np

from core.ir.interpret import Argument, TensorDescriptor, parameters, run
from core.ir.interpret.descriptors import contiguous
from core.ir.interpret.formats import Array, encoded, is_float, rounded, wrapped
from core.ir.model import Module, Operation
from core.ir.types import PointerType, ScalarType, TensorDescType, element_bits

SCHEMA = "twill.batch/1"

_BOUNDS = {"bf16": 4e-3, "f16": 1e-3, "f8E4M3FN": 0.1, "f8E5M2": 0.2}
"""Relative error by Frobenius norms where the text rounds to a format: about two and a half roundings. Rounding alone
gives 2^-(m+1)/sqrt(3) of the root mean square or less with m bits of mantissa (bf16: 1.7e-3 at most seen).

Operands of matrix ops that are only read are exact, so their format does not count: products of two fp8 numbers have at
most 8 bits, those of two tf32 numbers 22, and f32 has 24. What is then left is that the tensor core adds: of fp8
products it keeps about 14 bits, which holds sums of small multiples exactly (the inputs of the checked calls are of
that kind); of tf32 products it cuts each sum of eight at 2^-23, at most k/8 * 1.2e-7, which `_BOUND_OF_SINGLE` holds up
to k = 1300."""

_BOUND_OF_SINGLE = 2e-5
_ROUNDING = ("arith.truncf", "tt.fp_to_fp", "tt.dot", "ttng.warp_group_dot")
_LINE_BYTES = 16  # strides of tensor maps are multiples of it (CUDA driver API, cuTensorMapEncodeTiled)
_ADDING = ("tt.atomic_rmw", "tt.descriptor_reduce", "tt.atomic_cas")


@dataclass(frozen=True, slots=True)
class Case:
    """One call of a kernel. `flops`: of the matrix ops, `peak`: what one SM can do in a cycle; both for timing only."""

    name: str
    arguments: Mapping[str, Argument]
    grid: tuple[int, ...]
    flops: float = 0.0
    peak: float = 0.0


@dataclass(frozen=True, slots=True)
class Filled:
    """An array of random numbers that the test program makes, for calls that are only timed."""

    shape: tuple[int, ...]
    scale: float = 1.0
    seed: int = 1


@dataclass(slots=True)
class _File:
    header: list[str] = field(default_factory=list[str])
    data: list[bytes] = field(default_factory=list[bytes])
    size: int = 0

    def add(self, data: bytes) -> int:
        at = self.size
        padding = -len(data) % 16
        self.data += [data, bytes(padding)]
        self.size += len(data) + padding
        return at


def checked_batch(module: Module, function: str, cases: list[Case]) -> bytes:
    """A batch file of cases whose outputs are compared. Raises InputError for what the interpreter refuses."""
    file = _File()
    for case in cases:
        _add_case(file, module, function, case)
    return _written(file)


def timed_batch(
    module: Module,
    function: str,
    name: str,
    grid: tuple[int, ...],
    arguments: Mapping[str, Filled | float | int],
    *,
    flops: float = 0.0,
    peak: float = 0.0,
) -> bytes:
    """A batch file of one call whose outputs are not compared."""
    file = _File()
    _begin(file, name, grid, flops, peak)
    for parameter in parameters(module, function):
        given = arguments[parameter.name]
        match parameter.type, given:
            case ((PointerType(pointee=element) | TensorDescType(element=element)), Filled()):
                shape = given.shape
                _add_array(file, parameter.name, element, prod(shape), shape, contiguous(shape))
                file.header.append(f"fill {given.scale} {given.seed}")
            case ScalarType(), int() | float():
                file.header.append(f"number {parameter.name} {given!r}")
            case _:
                raise ValueError(f"{parameter.name}: {given}")
    return _written(file)


def _written(file: _File) -> bytes:
    header = "\n".join(file.header).encode() + b"\n"
    return f"{SCHEMA} {len(header)}\n".encode() + header + b"".join(file.data)


def _begin(file: _File, name: str, grid: tuple[int, ...], flops: float, peak: float) -> None:
    x, y, z = (*grid, 1, 1)[:3]
    file.header.append(f"case {name} {x} {y} {z}")
    if flops:
        file.header.append(f"flops {flops} {peak}")


def _add_array(
    file: _File, name: str, element: str, elements: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    numbers = " ".join(map(str, (max(1, element_bits(element) // 8), elements, len(shape), *shape, *strides)))
    file.header.append(f"array {name} {element} {numbers}")


def _add_case(file: _File, module: Module, function: str, case: Case) -> None:
    written = set(run(module, function, case.arguments, case.grid))
    adds = any(op.name in _ADDING for op in module.operation.walk())
    given = parameters(module, function)
    arguments = dict(case.arguments)
    elements = {
        parameter.name: parameter.type.pointee if isinstance(parameter.type, PointerType) else parameter.type.element
        for parameter in given
        if isinstance(parameter.type, PointerType | TensorDescType)
    }
    poisoned = {name for name in written if is_float(elements[name]) and not adds and not _is_read(module, name)}
    for name in poisoned:
        array = _array(arguments[name])
        empty = np.full(array.shape, np.nan)
        held = arguments[name]
        arguments[name] = (
            TensorDescriptor(empty, held.shape, held.strides) if isinstance(held, TensorDescriptor) else empty
        )
    expected = run(module, function, arguments, case.grid)
    formats = _formats_rounded_to(module)
    _begin(file, case.name, case.grid, case.flops, case.peak)
    for parameter in given:
        value = arguments[parameter.name]
        if parameter.name not in elements:
            file.header.append(
                f"number {parameter.name} {value!r}" if isinstance(value, int) else _number(parameter.name, value)
            )
            continue
        element = elements[parameter.name]
        layout = _Layout.of(value, element, isinstance(parameter.type, TensorDescType))
        _add_array(file, parameter.name, element, prod(layout.storage), layout.shape, layout.strides)
        if parameter.name in poisoned:
            file.header.append("poison")
        else:
            file.header.append(f"given {file.add(_bytes(layout.spread(_array(value), 0), element))}")
        if parameter.name in written:
            wanted = layout.spread(expected[parameter.name].astype(np.float64), np.nan)
            file.header.append(f"expect {file.add(wanted.astype('<f8').tobytes())} {_bound(formats | {element})}")


@dataclass(frozen=True, slots=True)
class _Layout:
    """How an array lies in memory: `storage` is the whole of it, `shape` and `strides` of the tensor in it."""

    storage: tuple[int, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @staticmethod
    def of(value: Argument, element: str, is_descriptor: bool) -> _Layout:
        """Rows of a descriptor's array are made long enough for TMA."""
        array = _array(value)
        if isinstance(value, TensorDescriptor) and value.shape is not None and value.strides is not None:
            return _Layout(array.shape, value.shape, value.strides)
        if not is_descriptor or array.ndim < 2:
            return _Layout(array.shape, array.shape, contiguous(array.shape))
        per_line = max(1, _LINE_BYTES * 8 // element_bits(element))
        storage = (*array.shape[:-1], -(-array.shape[-1] // per_line) * per_line)
        return _Layout(storage, array.shape, contiguous(storage))

    def spread(self, array: Array, fill: float) -> Array:
        """The array in its storage."""
        if array.shape == self.storage:
            return array
        whole = np.full(self.storage, fill, array.dtype)
        whole[tuple(slice(size) for size in array.shape)] = array
        return whole


def _array(value: Argument) -> Array:
    return value.array if isinstance(value, TensorDescriptor) else np.asarray(value)


def _number(name: str, value: Argument) -> str:
    return f"number {name} {float(np.asarray(_array(value)))!r}"


def _bytes(array: Array, element: str) -> bytes:
    size = max(1, element_bits(element) // 8)
    values = rounded(array.astype(np.float64), element) if is_float(element) else wrapped(array, element)
    codes = np.ascontiguousarray(encoded(values, element)).astype("<u8")
    return codes.reshape(-1, 1).view(np.uint8)[:, :size].tobytes()


def _formats_rounded_to(module: Module) -> set[str]:
    """The element types of all that the text rounds."""
    results = (result for op in module.operation.walk() if op.name in _ROUNDING for result in op.results)
    return {element for result in results for element in re.findall(r"\b(?:\d+x)*(bf16|f16|f8\w+)\b", result.type)}


def _bound(formats: set[str]) -> float:
    """What the coarsest of these formats allows."""
    return max((_BOUNDS.get(element, _BOUND_OF_SINGLE) for element in formats), default=_BOUND_OF_SINGLE)


def _is_read(module: Module, name: str) -> bool:
    """Whether a pointer parameter is loaded from, or might be."""
    value = f"%{name}"
    reached = {value}
    loads = False
    ops: list[Operation] = list(module.operation.walk())
    changed = True
    while changed:
        changed = False
        for op in ops:
            if any(operand.name in reached for operand in op.operands):
                if op.name in ("tt.load", "tt.descriptor_load", "tt.experimental_descriptor_load", "tt.call"):
                    loads = True
                elif op.name in (
                    "tt.splat",
                    "tt.addptr",
                    "tt.broadcast",
                    "ttg.convert_layout",
                    "tt.make_tensor_descriptor",
                ):
                    new = {result.name for result in op.results} - reached
                    changed = changed or bool(new)
                    reached |= new
    return loads
