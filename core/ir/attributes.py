"""Attribute dictionaries: names and the raw text of their values."""

from __future__ import annotations

import re

from core.ir.cursor import Cursor
from core.ir.types import split_top_level

_ENTRY = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\w$.\-]+)\s*(?:=\s*(.*))?', re.DOTALL)
_ENDS_REGION = re.compile(r"\.(?:\w+[._])?(?:return|yield|terminator)$")  # an op that may stand alone in one


def read_attributes(inside: str) -> dict[str, str]:
    """The entries of what stands between the braces; a unit attribute has the value ""."""
    return dict(_read_entry(entry) for entry in split_top_level(inside) if entry)


def attribute_name(entry: str) -> str:
    """The name of one `name = value` of a dictionary, without quotes."""
    return _read_entry(entry)[0]


def _read_entry(entry: str) -> tuple[str, str]:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        return entry, ""
    name = match.group(1)
    return name[1:-1] if name.startswith('"') else name, match.group(2) or ""


def take_dictionary(cursor: Cursor) -> tuple[dict[str, str], int]:
    """Reads the `{...}` at the cursor; returns its entries and where it starts. Raises InputError if unclosed."""
    start = cursor.start
    cursor.skip_group()
    return read_attributes(cursor.source.text[start + 1 : cursor.last_end - 1]), start


def at_dictionary(cursor: Cursor) -> bool:
    """Whether the `{` at the cursor opens attributes, and not a region of an unknown op."""
    first = cursor.texts[cursor.index + 1]
    if first == "}":
        return True
    if first[:1] != '"' and not first[:1].isalpha():
        return False
    second = cursor.texts[cursor.index + 2]
    return second == "=" or (second in (",", "}") and not _ENDS_REGION.search(first))
