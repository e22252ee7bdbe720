"""A minimal set that excludes an interval, by halving: QuickXplain (Junker 2004)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimal_subset(kept: Sequence[T], candidates: Sequence[T], excludes: Callable[[Sequence[T]], bool]) -> list[T]:
    """The candidates that must stay beside `kept` for the whole to exclude, in their order; earlier ones are preferred.

    `kept` with all candidates must exclude. For k of n candidates it asks about k log(n / k) times. An `excludes` that
    says no because it does not know may leave more than needed, never less.
    """
    if not candidates or excludes(kept):
        return []
    return _halve(list(kept), list(candidates), excludes)


def _halve(kept: list[T], candidates: list[T], excludes: Callable[[Sequence[T]], bool]) -> list[T]:
    """As `minimal_subset`, where `kept` alone is known not to exclude."""
    if len(candidates) == 1:
        return candidates
    middle = len(candidates) // 2
    first, second = candidates[:middle], candidates[middle:]
    later = [] if excludes([*kept, *first]) else _halve([*kept, *first], second, excludes)
    earlier = [] if later and excludes([*kept, *later]) else _halve([*kept, *later], first, excludes)
    return [*earlier, *later]
