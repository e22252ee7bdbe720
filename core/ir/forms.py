"""The printed forms of ops with regions and block arguments, and of ops in generic form.

A form is called behind the op's name; it fills operands, attributes and regions, and returns the printed types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from core.ir.assembly import PrintedTypes
from core.ir.attributes import read_attributes
from core.ir.cursor import Cursor
from core.ir.model import Block, Operation, Region, Span, Value
from core.ir.plain import plain_form, read_dictionary

if TYPE_CHECKING:
    from core.ir.parser import Reader

Form = Callable[["Reader", Operation], PrintedTypes]

ISOLATED = frozenset({"builtin.module", "tt.func", "func.func", "gpu.func", "ttg.warp_specialize.partitions"})
"""Ops whose regions see no value of their outside."""


class Argument(NamedTuple):
    """A block argument that is declared but not yet defined."""

    name: str
    type: str
    span: Span


def _read_trailing_dictionary(cursor: Cursor, op: Operation) -> None:
    """What may follow the last region: `{...}`."""
    op.insertion_offset = cursor.last_end
    if cursor.text == "{":
        read_dictionary(cursor, op)


def _read_named_dictionary(cursor: Cursor, op: Operation) -> None:
    """`attributes {...}`, the word because a region may stand here too."""
    if cursor.accept("attributes"):
        if cursor.text != "{":
            raise cursor.unexpected("'{' after attributes")
        read_dictionary(cursor, op)


def generic_form(reader: Reader, op: Operation) -> PrintedTypes:
    """`(operands)[successors] <{properties}> ({region}, ...) {attributes} : (types) -> types`."""
    cursor = reader.cursor
    cursor.expect("(", f"and the operands of {op.name}")
    op.operands = tuple(_values(reader, ")"))
    if cursor.text == "[":
        cursor.skip_group()
    if cursor.text.startswith("<{"):
        op.attributes = read_attributes(cursor.take()[2:-2])
    if cursor.accept("("):
        regions: list[Region] = []
        while not cursor.accept(")"):
            regions.append(reader.region(op, isolated=op.name in ISOLATED))
            if not cursor.accept(",") and cursor.text != ")":
                raise cursor.unexpected("',' or ')'")
        op.regions = tuple(regions)
    _check_structure(cursor, op)
    _read_trailing_dictionary(cursor, op)
    cursor.expect(":", f"and the type of {op.name}")
    printed = PrintedTypes(reader.type_list())
    if cursor.accept("->"):
        printed.produced = reader.type_list()
    return printed


def _check_structure(cursor: Cursor, op: Operation) -> None:
    """Control flow in generic form must have the regions and arguments that its custom form cannot lack."""
    entry = [len(region.blocks[0].arguments) for region in op.regions]
    match op.name:
        case "scf.for":
            sound = len(op.operands) >= 3 and entry == [len(op.operands) - 2]
        case "scf.while":
            sound = len(entry) == 2 and entry[0] == len(op.operands)
        case "scf.if":
            sound = len(op.operands) == 1 and len(entry) in (1, 2)
        case _:
            return
    if not sound:
        raise cursor.source.error("malformed-op", f"{op.name} lacks operands, regions or arguments", op.span.start)


def module_form(reader: Reader, op: Operation) -> PrintedTypes:
    """`module @name attributes {...} { ... }`."""
    cursor = reader.cursor
    if cursor.text[:1] == "@":
        op.text_arguments = cursor.take()
    _read_named_dictionary(cursor, op)
    op.regions = (reader.region(op, isolated=True),)
    return PrintedTypes()


def _function_form(reader: Reader, op: Operation) -> PrintedTypes:
    """`public @name(%a: type, ...) -> type attributes {...} { ... }`; a declaration has types and no region."""
    cursor = reader.cursor
    first = cursor.index
    while cursor.text.isalpha():
        cursor.index += 1
    if cursor.text[:1] != "@":
        raise cursor.unexpected("the function's name")
    symbol = cursor.take()
    op.text_arguments = cursor.slice(first, cursor.index)
    arguments: list[Argument] = []
    if cursor.text == "(" and cursor.texts[cursor.index + 1][:1] == "%":
        cursor.index += 1
        arguments = reader.arguments(")")
    else:
        reader.type_list()
    if cursor.accept("->"):
        reader.type_list()
    _read_named_dictionary(cursor, op)
    op.attributes = {"sym_name": '"' + symbol[1:].strip('"') + '"', **op.attributes}
    if cursor.text == "{":
        op.regions = (reader.region(op, arguments, isolated=True),)
    return PrintedTypes()


def _for_form(reader: Reader, op: Operation) -> PrintedTypes:
    """`%i = %low to %high step %step iter_args(%a = %b, ...) -> (types) : type { ... } {attributes}`."""
    cursor = reader.cursor
    cursor.accept("unsigned")
    name, span = _new_name(cursor)
    cursor.expect("=", "after the loop's variable")
    low = _value(reader)
    cursor.expect("to", "after the loop's lower bound")
    high = _value(reader)
    cursor.expect("step", "after the loop's upper bound")
    operands = [low, high, _value(reader)]
    carried: list[tuple[str, Span]] = []
    types: list[str] = []
    if cursor.accept("iter_args"):
        cursor.expect("(", "after iter_args")
        carried, initial = _assignments(reader)
        operands += initial
        cursor.expect("->", "and the types of the iter_args")
        at = cursor.index
        types = reader.type_list()
        _require_types(cursor, at, len(carried), types)
    variable = Argument(name, reader.type_text() if cursor.accept(":") else "index", span)
    arguments = [Argument(each, kind, where) for (each, where), kind in zip(carried, types, strict=True)]
    op.operands = tuple(operands)
    op.regions = (reader.region(op, [variable, *arguments]),)
    _read_trailing_dictionary(cursor, op)
    return PrintedTypes(produced=types)


def _if_form(reader: Reader, op: Operation) -> PrintedTypes:
    """`%condition -> (types) { ... } else { ... } {attributes}`."""
    cursor = reader.cursor
    op.operands = (_value(reader),)
    types = reader.type_list() if cursor.accept("->") else []
    regions = [reader.region(op)]
    if cursor.accept("else"):
        regions.append(reader.region(op))
    op.regions = tuple(regions)
    _read_trailing_dictionary(cursor, op)
    return PrintedTypes(produced=types)


def _while_form(reader: Reader, op: Operation) -> PrintedTypes:
    """`(%a = %b, ...) : (types) -> (types) { ... } do { ... } attributes {...}`."""
    cursor = reader.cursor
    carried: list[tuple[str, Span]] = []
    initial: list[Value] = []
    if cursor.accept("("):
        carried, initial = _assignments(reader)
    cursor.expect(":", "and the type of scf.while")
    at = cursor.index
    types = reader.type_list()
    _require_types(cursor, at, len(carried), types)
    cursor.expect("->", "and the types of the results of scf.while")
    produced = reader.type_list()
    arguments = [Argument(each, kind, where) for (each, where), kind in zip(carried, types, strict=True)]
    op.operands = tuple(initial)
    before = reader.region(op, arguments)
    cursor.expect("do", "between the regions of scf.while")
    op.regions = (before, reader.region(op))
    _read_named_dictionary(cursor, op)
    return PrintedTypes(produced=produced)


def _warp_specialize_form(reader: Reader, op: Operation) -> PrintedTypes:
    """`(captures) attributes {...} default { ... } partition0(%a: type, ...) num_warps(4) { ... } ... : types`.

    The partitions are regions of an op `ttg.warp_specialize.partitions` in the second region, as in MLIR.
    """
    cursor = reader.cursor
    cursor.expect("(", "and the captures of ttg.warp_specialize")
    op.operands = tuple(_values(reader, ")"))
    _read_named_dictionary(cursor, op)
    cursor.expect("default", "and its region")
    default = reader.region(op)
    start = cursor.start
    holder = Operation("ttg.warp_specialize.partitions", cursor.span(start), cursor.span(start))
    warps: list[str] = []
    while cursor.text.startswith("partition"):
        cursor.index += 1
        cursor.expect("(", "and the arguments of the partition")
        arguments = reader.arguments(")")
        cursor.expect("num_warps", "of the partition")
        cursor.expect("(", "after num_warps")
        warps.append(cursor.take())
        cursor.expect(")", "after the number of warps")
        holder.regions = (*holder.regions, reader.region(holder, arguments, isolated=True))
    holder.span = cursor.span(start) if holder.regions else cursor.source.span(start, start)
    holder.name_span = cursor.source.span(start, start)
    holder.block = Block((), [holder], op)
    op.regions = (default, Region((holder.block,)))
    op.attributes = {**op.attributes, "partitionNumWarps": f"array<i32: {', '.join(warps)}>"}
    cursor.expect(":", "and the type of ttg.warp_specialize")
    printed = PrintedTypes(reader.type_list())
    if cursor.accept("->"):
        printed.produced = reader.type_list()
    return printed


def _value(reader: Reader) -> Value:
    cursor = reader.cursor
    if cursor.text[:1] != "%":
        raise cursor.unexpected("a value")
    value = reader.scopes.use(cursor.text, cursor.start)
    cursor.index += 1
    return value


def _values(reader: Reader, closing: str) -> list[Value]:
    cursor = reader.cursor
    values: list[Value] = []
    while not cursor.accept(closing):
        values.append(_value(reader))
        if not cursor.accept(",") and cursor.text != closing:
            raise cursor.unexpected(f"',' or '{closing}'")
    return values


def _new_name(cursor: Cursor) -> tuple[str, Span]:
    if cursor.text[:1] != "%":
        raise cursor.unexpected("the name of a new value")
    start = cursor.start
    name = cursor.take()
    return name, cursor.span(start)


def _assignments(reader: Reader) -> tuple[list[tuple[str, Span]], list[Value]]:
    """Reads `%a = %b, ...)`: new names with their spans, and the values that they start with."""
    cursor = reader.cursor
    names: list[tuple[str, Span]] = []
    initial: list[Value] = []
    while not cursor.accept(")"):
        names.append(_new_name(cursor))
        cursor.expect("=", "and the initial value")
        initial.append(_value(reader))
        if not cursor.accept(",") and cursor.text != ")":
            raise cursor.unexpected("',' or ')'")
    return names, initial


def _require_types(cursor: Cursor, at: int, count: int, types: list[str]) -> None:
    if len(types) != count:
        message = f"the loop carries {count} values and names {len(types)} types"
        raise cursor.source.error("type-count", message, cursor.starts[at])


def form_of(name: str) -> Form:
    """How the op of that name is read."""
    return _FORMS.get(name, plain_form)


_FORMS: dict[str, Form] = {
    "tt.func": _function_form,
    "func.func": _function_form,
    "scf.for": _for_form,
    "scf.if": _if_form,
    "scf.while": _while_form,
    "ttg.warp_specialize": _warp_specialize_form,
}
