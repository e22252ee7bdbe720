"""Stacked curves of what is held when: registers by warp group, shared memory, tensor memory. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from core.graph.model import Graph
from core.schedule.index import GraphIndex
from core.schedule.liveness import LiveRange, Ring, index_live_ranges
from core.schedule.model import Schedule
from twill_gui.views.gantt.layout import group_lanes, main_unit
from twill_gui.views.timeline.occupancy import Counts, Times, occupancy
from twill_gui.views.timeline.span import TimeSpan


class Held(Enum):
    """What a curve counts."""

    REGISTERS = "registers per thread"
    SHARED_MEMORY = "bytes of shared memory"
    TENSOR_MEMORY = "columns of tensor memory"


@dataclass(frozen=True, slots=True)
class Band:
    """One value's share of a curve: copies of `amount`. `reserved` of them have room kept for them at all times
    (rings); None where only what is alive counts. `reader`: the op on another group whose copy this is. `shade`:
    lightness level, another one than the last band of that unit."""

    value: str
    reader: str | None
    amount: int
    reserved: int | None
    unit: str | None
    shade: int


@dataclass(frozen=True, slots=True)
class Curve:
    """Bands stacked on `base` (what is always taken), against `limit`.

    `counts[b, s]` copies of band b are alive in step s, [times[s], times[s + 1]), where the band reaches from
    `levels[b, s]` to `levels[b + 1, s]`.
    """

    name: str
    held: Held
    base: int
    limit: int
    bands: tuple[Band, ...]
    times: Times
    counts: Counts
    levels: NDArray[np.int64]

    @property
    def base_name(self) -> str:
        """What the base is."""
        return "overhead" if self.held is Held.REGISTERS else "outside the loop"

    @property
    def limit_name(self) -> str:
        """What the limit is."""
        return f"grant {self.limit}" if self.held is Held.REGISTERS else "capacity"

    @property
    def has_room_kept(self) -> bool:
        """Whether bands have room kept for values that are not alive (rings)."""
        return self.held is Held.SHARED_MEMORY

    @property
    def bottoms(self) -> NDArray[np.int64]:
        """Where each band begins, by band and step."""
        return self.levels[:-1]

    @property
    def tops(self) -> NDArray[np.int64]:
        """Where each band ends, by band and step."""
        return self.levels[1:]

    @property
    def total(self) -> NDArray[np.int64]:
        """The height of the whole stack in each step."""
        return self.levels[-1]

    @property
    def peak(self) -> int:
        """The greatest height."""
        return int(self.total.max())

    def looks_like(self, other: Curve) -> bool:
        """Whether both curves are the same in all that is shown of them."""
        facts = ((c.name, c.held, c.base, c.limit, c.bands) for c in (self, other))
        arrays = ((c.times, c.counts, c.levels) for c in (self, other))
        return next(facts) == next(facts) and all(map(np.array_equal, *arrays))

    def step_at(self, time: float) -> int:
        """The number of the step that holds a time."""
        step = int(np.searchsorted(self.times, time, side="right")) - 1
        return min(max(step, 0), len(self.times) - 2)


def liveness_curves(graph: Graph, schedule: Schedule, span: TimeSpan) -> tuple[Curve, ...]:
    """The curves over a span of time: each used group that holds anything, then shared and tensor memory."""
    build = _Builder(graph, schedule, span)
    machine, index = graph.machine, GraphIndex(graph)
    live = index_live_ranges(index, schedule)
    curves: list[Curve] = []
    for name in group_lanes(graph, schedule):
        group = schedule.groups[name]
        ranges = live.registers.get(name, ())
        if any(held.amount for held in ranges):
            curves.append(build.curve(name, Held.REGISTERS, index.overhead(group.kind), group.grant, ranges))
    buffers = [*live.rings.values(), *live.hand_offs.values()]
    fixed = machine.fixed_shared_bytes
    if buffers or fixed:
        curves.append(build.curve("shared memory", Held.SHARED_MEMORY, fixed, machine.shared_memory_bytes, buffers))
    if live.tensor:
        limit = machine.tensor_memory_columns
        curves.append(build.curve("tensor memory", Held.TENSOR_MEMORY, 0, limit, live.tensor))
    return tuple(curves)


class _Builder:
    """Makes curves of one schedule over one span."""

    def __init__(self, graph: Graph, schedule: Schedule, span: TimeSpan) -> None:
        self._graph = graph
        self._schedule = schedule
        self._span = span

    def curve(self, name: str, held: Held, base: int, limit: int, ranges: Sequence[LiveRange | Ring]) -> Curve:
        """The values with an amount are stacked, those held longest at the bottom, where the stack is calm."""
        span, ii = self._span, self._schedule.ii
        stacked = sorted((one for one in ranges if one.amount), key=lambda one: one.begin - one.end)
        edges = [(one.begin, one.end) for one in stacked]
        times, counts = occupancy(edges, ii, span.iterations, span.start, span.end)
        bands = self._bands(stacked)
        heights = np.zeros((len(bands) + 1, len(times) - 1), np.int64)
        heights[0] = base
        for number, band in enumerate(bands):
            copies = counts[number] if band.reserved is None else band.reserved
            heights[number + 1] = copies * band.amount
        levels = np.cumsum(heights, axis=0)
        return Curve(name, held, base, limit, bands, times, counts, levels)

    def _bands(self, stacked: Sequence[LiveRange | Ring]) -> tuple[Band, ...]:
        shades: dict[str | None, int] = {}
        bands: list[Band] = []
        for one in stacked:
            unit = main_unit(self._graph.ops[one.value])
            shades[unit] = shades.get(unit, -1) + 1
            reader = one.reader if isinstance(one, LiveRange) else None
            reserved = one.depth if isinstance(one, Ring) else None
            bands.append(Band(one.value, reader, one.amount, reserved, unit, shades[unit]))
        return tuple(bands)
