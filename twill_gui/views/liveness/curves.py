"""Stacked curves of what is held when: registers by warp group, shared memory, tensor memory. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from core.graph.model import Graph
from core.schedule.index import GraphIndex
from core.schedule.liveness import Liveness, LiveRange, Ring, live_ranges
from core.schedule.model import Schedule
from twill_gui.views.gantt.layout import group_lanes, main_unit
from twill_gui.views.timeline.occupancy import Times, breakpoints, copies
from twill_gui.views.timeline.span import TimeSpan


class Held(Enum):
    """What a curve counts."""

    REGISTERS = "registers per thread"
    SHARED_MEMORY = "bytes of shared memory"
    TENSOR_MEMORY = "columns of tensor memory"


@dataclass(frozen=True, slots=True)
class Band:
    """One value's share of a curve. `count[i]` copies of `amount` are alive in [times[i], times[i + 1]) of the
    curve; `reserved` copies have room kept for them at all times (rings), None where only what is alive counts.
    `reader`: the op on another group whose copy this is."""

    value: str
    reader: str | None
    amount: int
    count: NDArray[np.int64]
    reserved: int | None
    unit: str | None
    shade: int

    @property
    def height(self) -> NDArray[np.int64]:
        """What the band takes in each step."""
        if self.reserved is None:
            return self.count * self.amount
        return np.full(len(self.count), self.reserved * self.amount, np.int64)


@dataclass(frozen=True, slots=True)
class Curve:
    """Bands stacked on `base` (what is always taken), against `limit`. `times` has one entry more than the bands."""

    name: str
    held: Held
    base: int
    limit: int
    times: Times
    bands: tuple[Band, ...]

    @property
    def base_name(self) -> str:
        """What the base is."""
        return "overhead" if self.held is Held.REGISTERS else "outside the loop"

    @property
    def total(self) -> NDArray[np.int64]:
        """The height of the whole stack in each step."""
        total = np.full(len(self.times) - 1, self.base, np.int64)
        for band in self.bands:
            total += band.height
        return total

    @property
    def peak(self) -> int:
        """The greatest height."""
        return int(self.total.max())

    def step_at(self, time: float) -> int:
        """The number of the step that holds a time."""
        step = int(np.searchsorted(self.times, time, side="right")) - 1
        return min(max(step, 0), len(self.times) - 2)


def liveness_curves(graph: Graph, schedule: Schedule, span: TimeSpan) -> tuple[Curve, ...]:
    """The curves over a span of time: each used group that holds anything, then shared and tensor memory."""
    live = live_ranges(graph, schedule)
    curves = [
        _curve(graph, schedule, span, name, live.registers[name])
        for name in group_lanes(graph, schedule)
        if any(held.amount for held in live.registers.get(name, ()))
    ]
    machine = graph.machine
    if live.rings or live.hand_offs or machine.fixed_shared_bytes:
        curves.append(_shared(graph, schedule, span, live))
    if live.tensor:
        bands, times = _bands(graph, schedule, span, live.tensor)
        limit = machine.tensor_memory_columns
        curves.append(Curve("tensor memory", Held.TENSOR_MEMORY, 0, limit, times, bands))
    return tuple(curves)


def _curve(graph: Graph, schedule: Schedule, span: TimeSpan, name: str, ranges: Sequence[LiveRange]) -> Curve:
    group = schedule.groups[name]
    overhead = GraphIndex(graph).overhead(group.kind)
    bands, times = _bands(graph, schedule, span, ranges)
    return Curve(name, Held.REGISTERS, overhead, group.grant, times, bands)


def _shared(graph: Graph, schedule: Schedule, span: TimeSpan, live: Liveness) -> Curve:
    machine = graph.machine
    buffers = [*live.rings.values(), *live.hand_offs.values()]
    bands, times = _bands(graph, schedule, span, buffers)
    limit = machine.shared_memory_bytes
    return Curve("shared memory", Held.SHARED_MEMORY, machine.fixed_shared_bytes, limit, times, bands)


def _bands(
    graph: Graph, schedule: Schedule, span: TimeSpan, ranges: Sequence[LiveRange | Ring]
) -> tuple[tuple[Band, ...], Times]:
    """The values with an amount, those held longest at the bottom, where the stack is calm. Bands of one unit differ
    in shade from their neighbours."""
    held = sorted((one for one in ranges if one.amount), key=lambda one: one.begin - one.end)
    spans = [(one.begin, one.end) for one in held]
    times = breakpoints(spans, schedule.ii, span.iterations, span.start, span.end)
    shades: dict[str | None, int] = {}
    bands: list[Band] = []
    for one in held:
        unit = main_unit(graph.ops[one.value])
        shades[unit] = shades.get(unit, -1) + 1
        bands.append(
            Band(
                one.value,
                one.reader if isinstance(one, LiveRange) else None,
                one.amount,
                copies(one.begin, one.end, schedule.ii, span.iterations, times[:-1]),
                one.depth if isinstance(one, Ring) else None,
                unit,
                shades[unit],
            )
        )
    return tuple(bands), times
