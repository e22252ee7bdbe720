"""Marks: where a kernel built with -DTWILL_TRACE notes when an op of a scheduled loop begins and ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.export.roles.model import For, Issue, Pipeline, RoleProgram, Statement
from core.export.roles.walk import parts

Marked = tuple[int, str]
"""The index of a loop, and an op of its graph."""


def mark_numbers(program: RoleProgram) -> Mapping[Marked, int]:
    """All ops that are marked, numbered in the order of the text."""
    found: dict[Marked, int] = {}
    for role in program.roles:
        for marked in _marked(role.statements, None):
            found.setdefault(marked, len(found))
    return found


def _marked(statements: Sequence[Statement], loop: int | None) -> Iterator[Marked]:
    for one in statements:
        if isinstance(one, Issue) and one.op is not None and one.instance is not None and loop is not None:
            yield loop, one.op
        inside = one.loop.index if isinstance(one, For | Pipeline) else loop
        for part in parts(one):
            yield from _marked(part, inside)
