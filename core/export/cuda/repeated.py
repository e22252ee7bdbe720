"""Tiles that repeat a vector: made in the layout of those who use them.

A text may repeat a vector over a tile in one layout and convert the whole tile to another. Here the vector is converted
and repeated behind that: the registers of the repeated tile are those of the vector, and only that goes through shared
memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.export.cuda.elements import ElementError
from core.export.cuda.layouts import Layout, narrowed, without_dimension
from core.export.cuda.text import KernelText
from core.export.cuda.tile_ops import numbers
from core.export.cuda.uses import Uses, names
from core.export.roles.model import Issue, Role, Statement
from core.export.roles.walk import walk
from core.ir.types import TensorType

_MAKERS = frozenset({"tt.broadcast", "tt.expand_dims", "tt.splat", "ttg.convert_layout"})
"""Operations that make a tile of any layout, from no more than its vector."""


def repeated_layouts(kernel: KernelText, role: Role) -> Mapping[str, Layout]:
    """The layouts of those variables of a role that are in another one than their type says."""
    uses = Uses(kernel, role)
    storages = {storage.name for storage in role.storages}
    found: dict[str, Layout] = {}
    for statement in reversed(list(walk(role.statements))):
        for name in names(statement.writes) if isinstance(statement, Issue) else ():
            if name in found or name in storages or not all(map(_makes, uses.writers[name])):
                continue
            wanted = list(_wanted(uses, name, found))
            layout = wanted[0] if wanted else None
            if layout is not None and all(other == layout for other in wanted):
                found[name] = layout
    return found


def _makes(statement: Statement) -> bool:
    return isinstance(statement, Issue) and statement.operation.name in _MAKERS


def _wanted(uses: Uses, name: str, found: Mapping[str, Layout]) -> Iterator[Layout | None]:
    """For each reader the layout in which it takes the tile; None if it takes it as it is."""
    for reader in uses.readers.get(name, []):
        target = names(reader.writes)[0] if isinstance(reader, Issue) and names(reader.writes) else ""
        layout = found.get(target)
        if not isinstance(reader, Issue):
            yield None
        elif reader.operation.name == "ttg.convert_layout":
            yield layout or _layout(uses, target)
        elif layout is None:
            yield None
        elif reader.operation.name == "tt.broadcast":
            yield narrowed(layout, uses.shape(name))
        elif reader.operation.name == "tt.expand_dims":
            yield without_dimension(layout, numbers(reader.operation, "axis")[0])
        else:
            yield None


def _layout(uses: Uses, name: str) -> Layout | None:
    """Of a variable by its type."""
    type_ = uses.kernel.type(uses.values[name]) if name in uses.values else None
    try:
        return (
            uses.kernel.layout(type_.encoding, type_.shape, uses.role.warps) if isinstance(type_, TensorType) else None
        )
    except ElementError:
        return None
