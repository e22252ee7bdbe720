"""Vectors that a role only makes to hand them over: spread over its threads, instead of copied to many of them.

In the text a vector has the layout of those who use it: often that of a row or column of a matrix op's result, of which
each thread holds a good part. A role that loads it and stores it to shared memory for others needs no such copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.export.cuda.elements import ElementError
from core.export.cuda.encodings import Blocked
from core.export.cuda.layouts import Layout, LayoutError, layout_of
from core.export.cuda.scalar import is_elementwise
from core.export.cuda.text import KernelText
from core.export.roles.model import Issue, Move, Pin, Put, Register, Role, Statement, Take
from core.export.roles.walk import walk
from core.ir.model import Value
from core.ir.types import TensorType

_LANES = 32
_MAKERS = frozenset({"arith.constant", "tt.splat", "tt.make_range", "tt.load", "tt.addptr", "ttg.convert_layout"})
"""Operations that make vectors of any layout, besides elementwise ones."""


def compact_layouts(kernel: KernelText, role: Role) -> Mapping[str, Layout]:
    """The layouts of those variables of a role that are in another one than their type says."""
    uses = _Uses(kernel, role)
    found: dict[str, Layout] = {}
    for statement in walk(role.statements):
        if isinstance(statement, Put):
            names = uses.only_for(statement.source.name)
            found |= {name: layout for name in names if (layout := _compact(uses.shape(name), role.warps)) is not None}
    return found


def _compact(shape: tuple[int, ...], warps: int) -> Layout | None:
    """One element after another to all threads."""
    try:
        return layout_of(Blocked((1,), (_LANES,), (warps,), (0,)), shape)
    except LayoutError:
        return None


@dataclass(slots=True)
class _Uses:
    """Who writes and reads each variable of a role that holds a tile."""

    kernel: KernelText
    role: Role
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    writers: dict[str, list[Statement]] = field(default_factory=dict[str, list[Statement]])
    readers: dict[str, list[Statement]] = field(default_factory=dict[str, list[Statement]])

    def __post_init__(self) -> None:
        self.values |= {storage.name: storage.value for storage in self.role.storages}
        for statement in walk(self.role.statements):
            for name in _names(_reads(statement)):
                self.readers.setdefault(name, []).append(statement)
            for name in _names(_writes(statement)):
                self.writers.setdefault(name, []).append(statement)
            if isinstance(statement, Issue):
                for result, target in zip(statement.operation.results, statement.writes, strict=False):
                    if isinstance(target, Register):
                        self.values.setdefault(target.name, result)

    def shape(self, name: str) -> tuple[int, ...]:
        """Of the tile in a variable; () for a number."""
        type_ = self.kernel.type(self.values[name]) if name in self.values else None
        return type_.shape if isinstance(type_, TensorType) else ()

    def only_for(self, name: str) -> frozenset[str]:
        """The vectors that go into this one and are used for nothing else but hand-offs; none if one is."""
        reached: set[str] = set()
        pending = [name]
        while pending:
            name = pending.pop()
            if name in reached or not self.shape(name):
                continue
            if len(self.shape(name)) != 1 or not self._copied(name):
                return frozenset()
            reached.add(name)
            for statement in self.writers.get(name, []):
                if not isinstance(statement, Issue) or not self._makes_vectors(statement):
                    return frozenset()
                pending += _names(statement.reads)
            for statement in self.readers.get(name, []):
                if isinstance(statement, Issue):
                    pending += _names(statement.writes)
                    if not statement.operation.results:
                        return frozenset()
                elif not isinstance(statement, Put | Pin):
                    return frozenset()
        return frozenset(reached)

    def _makes_vectors(self, issue: Issue) -> bool:
        return issue.operation.name in _MAKERS or is_elementwise(issue.operation)

    def _copied(self, name: str) -> bool:
        """Whether threads hold more of the vector than they have to, or just as much."""
        type_ = self.kernel.type(self.values[name])
        compact = _compact(self.shape(name), self.role.warps)
        try:
            assert isinstance(type_, TensorType)  # it has a shape
            return (
                compact is not None
                and self.kernel.layout(type_.encoding, type_.shape, self.role.warps).registers >= compact.registers
            )
        except ElementError:
            return False


def _names(places: Sequence[object]) -> list[str]:
    return [place.name for place in places if isinstance(place, Register)]


def _reads(statement: Statement) -> Sequence[object]:
    match statement:
        case Issue(reads=reads):
            return reads
        case Move(source=source) | Put(source=source):
            return (source,)
        case Pin(names=names):
            return tuple(map(Register, names))
        case _:
            return ()


def _writes(statement: Statement) -> Sequence[object]:
    match statement:
        case Issue(writes=writes):
            return writes
        case Move(target=target) | Take(target=target):
            return (target,)
        case _:
            return ()
