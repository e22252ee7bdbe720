"""What the pieces of a line of TTGIR are, for colouring. No Qt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from twill_gui.views.code import Kind, Piece

_KEYWORDS = (
    "module|attributes|func|public|private|noinline|loc|unknown|iter_args|to|step|dense|array|true|false|unit|"
    "else|do|default|partition\\d*"
)
_ELEMENT = r"(?:b?f\d+\w*|tf32|[su]?i\d+|index|none|complex|!?tt\.ptr)"
# The first alternative that fits wins. `dims`: the sizes in `tensor<64x128xf16>`, which may be glued to an element.
_TOKEN = re.compile(
    rf"""
      (?P<comment>//.*)
    | (?P<quoted_operation>"[A-Za-z_]\w*(?:\.\w+)+"(?=\())
    | (?P<string>"(?:[^"\\]|\\.)*"?)
    | (?P<value>%[\w$.\-]+(?:\#\d+)?)
    | (?P<symbol>@(?:[\w$.\-]+|"[^"]*")|\^\w+)
    | (?P<type>![A-Za-z_][\w.]*|\b(?:tensor|vector|memref|tuple)\b(?=<)|\b{_ELEMENT}\b)
    | (?P<attribute>\#[A-Za-z_][\w.]*|\b[A-Za-z_][\w.\-]*(?=\s=\s))
    | (?P<number>-?\b(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*(?:[eE][+\-]?\d+)?)?)\b)
    | (?P<dims>(?<![\w.%])(?:(?:\d+|\?)x)+)(?P<element>{_ELEMENT}\b)?
    | (?P<keyword>\b(?:{_KEYWORDS})\b)
    | (?P<operation>\b[A-Za-z_]\w*\.[\w.]*\w)
    """,
    re.VERBOSE | re.ASCII,
)
_KINDS = {
    "comment": Kind.COMMENT,
    "quoted_operation": Kind.OPERATION,
    "string": Kind.STRING,
    "value": Kind.VALUE,
    "symbol": Kind.SYMBOL,
    "type": Kind.TYPE,
    "attribute": Kind.ATTRIBUTE,
    "dims": Kind.NUMBER,
    "element": Kind.TYPE,
    "number": Kind.NUMBER,
    "keyword": Kind.KEYWORD,
    "operation": Kind.OPERATION,
}


def pieces(line: str) -> Iterator[Piece]:
    """The coloured pieces of a line, from left to right."""
    for match in _TOKEN.finditer(line):
        for name, kind in _KINDS.items():
            start, end = match.span(name)
            if start >= 0 and end > start:
                yield Piece(start, end - start, kind)
