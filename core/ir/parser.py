"""TTGIR text to a Module.

The parser knows the structure of the text, not the ops: an op ends where the next one begins. So ops of other
versions and dialects are read too, with operands, attributes, types and regions; those that are in no vocabulary
are named in a warning. Only ops with regions and block arguments have forms of their own (`core.ir.forms`).
"""

from __future__ import annotations

from collections.abc import Sequence

from core.diagnostics import InputError, Severity
from core.ir.assembly import PrintedTypes, result_types
from core.ir.checks import check_module
from core.ir.cursor import Cursor
from core.ir.forms import Argument, form_of, generic_form, module_form
from core.ir.lexer import Source
from core.ir.loops import find_loops
from core.ir.model import Block, Module, Operation, Region, Span, Value
from core.ir.scopes import Scopes

MAX_REGIONS = 64
"""Regions inside one another that are still read."""

_GROUP_DIGITS = 4

# A region of these without a printed terminator ends with an empty `scf.yield`.
_OMIT_YIELD = frozenset({"scf.for", "scf.if"})


def parse_module(text: str, file: str) -> Module:
    """Reads a TTGIR text. Raises InputError with all that is wrong with it; warnings are in the module."""
    source = Source(text, file)
    if not text.strip():
        raise source.error("empty-file", "the file is empty: TTGIR text is wanted", 0)
    reader = Reader(source)
    operation = reader.read_top_level()
    module = Module(file, text, operation, reader.aliases, operation.attributes, find_loops(operation))
    problems = [*reader.scopes.problems, *check_module(module, source)]
    problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise InputError(problems)
    module.diagnostics = tuple(problems)
    return module


class Reader:
    """Reads operations and regions at a cursor; forms call back into it."""

    def __init__(self, source: Source) -> None:
        self.cursor = Cursor(source)
        self.scopes = Scopes(source)
        self.aliases: dict[str, str] = {}

    def read_top_level(self) -> Operation:
        """The module op; where the text has ops without one, a module op around them."""
        cursor = self.cursor
        block = Block()
        while cursor.text:
            if cursor.text[0] in "#!" and cursor.texts[cursor.index + 1] == "=":
                self._read_alias()
            else:
                block.operations.append(self.operation(block))
        self.scopes.finish()
        if not block.operations:
            raise cursor.source.error("empty-file", "the text holds no operation", 0)
        first = block.operations[0]
        if len(block.operations) == 1 and first.name == "builtin.module":
            first.block = None
            return first
        span = cursor.source.span(first.span.start, block.operations[-1].span.end)
        module = Operation("builtin.module", span, cursor.source.span(span.start, span.start))
        block.parent = module
        module.regions = (Region((block,)),)
        return module

    def operation(self, block: Block) -> Operation:
        """Reads the operation at the cursor."""
        cursor = self.cursor
        start = cursor.start
        names = self._result_names() if cursor.text[0] == "%" else []
        name_token, name_start = cursor.take(), cursor.starts[cursor.index - 1]
        op = Operation("", cursor.span(start), cursor.span(name_start), block=block)
        first = name_token[:1]
        if first == '"':
            op.name, op.generic = name_token.strip('"'), True
            printed = generic_form(self, op)
        elif name_token == "module":
            op.name = "builtin.module"
            printed = module_form(self, op)
        elif first.isalpha() and "." in name_token:
            op.name = name_token
            printed = form_of(name_token)(self, op)
        else:
            cursor.index -= 1
            raise cursor.unexpected("an operation")
        cursor.skip_location()
        op.span = cursor.span(start)
        op.printed_types = tuple(printed.listed)
        self._define_results(op, names, printed)
        return op

    def region(self, parent: Operation, arguments: Sequence[Argument] = (), isolated: bool = False) -> Region:
        """Reads the `{...}` at the cursor. `arguments` are those of the first block that the op's form declares."""
        cursor, scopes = self.cursor, self.scopes
        opened = cursor.start
        cursor.expect("{", f"of a region of {parent.name}")
        if scopes.depth >= MAX_REGIONS:
            message = f"regions are nested more than {MAX_REGIONS} levels deep"
            raise cursor.source.error("nesting-too-deep", message, opened)
        scopes.enter(opened, isolated)
        blocks = [self._begin_block(parent, arguments)]
        while (token := cursor.text) != "}":
            if not token:
                line, _ = cursor.source.position(opened)
                raise cursor.unexpected(f"the '}}' of the region of {parent.name} on line {line}")
            if token[0] == "^":
                block = self._labelled_block(parent)
                if len(blocks) == 1 and not blocks[0].operations and not blocks[0].arguments:
                    blocks.clear()
                blocks.append(block)
            else:
                block = blocks[-1]
                block.operations.append(self.operation(block))
        if parent.name in _OMIT_YIELD:
            self._add_omitted_yield(blocks[-1])
        cursor.index += 1
        scopes.leave()
        return Region(tuple(blocks))

    def arguments(self, closing: str) -> list[Argument]:
        """Reads `%a: type {attributes} loc(...), ...` up to and with `closing`."""
        cursor = self.cursor
        found: list[Argument] = []
        while not cursor.accept(closing):
            if cursor.text[:1] != "%":
                raise cursor.unexpected(f"a block argument or '{closing}'")
            span = cursor.source.span(cursor.start, cursor.start + len(cursor.text))
            name = cursor.take()
            cursor.expect(":", f"and the type of {name}")
            found.append(Argument(name, self.type_text(), span))
            if cursor.text == "{":
                cursor.skip_group()
            cursor.skip_location()
            if not cursor.accept(",") and cursor.text != closing:
                raise cursor.unexpected(f"',' or '{closing}'")
        return found

    def type_text(self) -> str:
        """Reads one type as it is written."""
        cursor = self.cursor
        first = cursor.index
        token = cursor.text
        if token == "(":
            cursor.skip_group()
            if cursor.accept("->"):
                self.type_text()
        elif token[:1].isalpha() or token[:1] in ("!", "<"):
            cursor.index += 1
        else:
            raise cursor.unexpected("a type")
        return cursor.slice(first, cursor.index)

    def type_list(self) -> list[str]:
        """Reads `type` or `(type, type, ...)`."""
        cursor = self.cursor
        if not cursor.accept("("):
            return [self.type_text()]
        found: list[str] = []
        while not cursor.accept(")"):
            found.append(self.type_text())
            if cursor.text == "{":  # attributes of a function's result
                cursor.skip_group()
            if not cursor.accept(",") and cursor.text != ")":
                raise cursor.unexpected("',' or ')'")
        return found

    def _read_alias(self) -> None:
        cursor = self.cursor
        name = cursor.take()
        cursor.index += 1
        first = cursor.index
        while not (cursor.at_statement() or cursor.text == "module" or self._at_alias()):
            if cursor.text in ("{", "[", "("):
                cursor.skip_group()
            else:
                cursor.index += 1
        if first == cursor.index:
            raise cursor.unexpected(f"what {name} stands for")
        self.aliases[name] = cursor.slice(first, cursor.index)

    def _at_alias(self) -> bool:
        cursor = self.cursor
        return cursor.text[:1] in ("#", "!") and cursor.texts[cursor.index + 1] == "="

    def _result_names(self) -> list[tuple[str, int, Span]]:
        """Reads `%a, %b:2 =`: names, numbers of results (0 for a plain one), spans."""
        cursor = self.cursor
        names: list[tuple[str, int, Span]] = []
        while True:
            if cursor.text[:1] != "%":
                raise cursor.unexpected("the name of a result")
            span = cursor.source.span(cursor.start, cursor.start + len(cursor.text))
            name, size = cursor.take(), 0
            if cursor.text == ":" and cursor.texts[cursor.index + 1].isdigit():
                size = self._group_size(cursor.texts[cursor.index + 1])
                cursor.index += 2
            names.append((name, size, span))
            if cursor.accept("="):
                return names
            cursor.expect(",", f"or '=' after {name}")

    def _group_size(self, digits: str) -> int:
        if len(digits) > _GROUP_DIGITS:
            raise self.cursor.unexpected("a number of results below 10000")
        return int(digits)

    def _define_results(self, op: Operation, names: list[tuple[str, int, Span]], printed: PrintedTypes) -> None:
        values: list[Value] = []
        count = sum(max(1, size) for _, size, _ in names)
        if op.regions and printed.produced is not None:
            if not names:
                values = [Value("", text, op.name_span) for text in printed.produced]
            elif count != len(printed.produced):
                message = f"{op.name} has {len(printed.produced)} results, not {count}"
                raise self.cursor.source.error("result-count", message, op.span.start)
        types = result_types(op.name, count, printed, op.text_arguments)
        for name, size, span in names:
            taken = types[len(values) : len(values) + max(1, size)]
            if size:
                values += self.scopes.define_group(name, taken, span)
            else:
                values.append(self.scopes.define(name, taken[0], span))
        for index, value in enumerate(values):
            value.producer, value.index = op, index
        op.results = tuple(values)

    def _begin_block(self, parent: Operation, arguments: Sequence[Argument]) -> Block:
        self.scopes.begin_block(self.cursor.start)
        values = tuple(self.scopes.define(*argument) for argument in arguments)
        for index, value in enumerate(values):
            value.index = index
        return Block(values, [], parent)

    def _labelled_block(self, parent: Operation) -> Block:
        cursor = self.cursor
        cursor.index += 1
        arguments = self.arguments(")") if cursor.accept("(") else []
        cursor.expect(":", "after a block's label")
        return self._begin_block(parent, arguments)

    def _add_omitted_yield(self, block: Block) -> None:
        if block.operations and block.operations[-1].name == "scf.yield":
            return
        here = self.cursor.source.span(self.cursor.start, self.cursor.start)
        block.operations.append(Operation("scf.yield", here, here, block=block))
