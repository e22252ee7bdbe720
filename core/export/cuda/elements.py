"""Element types in C++: names, literals, sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.ir.types import PointerType, ScalarType, element_bits, parse_type

FLOATS: Mapping[str, str] = {
    "f16": "tw::f16",
    "bf16": "tw::bf16",
    "f32": "float",
    "f64": "double",
    "f8E4M3FN": "tw::e4m3",
    "f8E5M2": "tw::e5m2",
}
"""The runtime's types of TTGIR's floats."""

_INTEGERS: Mapping[str, str] = {
    "i1": "bool",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "index": "int64_t",
}
_LITERAL = re.compile(r"true|false|-?0x[0-9A-Fa-f]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_LEAST = {32: "INT32_MIN", 64: "INT64_MIN"}


class ElementError(Exception):
    """A type or number that has no text here, with the reason."""


def is_float(element: str) -> bool:
    """Whether the element is a float of the runtime."""
    return element in FLOATS


def is_pointer(element: str) -> bool:
    """Whether the element is a pointer."""
    return element.startswith("!tt.ptr")


def pointee(element: str) -> str:
    """What a pointer points to. Raises ElementError."""
    pointer = parse_type(element)
    if not isinstance(pointer, PointerType):
        raise ElementError(f"{element} is no pointer")
    return pointer.pointee


def cpp_type(element: str) -> str:
    """The C++ type: `float`, `tw::f16`, `int32_t`, `tw::f16*`. Raises ElementError."""
    if is_pointer(element):
        return f"{memory_type(pointee(element))}*"
    found = FLOATS.get(element) or _INTEGERS.get(element)
    if found is None:
        raise ElementError(f"elements of type {element}")
    return found


def memory_type(element: str) -> str:
    """The C++ type of an element in memory: an `i1` takes a byte there. Raises ElementError."""
    return "int8_t" if element == "i1" else cpp_type(element)


def unsigned_type(element: str) -> str:
    """The unsigned C++ type of as many bits as an integer has. Raises ElementError."""
    name = cpp_type(element)
    return "bool" if name == "bool" else f"u{name}"


def element_bytes(element: str) -> int:
    """Bytes of an element in registers' tiles, shared and global memory."""
    return max(1, element_bits(element) // 8)


def scalar_element(text: str) -> str:
    """The element of a scalar type: `i32`, `f16`, `!tt.ptr<f16>`. Raises ElementError for other types."""
    match parse_type(text):
        case ScalarType(name=name):
            return name
        case PointerType():
            return text
        case _:
            raise ElementError(f"values of type {text}")


def literal(text: str, element: str) -> str:
    """A C++ expression for a number of TTGIR text: `-1`, `1.000000e+00`, `0xFF800000` (bits of a float), `true`.

    Raises ElementError.
    """
    if _LITERAL.fullmatch(text) is None:
        raise ElementError(f"the constant {text}")
    if is_float(element):
        return _float_literal(text, element)
    number = int(text == "true") if text in ("true", "false") else int(text, 0)
    bits = element_bits(element)
    if element == "i1":
        return "true" if number else "false"
    number = (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    if number == -(1 << (bits - 1)) and bits in _LEAST:
        return _LEAST[bits]
    return f"int64_t({number})" if bits == 64 else str(number)


def literals(text: str) -> list[str]:
    """The numbers of `dense<[1, 2]> : ...`, `true`, `-1 : i32`; one for all elements of a splat."""
    inside = re.search(r"dense<(.*?)>\s*(?::|$)", text, re.DOTALL)
    return _LITERAL.findall(inside.group(1) if inside else text.partition(" : ")[0])


def _float_literal(text: str, element: str) -> str:
    if "0x" not in text:
        number = text if any(mark in text for mark in ".eE") else f"{text}.0"
        return _converted(number, element)
    raw = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}[element_bits(element)]
    return f"tw::bits_as<{cpp_type(element)}>({raw}({text}{'ull' if element == 'f64' else 'u'}))"


def _converted(number: str, element: str) -> str:
    if element == "f64":
        return number
    return f"{number}f" if element == "f32" else f"tw::to<{cpp_type(element)}>({number}f)"
