"""What the Gantt shows, in cycles and rows: lanes, bars, tails and sections. No Qt, no pixels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from core.graph.model import Graph, Op
from core.schedule.expansion import Instance, Phase, expand, shown_iterations
from core.schedule.metrics import stages
from core.schedule.model import Schedule
from twill_gui.views.gantt.packing import fold, pack


class GanttMode(Enum):
    """FOLDED: one initiation interval of the steady state. UNROLLED: prologue, steady iterations, epilogue."""

    FOLDED = "folded"
    UNROLLED = "unrolled"


class LaneKind(Enum):
    """A lane is a warp group (bars: issue cycles) or a functional unit (bars: unit blocks)."""

    GROUP = "group"
    UNIT = "unit"


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane; `tracks` says of each of its sub-rows how many tracks of tails lie under the bars."""

    kind: LaneKind
    name: str
    tracks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A piece of an op in [start, end) of the view's time. `stage` is the op's. `iteration`: which one it works for
    (folded: how many iterations before the one whose stage 0 is shown). `block`: index of the unit block, None for
    issue cycles."""

    op: str
    lane: int
    row: int
    start: int
    end: int
    stage: int
    iteration: int
    unit: str | None
    block: int | None = None
    continues_left: bool = False
    continues_right: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    """A piece of an op's latency, from its start until its result is there, under its bar."""

    op: str
    lane: int
    row: int
    track: int
    start: int
    end: int
    iteration: int
    unit: str | None
    ends: bool = True


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an unrolled schedule, [start, end)."""

    phase: Phase
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything the Gantt paints. `start` and `end` bound its time, `iterations` are shown (folded: 1)."""

    mode: GanttMode
    ii: int
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    tails: tuple[Tail, ...]
    sections: tuple[Section, ...]
    start: int
    end: int
    iterations: int


@dataclass(frozen=True, slots=True)
class _Strip:
    """One range of an op on one lane, with the rows of its instances and the track of its tail on each of them."""

    op: str
    lane: int
    stage: int
    start: int
    length: int
    rows: tuple[int, ...]
    unit: str | None
    block: int | None
    tail: int
    tail_tracks: tuple[int, ...]


def main_unit(op: Op) -> str | None:
    """The unit that the op uses most, the first in its table among equals; it gives the op its colour."""
    work: dict[str, int] = {}
    for block in op.blocks:
        work[block.unit] = work.get(block.unit, 0) + block.duration * block.amount
    return max(work, key=work.__getitem__, default=None)


def group_lanes(graph: Graph, schedule: Schedule) -> tuple[str, ...]:
    """The groups of the schedule, empty ones too, in the order of their kinds in the graph."""
    order = {group.kind: index for index, group in enumerate(graph.groups)}
    return tuple(sorted(schedule.groups, key=lambda name: order[schedule.groups[name].kind]))


def unit_lanes(graph: Graph) -> tuple[str, ...]:
    """The units that any op uses, in the machine's order."""
    used = {block.unit for op in graph.ops.values() for block in op.blocks}
    return tuple(unit for unit in graph.machine.units if unit in used)


def build_layout(graph: Graph, schedule: Schedule, mode: GanttMode, steady_iterations: int = 3) -> Layout:
    """The layout of a schedule that places every op of the graph.

    Rows are the same in both modes, so an op keeps its place when the view is unrolled. The unrolled view runs
    `steady_iterations` intervals of steady state between prologue and epilogue.
    """
    lanes, strips = _strips(graph, schedule)
    if mode is GanttMode.FOLDED:
        bars = tuple(bar for strip in strips for bar in _folded_bars(strip, schedule.ii))
        tails = tuple(tail for strip in strips for tail in _folded_tails(strip, schedule.ii))
        return Layout(mode, schedule.ii, lanes, bars, tails, (), 0, schedule.ii, 1)
    iterations = shown_iterations(schedule, stages(schedule) - 1 + steady_iterations)
    by_op: dict[str, list[_Strip]] = {op: [] for op in graph.ops}
    for strip in strips:
        by_op[strip.op].append(strip)
    placed = [(strip, instance) for instance in expand(schedule, iterations) for strip in by_op[instance.op]]
    bars = tuple(_unrolled_bar(strip, instance, schedule) for strip, instance in placed)
    tails = tuple(_unrolled_tail(strip, instance) for strip, instance in placed if strip.tail_tracks)
    sections = _sections(schedule, steady_iterations)
    end = max(max(part.end for part in parts) for parts in (sections, bars, tails) if parts)
    return Layout(mode, schedule.ii, lanes, bars, tails, sections, sections[0].start, end, iterations)


def _sections(schedule: Schedule, steady_iterations: int) -> tuple[Section, ...]:
    """Prologue and epilogue are one interval shorter than the pipeline has stages; empty ones are left out."""
    ramp = (stages(schedule) - 1) * schedule.ii
    start = min(schedule.stage(op) for op in schedule.ops) * schedule.ii
    steady = start + ramp
    epilogue = steady + steady_iterations * schedule.ii
    parts = (
        Section(Phase.PROLOGUE, start, steady),
        Section(Phase.STEADY, steady, epilogue),
        Section(Phase.EPILOGUE, epilogue, epilogue + ramp),
    )
    return tuple(part for part in parts if part.end > part.start)


def _strips(graph: Graph, schedule: Schedule) -> tuple[tuple[Lane, ...], list[_Strip]]:
    lanes: list[Lane] = []
    strips: list[_Strip] = []
    for name in group_lanes(graph, schedule):
        ops = [op for op in graph.ops.values() if schedule.ops[op.id].group == name]
        tracks, found = _group_strips(ops, schedule, len(lanes))
        lanes.append(Lane(LaneKind.GROUP, name, tracks))
        strips += found
    for unit in unit_lanes(graph):
        found = _unit_strips(graph, schedule, unit, len(lanes))
        rows = 1 + max(row for strip in found for row in strip.rows)
        lanes.append(Lane(LaneKind.UNIT, unit, (0,) * rows))
        strips += found
    return tuple(lanes), strips


def _group_strips(ops: list[Op], schedule: Schedule, lane: int) -> tuple[tuple[int, ...], list[_Strip]]:
    """The tails' tracks of each sub-row, and the strips."""
    ii = schedule.ii
    starts = {op.id: schedule.ops[op.id].start for op in ops}
    tails = {op.id: op.latency + schedule.ops[op.id].delay for op in ops}
    rows = pack(((op.id, starts[op.id], op.issue_cycles) for op in ops), ii)
    tracks: list[int] = []
    tail_tracks: dict[str, tuple[int, ...]] = {op.id: () for op in ops}
    for row in range(1 + max((row for found in rows.values() for row in found), default=0)):
        on_row = [op.id for op in ops if rows[op.id][0] == row and tails[op.id] > op.issue_cycles]
        packed = pack(((op, starts[op], tails[op]) for op in on_row), ii)
        tracks.append(1 + max((track for found in packed.values() for track in found), default=-1))
        tail_tracks |= packed
    strips = [
        _Strip(
            op.id,
            lane,
            schedule.stage(op.id),
            starts[op.id],
            op.issue_cycles,
            rows[op.id],
            main_unit(op),
            None,
            tails[op.id],
            tail_tracks[op.id],
        )
        for op in ops
    ]
    return tuple(tracks), strips


def _unit_strips(graph: Graph, schedule: Schedule, unit: str, lane: int) -> list[_Strip]:
    spans: dict[tuple[str, int], tuple[int, int]] = {}
    for op in graph.ops.values():
        place = schedule.ops[op.id]
        for index, block in enumerate(op.blocks):
            if block.unit == unit:
                spans[op.id, index] = (place.start + place.delay + block.offset, block.duration)
    rows = pack(((key, *span) for key, span in spans.items()), schedule.ii)
    return [
        _Strip(op, lane, schedule.stage(op), start, duration, rows[op, index], unit, index, 0, ())
        for (op, index), (start, duration) in spans.items()
    ]


def _folded_bars(strip: _Strip, ii: int) -> Iterator[Bar]:
    pieces = fold(strip.start, strip.length, ii)
    for piece in pieces:
        yield Bar(
            strip.op,
            strip.lane,
            strip.rows[piece.turn % len(strip.rows)],
            piece.start,
            piece.end,
            strip.stage,
            strip.start // ii + piece.turn,
            strip.unit,
            strip.block,
            continues_left=piece is not pieces[0],
            continues_right=piece is not pieces[-1],
        )


def _folded_tails(strip: _Strip, ii: int) -> Iterator[Tail]:
    if not strip.tail_tracks:
        return
    pieces = fold(strip.start, strip.tail, ii)
    for piece in pieces:
        track = strip.tail_tracks[piece.turn % len(strip.tail_tracks)]
        iteration = strip.start // ii + piece.turn
        ends = piece is pieces[-1]
        yield Tail(strip.op, strip.lane, strip.rows[0], track, piece.start, piece.end, iteration, strip.unit, ends)


def _unrolled_bar(strip: _Strip, instance: Instance, schedule: Schedule) -> Bar:
    iteration = instance.iteration
    start = strip.start + iteration * schedule.ii
    row = strip.rows[iteration % len(strip.rows)]
    end = start + strip.length
    return Bar(strip.op, strip.lane, row, start, end, strip.stage, iteration, strip.unit, strip.block)


def _unrolled_tail(strip: _Strip, instance: Instance) -> Tail:
    track = strip.tail_tracks[instance.iteration % len(strip.tail_tracks)]
    start, iteration = instance.cycle, instance.iteration
    return Tail(strip.op, strip.lane, strip.rows[0], track, start, start + strip.tail, iteration, strip.unit)
