"""How much of each unit is taken when, over the time that is shown. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.graph.model import Graph
from core.schedule.model import Schedule
from core.schedule.reservation import UnitTable, reservation_table
from twill_gui.views.gantt.layout import unit_lanes
from twill_gui.views.timeline.occupancy import Times, breakpoints, copies
from twill_gui.views.timeline.span import TimeSpan


@dataclass(frozen=True, slots=True)
class Strip:
    """One unit. `amounts[i]` of it are taken in [times[i], times[i + 1]), by the ops with a positive entry in
    `taken`. `busy` and `utilisation` are those of one interval."""

    unit: str
    capacity: int
    busy: int
    utilisation: float
    times: Times
    amounts: NDArray[np.int64]
    taken: tuple[tuple[str, NDArray[np.int64]], ...]

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """Stretches (start, end, amount) in which something is taken."""
        for step in np.flatnonzero(self.amounts).tolist():
            yield int(self.times[step]), int(self.times[step + 1]), int(self.amounts[step])

    def cells(self) -> Iterator[tuple[str, int, int]]:
        """Stretches (op, start, end) in which an op takes something."""
        for op, counts in self.taken:
            padded = np.concatenate([[0], counts > 0, [0]])
            edges = np.flatnonzero(np.diff(padded))
            for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
                yield op, int(self.times[first]), int(self.times[last])

    def amount_at(self, time: float) -> int:
        """What is taken at a time."""
        return int(self.amounts[self._step(time)])

    def ops_at(self, time: float) -> list[str]:
        """The ops that take something at a time."""
        step = self._step(time)
        return list(dict.fromkeys(op for op, counts in self.taken if counts[step]))

    def _step(self, time: float) -> int:
        step = int(np.searchsorted(self.times, time, side="right")) - 1
        return min(max(step, 0), len(self.amounts) - 1)


def reservation_strips(graph: Graph, schedule: Schedule, span: TimeSpan) -> tuple[Strip, ...]:
    """The strips of the units that any op uses."""
    table = reservation_table(graph, schedule)
    return tuple(_strip(graph, schedule, span, table[unit]) for unit in unit_lanes(graph))


def _strip(graph: Graph, schedule: Schedule, span: TimeSpan, table: UnitTable) -> Strip:
    blocks = [(op.id, block) for op in graph.ops.values() for block in op.blocks if block.unit == table.unit]
    ranges: list[tuple[int, int]] = []
    for op, block in blocks:
        begin = schedule.ops[op].start + schedule.ops[op].delay + block.offset
        ranges.append((begin, begin + block.duration))
    times = breakpoints(ranges, schedule.ii, span.iterations, span.start, span.end)
    taken = tuple(
        (op, copies(begin, end, schedule.ii, span.iterations, times[:-1]))
        for (op, _), (begin, end) in zip(blocks, ranges, strict=True)
    )
    amounts = np.zeros(len(times) - 1, np.int64)
    for (_, block), (_, counts) in zip(blocks, taken, strict=True):
        amounts += counts * block.amount
    return Strip(table.unit, table.capacity, table.busy, table.utilisation, times, amounts, taken)
