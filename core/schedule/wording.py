"""Pieces of sentences that violations and certificates share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from core.schedule.circle import Stretch


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def verb(names: Sequence[str], plural: str) -> str:
    """The verb for these subjects: `need` for several, `needs` for one."""
    return plural if len(names) > 1 else f"{plural}s"


def counted(count: int, noun: str, shown: Callable[[int], str] = str) -> str:
    """`1 cycle`, `3 cycles`; `shown`: how the number is written."""
    return f"{shown(count)} {noun}{'' if count == 1 else 's'}"


def iterations(count: int) -> str:
    """`one iteration`, `3 iterations`."""
    return "one iteration" if count == 1 else counted(count, "iteration")


def slots_text(stretch: Stretch, ii: int) -> str:
    """Where a stretch lies: `at slot 3`, `at slots 3 to 8`."""
    if stretch.last - stretch.first >= ii:
        return "at every slot"
    if stretch.last - stretch.first == 1:
        return f"at slot {stretch.first}"
    last = stretch.last - 1
    return f"at slots {stretch.first} to {last % ii}" + (" (around the end of the interval)" if last >= ii else "")


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, in the order of first occurrence."""
    return tuple(dict.fromkeys(names))


def largest(parts: Sequence[tuple[str, int]], show: int = 5) -> str:
    """`acc 64 + s 64 + 3 more 12`: the amounts that make up a sum, the small ones taken together."""
    shown = [f"{name} {amount}" for name, amount in parts[:show]]
    rest = parts[show:]
    if rest:
        shown.append(f"{len(rest)} more {sum(amount for _, amount in rest)}")
    return " + ".join(shown)
