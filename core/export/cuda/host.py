"""What the host knows of a kernel's parameters: how they are given, and which tensor maps it makes of them."""

from __future__ import annotations

from typing import Any

from core.export.cuda.elements import cpp_type, element_bytes, is_pointer, memory_type, pointee, scalar_element
from core.export.cuda.encodings import MmaShared
from core.export.cuda.maps import made_descriptor
from core.export.cuda.text import KernelText, TensorMap
from core.ir.model import Operation, Value
from core.ir.types import TensorDescType


def argument_rows(kernel: KernelText, function: Operation) -> list[dict[str, Any]]:
    """The parameters in order: `name`, C++ `type`, `kind` (pointer, scalar, descriptor, size, stride), and for sizes
    and strides the descriptor they follow from and their index; `field`: the member of `Params`, "" for descriptors."""
    values = list(function.regions[0].blocks[0].arguments)
    rows: list[dict[str, Any]] = []
    while values:
        value = values.pop(0)
        type_ = kernel.type(value)
        name = value.name[1:]
        if isinstance(type_, TensorDescType):
            row = {"name": name, "kind": "descriptor", "element": type_.element, "type": "", "field": ""}
            rows.append(row | {"memory": memory_type(type_.element), "bytes": element_bytes(type_.element)})
            rank = len(type_.shape)
            following = values[: 2 * rank]
            if [other.type for other in following] == ["i32"] * rank + ["i64"] * rank:
                rows += [_part(kernel, name, other, index, rank) for index, other in enumerate(following)]
                values = values[2 * rank :]
            continue
        element = scalar_element(value.type)
        row = {"name": name, "type": cpp_type(element), "field": kernel.arguments[value]}
        if is_pointer(element):
            target = pointee(element)
            rows.append(
                row
                | {"kind": "pointer", "element": target, "memory": memory_type(target), "bytes": element_bytes(target)}
            )
        else:
            rows.append(row | {"kind": "scalar", "element": element})
    return rows


def _part(kernel: KernelText, of: str, value: Value, index: int, rank: int) -> dict[str, Any]:
    kind = "size" if index < rank else "stride"
    element = scalar_element(value.type)
    return {
        "name": value.name[1:],
        "type": cpp_type(element),
        "element": element,
        "field": kernel.arguments[value],
        "kind": kind,
        "of": of,
        "index": index % rank,
    }


def map_rows(kernel: KernelText) -> list[dict[str, Any]]:
    """The tensor maps: `name`, `memory` (C++ type of an element), `box`, `swizzle`, and either the parameter whose
    descriptor it is (`of`) or expressions of `pointer`, `sizes` and `strides`."""
    return [_map_row(kernel, made) for made in kernel.maps.values()]


def _map_row(kernel: KernelText, made: TensorMap) -> dict[str, Any]:
    encoding = made.held.encoding
    size = element_bytes(made.held.element)
    lines, columns = made.held.shape[-2:]
    swizzle = encoding.swizzle if isinstance(encoding, MmaShared) else 0
    box = [lines, min(columns, (swizzle or 16) // size)]
    row = {"name": made.name, "memory": memory_type(made.held.element), "box": box, "swizzle": swizzle}
    if made.source.producer is None:
        return row | {"of": made.source.name[1:], "pointer": "", "sizes": [], "strides": []}
    parts = made_descriptor(kernel, made.source)
    return row | {"of": "", "pointer": parts.pointer, "sizes": list(parts.sizes), "strides": list(parts.strides)}
