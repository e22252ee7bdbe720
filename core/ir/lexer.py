"""The tokens of a TTGIR text, and the lines and columns of its characters.

A token is coarse where the parser need not look inside: `tensor<64xf16, #ttg.slice<{dim = 0}>>` is one, angle
brackets included. The first character tells the kind: `%` value, `"` string, `@` symbol, `^` block, `#` and `!`
alias or type, a letter identifier, a digit (or `-` and a digit) number, anything else punctuation.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field

from core.diagnostics import InputError, error
from core.ir.model import Span

MAX_NESTING = 256
"""Brackets or regions inside one another that are still read; real files stay below 20."""

_STRING = r'"(?:[^"\\\n]|\\.)*+"'


def _balanced(levels: int) -> str:
    """A pattern of `<...>` with up to so many levels of `<` inside; it never backtracks."""
    inner = rf'[^<>"\-]++|->|-|{_STRING}'
    pattern = f"<(?:{inner})*+>"
    for _ in range(levels):
        pattern = f"<(?:{inner}|{pattern})*+>"
    return pattern


_ANGLE = _balanced(4)  # deeper ones are read by `_angle_end`
_TOKEN = re.compile(
    rf"""
    (?:[ \t\r\n\f\v]++|//[^\n]*+|\{{-\#[\s\S]*?\#-\}})     # blanks, comments, the resources after a module
    |(
        %[\w$.\-]++(?:\#\d++)?
      | [\#!]?[A-Za-z_][\w$.]*+(?:{_ANGLE})?
      | {_STRING}
      | ->
      | -?0x[0-9A-Fa-f]++ | -?\d++(?:\.\d*+(?:[eE][+\-]?\d++)?)?
      | \^[\w$.\-]++
      | @(?:[\w$.\-]++|{_STRING})(?:::@(?:[\w$.\-]++|{_STRING}))*+
      | {_ANGLE}
      | [()\[\]{{}},:=*+?|/\-]
    )
    """,
    re.VERBOSE | re.ASCII,
)
_BRACKET = re.compile(rf'{_STRING}|->|[<>"]')
_NO_PREFIX = '()[]{},:=*+?|/-%@^"0123456789<'  # what a token begins with that takes no `<...>`
_LINE_END = re.compile(r"\n")


class Source:
    """A text with a name: positions, spans and errors in it."""

    __slots__ = ("_line_starts", "file", "text")

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._line_starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of a character."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The span of text[start:end]."""
        line = bisect_right(self._line_starts, start)
        return Span(start, end, line, start - self._line_starts[line - 1] + 1)

    def error(self, code: str, message: str, offset: int, hint: str | None = None) -> InputError:
        """An error about the character at `offset`, to be raised."""
        line, column = self.position(offset)
        return error(code, message, file=self.file, line=line, column=column, hint=hint)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The texts of the tokens and where each starts; an empty text closes the list."""

    texts: list[str] = field(default_factory=list[str])
    starts: array[int] = field(default_factory=lambda: array("q"))


def tokenize(source: Source) -> Tokens:
    """All tokens of the text. Raises InputError where no token starts or a bracket or string is not closed."""
    text = source.text
    tokens = Tokens()
    add_text, add_start = tokens.texts.append, tokens.starts.append
    position, end = 0, len(text)
    while position < end:
        for match in _TOKEN.finditer(text, position):
            if match.start() != position:
                break
            position = match.end()
            token = match.group(1)
            if token is not None:
                add_text(token)
                add_start(match.start())
        if position < end:
            position = _odd_token(source, tokens, position)
    add_text("")
    add_start(end)
    return tokens


def _odd_token(source: Source, tokens: Tokens, start: int) -> int:
    """Reads a `<...>` that is nested too deep for the pattern; anything else here is an error. Returns its end."""
    char = source.text[start]
    if char == '"':
        raise source.error("unclosed-string", "this string is not closed on its line", start, 'end it with "')
    if char != "<":
        shown = repr(char) if char.isprintable() else f"U+{ord(char):04X}"
        raise source.error("unexpected-character", f"unexpected character {shown}", start, "TTGIR text is wanted here")
    end = _angle_end(source, start)
    if tokens.texts and tokens.starts[-1] + len(tokens.texts[-1]) == start and tokens.texts[-1][0] not in _NO_PREFIX:
        start = tokens.starts.pop()
        tokens.texts.pop()
    tokens.texts.append(source.text[start:end])
    tokens.starts.append(start)
    return end


def _angle_end(source: Source, start: int) -> int:
    depth = 0
    for match in _BRACKET.finditer(source.text, start):
        token = match.group()
        if token == "<":
            depth += 1
            if depth > MAX_NESTING:
                raise nesting_error(source, match.start())
        elif token == ">":
            depth -= 1
            if depth == 0:
                return match.end()
        elif token == '"':
            raise source.error(
                "unclosed-string", "this string is not closed on its line", match.start(), 'end it with "'
            )
    raise source.error("unclosed-bracket", "this '<' is never closed: is the text cut off?", start)


def nesting_error(source: Source, offset: int) -> InputError:
    """The error of text that is nested deeper than MAX_NESTING."""
    return source.error("nesting-too-deep", f"nested more than {MAX_NESTING} levels deep", offset)
