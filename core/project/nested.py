"""The loops inside a project's loop as blocks of it, by the schedules that the project has for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from core.diagnostics import InputError, Severity, error
from core.files import is_file
from core.graph.model import Graph, Space
from core.ir.model import Loop
from core.ir.tile_shapes import filled_buffer
from core.ir.tiles import TileLoop
from core.project.model import Project
from core.schedule.check import check
from core.schedule.model import Schedule
from core.schedule.nest import nest
from core.schedule.read import load_schedule

if TYPE_CHECKING:
    from core.project.opened import OpenProject


def with_block(graph: Graph, tiles: TileLoop, block: Loop, inner: OpenProject, schedule: Schedule) -> Graph:
    """The graph of `tiles` with the loop `block` inside it as it runs by its schedule.

    `inner`: the project of the block's schedule, whose trip count holds. Raises InputError at the block's line if its
    values are on several groups, or the schedule is not legal.
    """
    line = block.operation.name_span.line
    for violation in check(inner.graph, schedule).violations:
        message = f"the inner loop's schedule is not legal: {violation.message}"
        raise error("illegal-inner-schedule", message, file=tiles.module.file, line=line)
    op = next(op for op in tiles.ops.values() if op.operations[:1] == (block.operation,))
    if op.space is Space.REGISTERS and filled_buffer(block.operation) is not None:
        message = "the loop cannot be one block: it hands out values in registers and in tensor memory"
        raise error("cannot-nest", message, file=tiles.module.file, line=line)
    name = inner.project.active
    iterations = inner.project.schedules[name].trip_count if name is not None else None
    try:
        return nest(graph, op.id, inner.graph, schedule, iterations or 1, list(_results(tiles, block, inner)))
    except ValueError as fault:
        raise error(
            "cannot-nest", f"the loop cannot be one block: {fault}", file=tiles.module.file, line=line
        ) from fault


def inner_schedule(project: Project, name: str, inner: OpenProject, given: Mapping[str, Schedule]) -> Schedule:
    """The schedule of a loop inside: a given one, or the project's file. Raises InputError if there is none yet."""
    if name in given:
        return given[name]
    file = project.schedules[name].file
    if not is_file(file):
        message = f"the inner loop has no schedule '{file}' yet"
        path, hint = ("schedules", name), project.how_to_make(name)
        raise InputError(project.diagnostic(Severity.ERROR, "missing-schedule", message, path, hint=hint))
    return load_schedule(file, inner.graph)


def _results(tiles: TileLoop, block: Loop, inner: OpenProject) -> Iterator[str]:
    """The ops of the inner graph whose values the outer loop uses."""
    inside = set(block.operation.walk())
    used = {value for op in tiles.loop.operation.walk() if op not in inside for value in op.operands}
    used |= set(tiles.loop.yielded)
    if inner.loop is None or inner.tiles is None:
        return
    # The inner project has read the text for itself: its operations are others than those of the block.
    for result, value in zip(block.operation.results, inner.loop.yielded, strict=True):
        if result in used and value.producer is not None:
            for tile in inner.tiles.owner(value.producer):
                if value.producer in inner.tiles.ops[tile].operations:
                    yield tile if inner.fusion is None else inner.fusion.holder(tile)
