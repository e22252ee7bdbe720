"""What the pieces of a line of generated CUDA are, for colouring. No Qt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from twill_gui.views.code import Kind, Piece

_KEYWORDS = (
    "alignas|auto|bool|char|const|constexpr|double|else|extern|false|float|for|if|int|inline|long|nullptr|return|"
    "sizeof|static|static_assert|struct|template|true|typename|unsigned|using|void|while|__device__|__global__|"
    "__launch_bounds__|__grid_constant__|__shared__|TW_\\w+"
)
_TOKEN = re.compile(
    rf"""
      (?P<comment>//.*)
    | (?P<symbol>^\s*\#\w+)
    | (?P<string>"(?:[^"\\]|\\.)*"?)
    | (?P<keyword>\b(?:{_KEYWORDS})\b)
    | (?P<type>\b(?:tw::(?:[A-Z]\w*|f16|bf16|tf32|e4m3|e5m2)|u?int\d+_t|Params|Smem|L\d\w*)\b)
    | (?P<operation>\btw::\w+)
    | (?P<number>\b(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*(?:[eE][+\-]?\d+)?)?)[fu]?\b)
    | (?P<value>\b[A-Za-z_]\w*)
    """,
    re.VERBOSE | re.ASCII,
)
_KINDS = {kind.value: kind for kind in Kind}


def pieces(line: str) -> Iterator[Piece]:
    """The coloured pieces of a line, from left to right."""
    for match in _TOKEN.finditer(line):
        name = match.lastgroup
        if name is not None and name != "value":
            yield Piece(match.start(), match.end() - match.start(), _KINDS[name])
