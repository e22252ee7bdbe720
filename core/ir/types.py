"""TTGIR types as frozen values, read from their text.

Encodings stay text, with aliases expanded only on demand: a cost needs a shape and an element, seldom a layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

TOKEN_TEXT = "!ttg.async.token"

_MAX_EXPANDED = 1 << 16  # characters; layouts are a few hundred
_MAX_ALIAS_DEPTH = 16

_SIZE = r"(?:[0-9]{1,9}|\?)"
_SHAPED = re.compile(rf"((?:{_SIZE}x)*)(.+)", re.DOTALL)
_SIZES = re.compile(rf"{_SIZE}(?:x{_SIZE})*")
_ALIAS = re.compile(r"[#!][A-Za-z_$][\w$]*+(?![.<])")
_ELEMENT = re.compile(r"(?:[su]?i|b?f|tf)(\d+)(?:E\w+)?")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|->|[<>()\[\]{},]', re.DOTALL)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A number: `i32`, `f16`, `bf16`, `f8E4M3FN`, `index`."""

    name: str


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tile in registers. `element` is text ("f16", "!tt.ptr<f16>"), `encoding` too ("" if there is none)."""

    shape: tuple[int, ...]
    element: str
    encoding: str = ""


@dataclass(frozen=True, slots=True)
class MemDescType:
    """A buffer in shared or tensor memory.

    `memory_space` is text ("#smem", "#ttng.tensor_memory"). `allocation_shape` is the shape of the buffer that
    this one is a view of, where the type names it, else `shape`.
    """

    shape: tuple[int, ...]
    element: str
    encoding: str = ""
    memory_space: str = ""
    mutable: bool = False
    allocation_shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TensorDescType:
    """A TMA descriptor of a tile of `shape`."""

    shape: tuple[int, ...]
    element: str
    encoding: str = ""


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer; `pointee` is the text of a type."""

    pointee: str
    address_space: int = 1


@dataclass(frozen=True, slots=True)
class TokenType:
    """The token of an asynchronous op: an order, no value."""


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A type that is not known here, as written."""

    text: str


Type = ScalarType | TensorType | MemDescType | TensorDescType | PointerType | TokenType | OpaqueType


def parse_type(text: str, aliases: Mapping[str, str] | None = None) -> Type:
    """Reads one type. A whole-type alias (`!t`) is looked up in `aliases`; encodings keep theirs.

    Never fails: what is not understood is an OpaqueType.
    """
    text = text.strip()
    if aliases and text.startswith("!") and text in aliases:
        text = expand_aliases(text, aliases)
    head, bracket, rest = text.partition("<")
    if not bracket:
        return _plain_type(text)
    if not rest.endswith(">"):
        return OpaqueType(text)
    reader = _READERS.get(head)
    found = reader(rest[:-1]) if reader else None
    return found if found is not None else OpaqueType(text)


def element_bits(element: str) -> int:
    """Bits of one element: 16 for `bf16`, 8 for `f8E4M3FN`, 1 for `i1`, 64 for pointers and `index`.

    Raises ValueError if `element` is no such type.
    """
    if element.startswith("!tt.ptr") or element == "index":
        return 64
    match = _ELEMENT.fullmatch(element)
    if match is None:
        raise ValueError(f"'{element}' is no element type of a tile")
    return 32 if element == "tf32" else int(match.group(1))


def expand_aliases(text: str, aliases: Mapping[str, str]) -> str:
    """`text` with every known alias replaced by what it stands for, aliases within aliases too.

    Text that would grow beyond 64 K characters (hostile nesting of aliases) is returned as far as it got.
    """
    for _ in range(_MAX_ALIAS_DEPTH):
        known = [match.group() for match in _ALIAS.finditer(text) if match.group() in aliases]
        if not known or len(text) + sum(len(aliases[alias]) for alias in known) > _MAX_EXPANDED:
            break
        text = _ALIAS.sub(lambda match: aliases.get(match.group(), match.group()), text)
    return text


def same_type(left: str, right: str, aliases: Mapping[str, str]) -> bool:
    """Whether two type texts mean the same type, whatever their spaces and aliases."""
    if left == right:
        return True
    return _normalised(left, aliases) == _normalised(right, aliases)


def boolean_like(text: str) -> str:
    """The type of a comparison of two values of type `text`: i1 of the same shape and encoding."""
    parsed = parse_type(text)
    return _tensor_text(parsed.shape, "i1", parsed.encoding) if isinstance(parsed, TensorType) else "i1"


def pointee_like(text: str) -> str:
    """The type of what is loaded through a pointer, or a tile of pointers, of type `text`; "" if it is none."""
    parsed = parse_type(text)
    if isinstance(parsed, PointerType):
        return parsed.pointee
    if isinstance(parsed, TensorType):
        pointer = parse_type(parsed.element)
        if isinstance(pointer, PointerType):
            return _tensor_text(parsed.shape, pointer.pointee, parsed.encoding)
    return ""


def split_top_level(text: str) -> list[str]:
    """`text` cut at the commas that stand in no bracket and no string; pieces are stripped."""
    pieces: list[str] = []
    depth = start = 0
    for match in _STRUCTURE.finditer(text):
        token = match.group()
        if token in ("<", "(", "[", "{"):
            depth += 1
        elif token in (">", ")", "]", "}"):
            depth -= 1
        elif token == "," and depth == 0:
            pieces.append(text[start : match.start()].strip())
            start = match.end()
    pieces.append(text[start:].strip())
    return pieces


def _normalised(text: str, aliases: Mapping[str, str]) -> str:
    return _SPACE.sub("", expand_aliases(text, aliases))


def _plain_type(text: str) -> Type:
    if text == TOKEN_TEXT:
        return TokenType()
    if text == "index" or _ELEMENT.fullmatch(text):
        return ScalarType(text)
    return OpaqueType(text)


def _shape(text: str) -> tuple[tuple[int, ...], str] | None:
    """`64x128xf16` -> ((64, 128), "f16"); a dynamic dimension is -1."""
    match = _SHAPED.fullmatch(text)
    if match is None:
        return None
    return _sizes(match.group(1)[:-1]), match.group(2)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(-1 if size == "?" else int(size) for size in text.split("x")) if text else ()


def _tensor(inside: str) -> TensorType | None:
    parts = split_top_level(inside)
    shaped = _shape(parts[0])
    return TensorType(*shaped, ", ".join(parts[1:])) if shaped else None


def _memory_descriptor(inside: str) -> MemDescType | None:
    parts = split_top_level(inside)
    shaped = _shape(parts[0])
    if shaped is None or len(parts) < 3:
        return None
    shape, element = shaped
    mutable = "mutable" in parts[3:]
    allocation = _sizes(parts[-1]) if _SIZES.fullmatch(parts[-1]) else shape
    return MemDescType(shape, element, parts[1], parts[2], mutable, allocation)


def _tensor_descriptor(inside: str) -> TensorDescType | None:
    """Older versions of Triton print `tensor<64x128xf16, #shared>` inside, newer ones its bare contents."""
    inside = inside.strip()
    if inside.startswith("tensor<") and inside.endswith(">"):
        inside = inside[len("tensor<") : -1]
    tensor = _tensor(inside)
    return TensorDescType(tensor.shape, tensor.element, tensor.encoding) if tensor else None


def _pointer(inside: str) -> PointerType:
    parts = split_top_level(inside)
    return (
        PointerType(parts[0], *_sizes(parts[1]))
        if len(parts) == 2 and _SIZES.fullmatch(parts[1])
        else PointerType(parts[0])
    )


def _tensor_text(shape: tuple[int, ...], element: str, encoding: str) -> str:
    dimensions = "".join(f"{'?' if size < 0 else size}x" for size in shape)
    return f"tensor<{dimensions}{element}{', ' + encoding if encoding else ''}>"


_READERS = {
    "tensor": _tensor,
    "!ttg.memdesc": _memory_descriptor,
    "!tt.tensordesc": _tensor_descriptor,
    "!ttng.tensordesc_im2col": _tensor_descriptor,
    "!tt.ptr": _pointer,
}
