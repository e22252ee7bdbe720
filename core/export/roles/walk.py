"""Statements of a role, nested ones too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.export.roles.model import For, If, Pipeline, Statement, While


def walk(statements: Sequence[Statement]) -> Iterator[Statement]:
    """All statements, the nested ones behind the one that holds them, in the order of the text."""
    for statement in statements:
        yield statement
        for part in parts(statement):
            yield from walk(part)


def parts(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The lists of statements inside one."""
    match statement:
        case For(body=body):
            return (body,)
        case If(then=then, otherwise=otherwise):
            return (then, otherwise)
        case While(before=before, body=body):
            return (before, body)
        case Pipeline():
            return (*statement.short, statement.prologue, statement.steady, *statement.tails)
        case _:
            return ()
