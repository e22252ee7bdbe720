"""Constraints as SMT-LIB text: clauses and pseudo-Boolean sums over Booleans and differences of integers.

A literal is a non-zero integer, its negative the opposite; TRUE and FALSE are folded away. Text, since z3 reads tens of
thousands of clauses in the time in which its Python interface builds hundreds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

TRUE = 1
FALSE = -TRUE

CHECKED_EVERY = 1000
"""Booleans."""

Conjunction = tuple[int, ...]
"""Literals that all hold; () is always."""

Term = tuple[int, int]
"""A literal and its weight > 0 in a sum."""


class Clauses:
    """A growing system; `text` is what a solver reads. `check` is called now and then: where it raises, it grows no
    further."""

    def __init__(self, check: Callable[[], None] | None = None) -> None:
        self._check = check
        self._literals = TRUE
        self._lines: list[str] = []
        self._differences: dict[tuple[str, str, int], int] = {}

    @property
    def text(self) -> str:
        """Declarations and assertions in the order in which they were made."""
        return "\n".join(self._lines)

    def integer(self, name: str, least: int | None = None, most: int | None = None) -> str:
        """Declares an integer in least .. most; the name is plain, of letters and digits."""
        self._lines.append(f"(declare-const {name} Int)")
        self.within(name, least, most)
        return name

    def within(self, name: str, least: int | None, most: int | None) -> None:
        """The integer is in least .. most; None: not bounded there."""
        if least is not None:
            self._lines.append(f"(assert (>= {name} {_number(least)}))")
        if most is not None:
            self._lines.append(f"(assert (<= {name} {_number(most)}))")

    def fresh(self) -> int:
        """A new Boolean."""
        self._literals += 1
        if self._check is not None and self._literals % CHECKED_EVERY == 0:
            self._check()
        self._lines.append(f"(declare-const {boolean_name(self._literals)} Bool)")
        return self._literals

    def difference(self, one: str, other: str, least: int) -> int:
        """The literal: integer `other` - integer `one` >= `least`."""
        if one > other:
            return -self.difference(other, one, 1 - least)
        key = one, other, least
        if key not in self._differences:
            self._literals += 1
            self._differences[key] = self._literals
            atom = f"(>= (- {other} {one}) {_number(least)})"
            self._lines.append(f"(define-fun {boolean_name(self._literals)} () Bool {atom})")
        return self._differences[key]

    def either(self, *literals: int) -> None:
        """At least one of them holds."""
        if TRUE not in literals:
            kept = " ".join([_text(literal) for literal in literals if literal != FALSE])
            self._lines.append(f"(assert (or {kept}))" if kept else "(assert false)")

    def implies(self, when: Iterable[int], *then: int) -> None:
        """Where all of `when` hold, at least one of `then` does."""
        self.either(*[-literal for literal in when], *then)

    def at_most(self, terms: Iterable[Term], limit: int, when: int = TRUE) -> None:
        """The weights of the literals that hold sum up to no more than `limit`, where `when` holds."""
        kept: list[Term] = []
        for literal, weight in terms:
            if literal == TRUE:
                limit -= weight
            elif literal != FALSE:
                kept.append((literal, weight))
        excess = sum(weight for _, weight in kept) - limit
        if excess <= 0:
            return
        if limit < 0:
            self.either(-when)
            return
        if when != TRUE:
            kept.append((when, excess))
            limit += excess
        weights = " ".join(str(weight) for _, weight in kept)
        literals = " ".join(_text(literal) for literal, _ in kept)
        self._lines.append(f"(assert ((_ pble {limit} {weights}) {literals}))")

    def at_least(self, terms: Iterable[Term], limit: int, when: int = TRUE) -> None:
        """The weights of the literals that hold sum up to no less than `limit`, where `when` holds."""
        opposite = [(-literal, weight) for literal, weight in terms]
        self.at_most(opposite, sum(weight for _, weight in opposite) - limit, when)


def boolean_name(literal: int) -> str:
    """What a Boolean from `fresh` is called in the text."""
    return f"b{literal}"


def _text(literal: int) -> str:
    return boolean_name(literal) if literal > 0 else f"(not {boolean_name(-literal)})"


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
