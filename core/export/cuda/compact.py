"""Vectors that a role only makes to hand them over: spread over its threads, instead of copied to many of them.

In the text a vector has the layout of those who use it: often that of a row or column of a matrix op's result, of which
each thread holds a good part. A role that loads it and stores it to shared memory for others needs no such copies.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.export.cuda.elements import ElementError
from core.export.cuda.encodings import Blocked
from core.export.cuda.layouts import Layout, LayoutError, layout_of
from core.export.cuda.scalar import is_elementwise
from core.export.cuda.text import KernelText
from core.export.cuda.uses import Uses, names
from core.export.roles.model import Issue, Pin, Put, Role
from core.export.roles.walk import walk
from core.ir.types import TensorType

_LANES = 32
_MAKERS = frozenset({"arith.constant", "tt.splat", "tt.make_range", "tt.load", "tt.addptr", "ttg.convert_layout"})
"""Operations that make vectors of any layout, besides elementwise ones."""


def compact_layouts(kernel: KernelText, role: Role) -> Mapping[str, Layout]:
    """The layouts of those variables of a role that are in another one than their type says."""
    uses = Uses(kernel, role)
    found: dict[str, Layout] = {}
    for statement in walk(role.statements):
        if isinstance(statement, Put):
            only = _only_for(uses, statement.source.name)
            found |= {name: layout for name in only if (layout := _compact(uses.shape(name), role.warps)) is not None}
    return found


def _compact(shape: tuple[int, ...], warps: int) -> Layout | None:
    """One element after another to all threads."""
    try:
        return layout_of(Blocked((1,), (_LANES,), (warps,), (0,)), shape)
    except LayoutError:
        return None


def _only_for(uses: Uses, name: str) -> frozenset[str]:
    """The vectors that go into this one and are used for nothing else but hand-offs; none if one is."""
    reached: set[str] = set()
    pending = [name]
    while pending:
        name = pending.pop()
        if name in reached or not uses.shape(name):
            continue
        if len(uses.shape(name)) != 1 or not _copied(uses, name):
            return frozenset()
        reached.add(name)
        for statement in uses.writers.get(name, []):
            if not isinstance(statement, Issue) or not _makes_vectors(statement):
                return frozenset()
            pending += names(statement.reads)
        for statement in uses.readers.get(name, []):
            if isinstance(statement, Issue):
                pending += names(statement.writes)
                if not statement.operation.results:
                    return frozenset()
            elif not isinstance(statement, Put | Pin):
                return frozenset()
    return frozenset(reached)


def _makes_vectors(issue: Issue) -> bool:
    return issue.operation.name in _MAKERS or is_elementwise(issue.operation)


def _copied(uses: Uses, name: str) -> bool:
    """Whether threads hold more of the vector than they have to, or just as much."""
    type_ = uses.kernel.type(uses.values[name])
    compact = _compact(uses.shape(name), uses.role.warps)
    try:
        assert isinstance(type_, TensorType)  # it has a shape
        return (
            compact is not None
            and uses.kernel.layout(type_.encoding, type_.shape, uses.role.warps).registers >= compact.registers
        )
    except ElementError:
        return False
