"""A role program as plain lines, one per statement: for the sheet, for messages, and for reading it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.export.roles.model import (
    Argument,
    ArriveFree,
    ArriveFull,
    Base,
    For,
    GroupSync,
    If,
    Induction,
    Instance,
    Issue,
    MmaWait,
    Move,
    Pin,
    Pipeline,
    Put,
    Register,
    Slot,
    Source,
    Statement,
    StoreWait,
    Take,
    TurnPass,
    TurnWait,
    WaitFree,
    WaitFull,
    While,
)
from core.ir.model import Operation

_LETTER = {Base.FIRST: "", Base.STEADY: "t", Base.LAST: "n"}


def instance_text(instance: Instance) -> str:
    """`3`, `t`, `t-1`, `n-2`."""
    letter = _LETTER[instance.base]
    if not letter:
        return str(instance.offset)
    return letter if instance.offset == 0 else f"{letter}{instance.offset:+d}"


def source_text(source: Source | None) -> str:
    """An operand: a storage, `ring[-1].trans`, an argument, `%n(t-1)`."""
    match source:
        case None:
            return "-"
        case Register(name):
            return name
        case Slot(ring, behind, via):
            views = "".join(f".{op.name.rpartition('.')[2]}" for op in via)
            return f"{ring}[{-behind if behind else 'newest'}]{views}"
        case Argument(value):
            return value.name
        case Induction(loop, instance):
            name = loop.induction.name if loop.induction is not None else "i"
            return f"{name}({instance_text(instance)})"


def statement_text(statement: Statement) -> str:
    """One statement without what is nested in it."""
    match statement:
        case Issue(operation, reads, writes, instance, op):
            at = f" <{instance_text(instance)}>" if instance is not None else ""
            targets = ", ".join(source_text(target) for target in writes)
            operands = ", ".join(source_text(read) for read in reads) if reads else _written(operation)
            named = f"  ({op})" if op else ""
            return f"{targets + ' = ' if writes else ''}{operation.name}({operands}){at}{named}"
        case Move(target, source):
            return f"{target.name} = {source_text(source)}"
        case Put(target, source):
            return f"put {source_text(target)} = {source.name}"
        case Take(target, source):
            return f"take {target.name} = {source_text(source)}"
        case WaitFull(ring, why):
            return f"wait full {ring}  // {why}"
        case WaitFree(ring, why):
            return f"wait free {ring}  // {why}"
        case ArriveFull(ring):
            return f"arrive full {ring}"
        case ArriveFree(ring, why):
            return f"arrive free {ring}  // {why}"
        case MmaWait(pending, why):
            return f"wait groups {pending}  // {why}"
        case Pin(names):
            return f"pin {', '.join(names)}"
        case GroupSync(fence, why):
            return f"sync{' with fence' if fence else ''}  // {why}"
        case StoreWait(pending, why):
            return f"wait stores {pending}  // {why}"
        case TurnWait(turn):
            return f"turn wait {turn}"
        case TurnPass(turn):
            return f"turn pass {turn}"
        case For(loop):
            return f"for %{loop.index}"
        case While():
            return "while"
        case If(condition=condition):
            return f"if {source_text(condition)}"
        case Pipeline(stages=stages, unroll=unroll):
            return f"pipeline, {stages} iterations ahead, unrolled by {unroll}"


def _written(operation: Operation) -> str:
    """What stands in the text of an operation without operands: a constant, an axis."""
    return operation.attributes.get("value") or operation.text_arguments.strip()


def lines(statements: Sequence[Statement], depth: int = 0) -> Iterator[str]:
    """All statements, indented."""
    for statement in statements:
        yield "  " * depth + statement_text(statement)
        for title, part in titled_parts(statement):
            yield "  " * depth + f" {title}:"
            yield from lines(part, depth + 2)


def titled_parts(statement: Statement) -> Iterator[tuple[str, tuple[Statement, ...]]]:
    """The lists of statements inside one, with what they are."""
    match statement:
        case For(body=body):
            yield "body", body
        case If(then=then, otherwise=otherwise):
            yield "then", then
            yield "else", otherwise
        case While(before=before, condition=condition, body=body):
            yield f"before {source_text(condition)}", before
            yield "body", body
        case Pipeline():
            for count, part in enumerate(statement.short):
                yield f"n = {count}", part
            yield "prologue", statement.prologue
            yield f"steady state from t = {statement.stages}", statement.steady
            for left, part in enumerate(statement.tails):
                yield f"tail, {left} left" if statement.unroll > 1 else "epilogue", part
        case _:
            return
