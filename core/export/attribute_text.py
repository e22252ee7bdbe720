"""Attribute values of MLIR as Python values, and back: integers, strings, lists, dictionaries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.ir.attributes import read_attributes
from core.ir.types import split_top_level

AttributeValue = int | str | Sequence["AttributeValue"] | Mapping[str, "AttributeValue"]

_INTEGER = re.compile(r"(-?\d{1,18})(?:\s*:\s*i(?:32|64))?", re.ASCII)
_ARRAY = re.compile(r"array<i(?:32|64)(?::\s*(.*))?>", re.ASCII | re.DOTALL)
_BARE_NAME = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)
_ESCAPE = re.compile(rb'\\(?:([0-9A-Fa-f]{2})|([\\"nt]))')
_ESCAPED = {b"\\": b"\\", b'"': b'"', b"n": b"\n", b"t": b"\t"}


def write_value(value: AttributeValue) -> str:
    """The text of a value; integers are `i64`."""
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, str):
        return write_string(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{write_name(name)} = {write_value(entry)}" for name, entry in value.items()) + "}"
    return "[" + ", ".join(write_value(entry) for entry in value) + "]"


def write_name(name: str) -> str:
    """The key of a dictionary, in quotes where it is no bare name."""
    return name if _BARE_NAME.fullmatch(name) else write_string(name)


def write_string(text: str) -> str:
    """A string in quotes; what MLIR does not print is written as hexadecimal bytes."""
    return '"' + "".join(_write_character(char) for char in text) + '"'


def read_value(text: str) -> AttributeValue:
    """The value of an attribute's text. Raises ValueError for a kind that is not written here."""
    text = text.strip()
    if match := _INTEGER.fullmatch(text):
        return int(match.group(1))
    if match := _ARRAY.fullmatch(text):
        return [int(entry) for entry in split_top_level(match.group(1) or "") if entry]
    if len(text) >= 2 and text[0] + text[-1] == '""':
        return read_string(text[1:-1])
    if len(text) >= 2 and text[0] + text[-1] == "[]":
        return [read_value(entry) for entry in split_top_level(text[1:-1]) if entry]
    if len(text) >= 2 and text[0] + text[-1] == "{}":
        return {read_string(name): read_value(entry) for name, entry in read_attributes(text[1:-1]).items()}
    raise ValueError(f"no integer, string, list or dictionary: {text[:40]}")


def read_string(inside: str) -> str:
    """What stands between the quotes, its escapes resolved. Raises ValueError if that is no UTF-8."""
    data = _ESCAPE.sub(_unescape, inside.encode("utf-8"))
    return data.decode("utf-8")


def _unescape(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match.group(1).decode("ascii")) if match.group(1) else _ESCAPED[match.group(2)]


def _write_character(char: str) -> str:
    if char == "\\":
        return "\\\\"
    if char == '"' or not char.isprintable():
        return "".join(f"\\{byte:02X}" for byte in char.encode("utf-8"))
    return char
