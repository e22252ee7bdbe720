"""Which lines of a TTGIR text belong to which ops of the graph, for the views that show the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.ir.lexer import Source
from core.ir.model import Operation
from core.project.opened import OpenProject


@dataclass(frozen=True, slots=True)
class SourceLines:
    """A text and its lines, from 1 on.

    `own`: the lines of the ops of the text that an op of the graph stands for, those of the one it is named after
    first. `helping`: those of views, addresses and scalars that it needs besides. `ops`: by line the ops that it
    belongs to, in the order of the graph. `loop_line`: where the loop begins.
    """

    file: Path
    text: str
    loop_line: int
    own: Mapping[str, tuple[int, ...]]
    helping: Mapping[str, tuple[int, ...]]
    ops: Mapping[int, tuple[str, ...]]

    def lines(self, ops: Iterable[str]) -> tuple[frozenset[int], frozenset[int]]:
        """The ops' own lines, and those that only help them."""
        chosen = [op for op in ops if op in self.own]
        own = frozenset(line for op in chosen for line in self.own[op])
        return own, frozenset(line for op in chosen for line in self.helping[op]) - own


def source_lines(opened: OpenProject) -> SourceLines | None:
    """The lines of a project that was read from TTGIR; None for a graph file."""
    if opened.module is None or opened.loop is None or opened.tiles is None:
        return None
    source = Source(opened.module.text, opened.module.file)
    tiles = opened.tiles
    owned: dict[str, list[Operation]] = {}
    for operation, owners in tiles.owners.items():
        for owner in owners:
            owned.setdefault(owner, []).append(operation)
    own: dict[str, tuple[int, ...]] = {}
    helping: dict[str, tuple[int, ...]] = {}
    for op in opened.graph.ops:
        parts = [tiles.ops[part] for part in _parts(opened, op)]
        own[op] = _lines(source, (operation for part in parts for operation in part.operations)) or tuple(
            dict.fromkeys(part.line for part in parts)
        )
        besides = _lines(source, (operation for part in parts for operation in owned.get(part.id, ())))
        helping[op] = tuple(line for line in besides if line not in own[op])
    ops: dict[int, tuple[str, ...]] = {}
    for op in opened.graph.ops:
        for line in (*own[op], *helping[op]):
            ops[line] = (*ops.get(line, ()), op)
    return SourceLines(
        opened.project.input.path, opened.module.text, opened.loop.operation.span.line, own, helping, ops
    )


def _parts(opened: OpenProject, op: str) -> tuple[str, ...]:
    """The tile ops that an op of the graph stands for: itself, or the parts of a fused block, the costliest first."""
    blocks = opened.fusion.blocks if opened.fusion else {}
    others = tuple(part.op.id for part in blocks.get(op, ()) if part.op.id != op)
    return (op, *others)


def _lines(source: Source, operations: Iterable[Operation]) -> tuple[int, ...]:
    """All lines that the operations take, each once."""
    lines: dict[int, None] = {}
    for operation in operations:
        last, _ = source.position(max(operation.span.end - 1, operation.span.start))
        lines.update(dict.fromkeys(range(operation.span.line, last + 1)))
    return tuple(lines)
