"""Ops without a form of their own, read by structure: most of TTGIR, and all that is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.ir.assembly import (
    PrintedTypes,
    dictionary_position,
    has_place_for_dictionary,
    takes_dictionary_first,
)
from core.ir.attributes import at_dictionary, take_dictionary
from core.ir.cursor import Cursor
from core.ir.model import Operation, Value

if TYPE_CHECKING:
    from core.ir.parser import Reader


def plain_form(reader: Reader, op: Operation) -> PrintedTypes:
    """`operands {attributes} : types`, in any order and with any words between them.

    Every value in it is an operand; a `{` opens attributes unless what follows can only be a region.
    """
    operands: list[Value] = []
    _read_head(reader, op, operands)
    printed = PrintedTypes()
    if reader.cursor.text in (":", "->"):
        _read_types(reader, op, operands, printed)
    op.operands = tuple(operands)
    return printed


def _read_head(reader: Reader, op: Operation, operands: list[Value]) -> None:
    """Reads up to the types or the end of the op."""
    cursor, use = reader.cursor, reader.scopes.use
    texts = cursor.texts
    pieces: list[str] = []
    piece = cursor.index
    depth = commas = 0
    position = dictionary_position(op.name)
    insertion = cursor.last_end if takes_dictionary_first(op.name) else None
    while True:
        token = texts[cursor.index]
        kind = token[:1]
        if not depth and (token in (":", "->") or _ends_plain(cursor, op)):
            break
        if kind == "%":
            operands.append(use(token, cursor.start))
        elif token in ("(", "["):
            depth += 1
        elif token in (")", "]"):
            depth -= 1
            if depth < 0:
                raise cursor.unexpected("the next operation")
        elif token == "{":
            pieces.append(cursor.slice(piece, cursor.index))
            _read_braces(reader, op, nested=depth > 0)
            piece = cursor.index
            continue
        elif token == "," and not depth:
            commas += 1
            if commas == position:
                insertion = cursor.last_end
        elif not token or token == "}":
            raise cursor.unexpected(f"a closing bracket of {op.name}")
        cursor.index += 1
    pieces.append(cursor.slice(piece, cursor.index))
    op.text_arguments = " ".join(part for part in pieces if part)
    if has_place_for_dictionary(op.name):
        op.insertion_offset = cursor.last_end if insertion is None else insertion


def _ends_plain(cursor: Cursor, op: Operation) -> bool:
    """Whether a plain op is over at the cursor, or only its location is left."""
    if cursor.text == "loc" and cursor.texts[cursor.index + 1] == "(":
        return True
    successor = cursor.text[:1] == "^" and op.name.startswith("cf.") and cursor.texts[cursor.index - 1] == op.name
    return cursor.at_statement() and not successor


def _read_types(reader: Reader, op: Operation, operands: list[Value], printed: PrintedTypes) -> None:
    """Reads `: types`, `: types -> types` or `: types to types`; values among them are operands (`tt.print`)."""
    cursor = reader.cursor
    found = printed.listed
    while True:
        token = cursor.text
        kind = token[:1]
        if token in ("->", "to"):
            found = printed.produced = []
        elif token == "(":
            found += reader.type_list()
            continue
        elif token == "[":
            cursor.skip_group()
            continue
        elif token == "{":
            _read_braces(reader, op, nested=False)
            continue
        elif token in (")", "]"):
            raise cursor.unexpected("the next operation")
        elif _ends_plain(cursor, op):
            return
        elif kind == "%":
            operands.append(reader.scopes.use(token, cursor.start))
        elif kind.isalpha() or kind in ("!", "<"):
            found.append(token)
        cursor.index += 1


def _read_braces(reader: Reader, op: Operation, nested: bool) -> None:
    cursor = reader.cursor
    if nested:
        cursor.skip_group()
    elif at_dictionary(cursor):
        read_dictionary(cursor, op)
    else:
        op.regions = (*op.regions, reader.region(op))


def read_dictionary(cursor: Cursor, op: Operation) -> None:
    """Reads the `{...}` at the cursor into the op's attributes."""
    attributes, start = take_dictionary(cursor)
    op.attributes = {**op.attributes, **attributes} if op.attributes else attributes
    op.attribute_span = cursor.span(start)
