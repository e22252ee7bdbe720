"""How much of each unit is taken when, over the time that is shown. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.graph.model import Graph
from core.schedule.model import Schedule
from core.schedule.reservation import UnitTable, reservation_table
from twill_gui.views.gantt.layout import unit_lanes
from twill_gui.views.timeline.occupancy import Counts, Times, occupancy
from twill_gui.views.timeline.span import TimeSpan


@dataclass(frozen=True, slots=True)
class Strip:
    """One unit. `amounts[s]` of it are taken in step s, [times[s], times[s + 1]); `counts[b, s]` copies of block b,
    one of op `ops[b]`, are in flight then. `busy` and `utilisation` are those of one interval."""

    unit: str
    capacity: int
    busy: int
    utilisation: float
    ops: tuple[str, ...]
    times: Times
    counts: Counts
    amounts: NDArray[np.int64]

    def looks_like(self, other: Strip) -> bool:
        """Whether both strips are the same in all that is shown of them."""
        facts = ((s.unit, s.capacity, s.busy, s.utilisation, s.ops) for s in (self, other))
        arrays = ((s.times, s.counts, s.amounts) for s in (self, other))
        return next(facts) == next(facts) and all(map(np.array_equal, *arrays))

    def cells(self) -> tuple[NDArray[np.intp], Times, Times]:
        """The stretches in which a block takes something: numbers of the blocks, starts and ends."""
        taken = np.zeros((len(self.ops), len(self.amounts) + 2), np.bool_)
        taken[:, 1:-1] = self.counts > 0
        block, edge = np.nonzero(taken[:, 1:] != taken[:, :-1])
        times = self.times[edge]
        return block[::2], times[::2], times[1::2]

    def amount_at(self, time: float) -> int:
        """What is taken at a time."""
        return int(self.amounts[self._step(time)])

    def ops_at(self, time: float) -> list[str]:
        """The ops that take something at a time."""
        taken = self.counts[:, self._step(time)]
        return list(dict.fromkeys(op for op, count in zip(self.ops, taken, strict=True) if count))

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
    times, counts = occupancy(ranges, schedule.ii, span.iterations, span.start, span.end)
    amounts = np.array([block.amount for _, block in blocks], np.int64) @ counts
    ops = tuple(op for op, _ in blocks)
    return Strip(table.unit, table.capacity, table.busy, table.utilisation, ops, times, counts, amounts)
