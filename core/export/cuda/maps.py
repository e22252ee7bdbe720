"""Tensor maps: descriptors that the host makes, from the function's parameters or from values that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

from core.export.cuda.elements import ElementError, scalar_element
from core.export.cuda.encodings import MmaShared
from core.export.cuda.holds import DescriptorMap, default_encoding
from core.export.cuda.scalar import constant, expression, is_elementwise
from core.export.cuda.text import KernelText, TensorMap
from core.ir.model import Value
from core.ir.types import TensorDescType

_MOST_LINES = 256  # of a box


@dataclass(frozen=True, slots=True)
class MadeDescriptor:
    """What the host makes a tensor map of: expressions of the pointer, sizes and strides in elements."""

    pointer: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]


def descriptor_map(kernel: KernelText, value: Value) -> DescriptorMap:
    """The tensor map of a descriptor; one of other tiles than those it was made for has a map of its own. Raises
    ElementError for one that the host cannot make."""
    made, type_ = _origin(value), kernel.type(value)
    if type_ == kernel.type(made):
        value = made
    known = kernel.maps.get(value)
    if known is not None:
        return known.held
    if not isinstance(type_, TensorDescType):
        raise ElementError(f"a descriptor of type {value.type}")
    encoding = kernel.shared(type_.encoding) if type_.encoding else default_encoding(type_.element, type_.shape)
    if not isinstance(encoding, MmaShared) or encoding.transposed:
        raise ElementError("a descriptor of a tile that TMA does not lay out")
    if len(type_.shape) != 2 or type_.shape[0] > _MOST_LINES:
        raise ElementError(f"a descriptor of tiles of shape {type_.shape}")
    if made.producer is not None:
        made_descriptor(kernel, made)  # refuses what the host cannot know
    name = kernel.names.fresh(f"{value.name}_map")
    held = DescriptorMap(f"p.{name}", type_.element, type_.shape, encoding)
    kernel.maps[value] = TensorMap(name, made, held)
    return held


def made_descriptor(kernel: KernelText, value: Value) -> MadeDescriptor:
    """The parts of `tt.make_tensor_descriptor` as host expressions. Raises ElementError."""
    op = value.producer
    if op is None or op.name != "tt.make_tensor_descriptor":
        raise ElementError("a descriptor made on the device")
    pointer, *rest = (host_expression(kernel, operand) for operand in op.operands)
    rank = len(rest) // 2
    return MadeDescriptor(pointer, tuple(rest[:rank]), tuple(rest[rank:]))


def host_expression(kernel: KernelText, value: Value) -> str:
    """A scalar as an expression of the parameters `p`. Raises ElementError if it depends on more than them."""
    if value in kernel.arguments:
        return f"p.{kernel.arguments[value]}"
    op = value.producer
    if op is not None and op.name == "arith.constant":
        return constant(op, scalar_element(value.type))
    if op is not None and is_elementwise(op):
        operands = [host_expression(kernel, operand) for operand in op.operands]
        elements = [scalar_element(operand.type) for operand in op.operands]
        return f"({expression(op, operands, elements, scalar_element(value.type))})"
    raise ElementError(f"a descriptor of {value.name}, which the host does not know")


def _origin(value: Value) -> Value:
    """The descriptor as first made."""
    op = value.producer
    return _origin(op.operands[0]) if op is not None and op.name == "ttng.reinterpret_tensor_descriptor" else value
