"""Colours of program text, light and dark, as `#rrggbb`. Each reaches 4.5:1 on every ground that text may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a piece of text is, as far as it is coloured."""

    KEYWORD = "keyword"
    OPERATION = "operation"
    VALUE = "value"
    TYPE = "type"
    ATTRIBUTE = "attribute"
    SYMBOL = "symbol"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class SyntaxColors:
    """`strong`: the ground of the lines of selected ops; `weak`: that of lines which help them. `linked`: the mark of a
    line that belongs to an op, beside its number."""

    base: str
    text: str
    gutter: str
    number: str
    linked: str
    strong: str
    strong_mark: str
    weak: str
    kinds: Mapping[Kind, str]


SYNTAX_LIGHT = SyntaxColors(
    base="#ffffff",
    text="#1c2128",
    gutter="#f2f4f7",
    number="#57606a",
    linked="#7d858f",
    strong="#ffe8a3",
    strong_mark="#b07800",
    weak="#fff7df",
    kinds={
        Kind.KEYWORD: "#8a1570",
        Kind.OPERATION: "#0a4fa3",
        Kind.VALUE: "#643a96",
        Kind.TYPE: "#0b5f55",
        Kind.ATTRIBUTE: "#66500a",
        Kind.SYMBOL: "#1c2128",
        Kind.STRING: "#2f5f1a",
        Kind.NUMBER: "#963508",
        Kind.COMMENT: "#59616c",
    },
)
SYNTAX_DARK = SyntaxColors(
    base="#16181c",
    text="#e4e8ee",
    gutter="#1f2329",
    number="#a3acb8",
    linked="#707986",
    strong="#4d3e0c",
    strong_mark="#f0b75a",
    weak="#29261a",
    kinds={
        Kind.KEYWORD: "#f79ad6",
        Kind.OPERATION: "#8cc2ff",
        Kind.VALUE: "#d8b2ff",
        Kind.TYPE: "#72d9c8",
        Kind.ATTRIBUTE: "#dccb7c",
        Kind.SYMBOL: "#e4e8ee",
        Kind.STRING: "#a5dc8e",
        Kind.NUMBER: "#ffb38a",
        Kind.COMMENT: "#a8b0bb",
    },
)
