"""A place among the tokens: looking ahead, moving on, and saying what is wrong there."""

from __future__ import annotations

from core.diagnostics import InputError
from core.ir.lexer import MAX_NESTING, Source, nesting_error, tokenize
from core.ir.model import Span

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_SHOWN = 40  # characters of a token in a message


class Cursor:
    """Reads tokens one after another; `texts[index]` is the current one, "" at the end."""

    __slots__ = ("index", "source", "starts", "texts")

    def __init__(self, source: Source) -> None:
        tokens = tokenize(source)
        self.source = source
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.index = 0

    @property
    def text(self) -> str:
        """The current token."""
        return self.texts[self.index]

    @property
    def start(self) -> int:
        """Where the current token starts."""
        return self.starts[self.index]

    @property
    def last_end(self) -> int:
        """Where the token before the current one ends."""
        return self.starts[self.index - 1] + len(self.texts[self.index - 1]) if self.index else 0

    def take(self) -> str:
        """The current token; moves on."""
        token = self.texts[self.index]
        self.index += 1
        return token

    def accept(self, token: str) -> bool:
        """Moves on if this is the current token."""
        if self.texts[self.index] != token:
            return False
        self.index += 1
        return True

    def expect(self, token: str, where: str) -> None:
        """Moves past `token`, or raises InputError."""
        if not self.accept(token):
            raise self.unexpected(f"'{token}' {where}")

    def slice(self, first: int, last: int) -> str:
        """The text from token `first` up to, not including, token `last`."""
        if first >= last:
            return ""
        return self.source.text[self.starts[first] : self.starts[last - 1] + len(self.texts[last - 1])]

    def span(self, start: int) -> Span:
        """The span from the character at `start` to the end of the token before the current one."""
        return self.source.span(start, self.last_end)

    def unexpected(self, wanted: str) -> InputError:
        """The error that something else is wanted at the current token."""
        token = self.text
        if not token:
            at = self.starts[self.index - 1] if self.index else 0
            return self.source.error("unexpected-end", f"the text ends where {wanted} is wanted: is it cut off?", at)
        shown = token if len(token) <= _SHOWN else token[:_SHOWN] + "..."
        return self.source.error("unexpected-token", f"{wanted} is wanted here, not '{shown}'", self.start)

    def skip_group(self) -> None:
        """Moves past the bracket at the current token and all up to the one that closes it."""
        texts, index, depth = self.texts, self.index, 0
        while True:
            token = texts[index]
            if token in _OPENING:
                depth += 1
                if depth > MAX_NESTING:
                    raise nesting_error(self.source, self.starts[index])
            elif token in _CLOSING:
                depth -= 1
                if depth == 0:
                    break
            elif not token:
                opened = self.texts[self.index]
                raise self.source.error("unclosed-bracket", f"this '{opened}' is never closed", self.start)
            index += 1
        self.index = index + 1

    def skip_location(self) -> None:
        """Moves past a trailing `loc(...)`, if there is one."""
        if self.texts[self.index] == "loc" and self.texts[self.index + 1] == "(":
            self.index += 1
            self.skip_group()

    def at_statement(self) -> bool:
        """Whether an operation, a block label or the end of a region starts at the current token.

        Asked in the middle of an operation, outside its brackets, to see whether it is over.
        """
        token = self.texts[self.index]
        first = token[:1]
        if first == "%":
            return self._names_results()
        if first == '"':
            return self.texts[self.index + 1] == "("
        if first == "^":
            return self.texts[self.index - 1] != ","
        if first.isalpha():
            return "." in token and "." in token.partition("<")[0] and self.texts[self.index + 1] != "="
        return first in ("}", "")

    def _names_results(self) -> bool:
        """Whether `%a, %b:2 =` stands here."""
        texts, index = self.texts, self.index
        if texts[index - 1] == ",":
            return False
        while texts[index][:1] == "%":
            index += 1
            if texts[index] == ":" and texts[index + 1].isdigit():
                index += 2
            if texts[index] == "=":
                return True
            if texts[index] != ",":
                return False
            index += 1
        return False
