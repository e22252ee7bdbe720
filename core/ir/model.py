"""The parsed module: operations, regions, blocks and SSA values, each with its place in the text.

Types and attributes are kept as written; `core.ir.types` reads the ones that the graph needs. Objects are
compared by identity, since a module is a cyclic web of uses and definitions; they are not changed after parsing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from core.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of character offsets, and the 1-based line and column of its start."""

    start: int
    end: int
    line: int
    column: int


@dataclass(eq=False, slots=True)
class Value:
    """An SSA value: an op's result (`producer`, `index`) or a block argument (`producer` None)."""

    name: str  # "%k_9"; the second of three results of %o:3 is "%o#1"
    type: str  # aliases not expanded; where the op prints none it follows from the op, else it is ""
    span: Span
    producer: Operation | None = field(default=None, repr=False)
    index: int = 0


@dataclass(eq=False, slots=True)
class Operation:
    """One operation. `name` has its dialect ("ttng.warp_group_dot"); renamed ones keep the name of the text."""

    name: str
    span: Span  # from the first result (or the name) to the end, trailing loc(...) included
    name_span: Span
    operands: tuple[Value, ...] = field(default=(), repr=False)
    results: tuple[Value, ...] = field(default=(), repr=False)
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])  # raw text of each value
    attribute_span: Span | None = None  # the discardable `{...}` dictionary, braces included, if printed
    insertion_offset: int = 0  # where ` {...}` may be inserted if there is no dictionary; 0 where it may not
    regions: tuple[Region, ...] = field(default=(), repr=False)
    block: Block | None = field(default=None, repr=False)  # the block it is in
    generic: bool = False  # printed as "dialect.op"(...)
    text_arguments: str = ""  # what stands between name and type, for custom syntax ("add, %dq[...]")
    printed_types: tuple[str, ...] = ()  # those before any arrow, as written

    def walk(self) -> Iterator[Operation]:
        """This op and all ops nested in it, in textual order."""
        pending: list[Operation] = [self]
        while pending:
            op = pending.pop()
            yield op
            for region in reversed(op.regions):
                for block in reversed(region.blocks):
                    pending.extend(reversed(block.operations))


@dataclass(eq=False, slots=True)
class Block:
    """A list of operations with arguments."""

    arguments: tuple[Value, ...] = ()
    operations: list[Operation] = field(default_factory=list[Operation], repr=False)
    parent: Operation | None = field(default=None, repr=False)


@dataclass(eq=False, slots=True)
class Region:
    """The blocks of one region."""

    blocks: tuple[Block, ...] = field(default=(), repr=False)


@dataclass(eq=False, slots=True)
class Loop:
    """An `scf.for` or `scf.while`.

    `arguments[k]` is carried; it holds `initial[k]` first and `yielded[k]` from then on. For `scf.while` they are the
    arguments of the region that decides; `body` is the one behind `do`.
    """

    index: int  # in textual order over the whole module
    operation: Operation
    depth: int  # number of loops around it
    body: Block
    induction: Value | None
    arguments: tuple[Value, ...]
    initial: tuple[Value, ...]
    yielded: tuple[Value, ...]
    bounds: tuple[Value, ...]  # lower bound, upper bound, step


@dataclass(eq=False, slots=True)
class Module:
    """A TTGIR file: its text, the module op, aliases (`#mma` -> its text), and what is worth saying of it."""

    file: str
    text: str
    operation: Operation
    aliases: Mapping[str, str]
    attributes: Mapping[str, str]
    loops: tuple[Loop, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def target(self) -> str:
        """`cuda:90`, or "" if the module does not say."""
        return self.attributes.get("ttg.target", "").strip('"')
