"""The schedule as a Chrome trace (the JSON that Perfetto and chrome://tracing read), unrolled over iterations.

One process per warp group (its issue, and the latency of its ops) and one per functional unit. Perfetto drops a
slice that partly overlaps another one of its thread, so what overlaps goes to a further lane and nothing is lost.
Times are cycles, written as the format's microseconds. Dependences are flows between the slices they bind.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from core.graph.model import Graph
from core.schedule.expansion import Instance, expand
from core.schedule.model import Schedule

ISSUE, LATENCY, UNIT = ROWS = ("issue", "latency", "unit")


@dataclass(frozen=True, slots=True)
class Slice:
    """One bar: [begin, end) in cycles on a lane of `row` (0: not packed yet)."""

    process: str
    row: str
    name: str
    begin: int
    end: int
    instance: Instance
    lane: int = 0


def chrome_trace(graph: Graph, schedule: Schedule, iterations: int) -> dict[str, Any]:
    """The trace document of `iterations` trips. Every op instance has one slice for its issue, one for its latency,
    and one for each of its blocks, also where they take 0 cycles; every dependence has one flow per iteration."""
    slices = [packed for row in _rows(graph, schedule, iterations).values() for packed in _pack(row)]
    lanes = _Lanes(graph, schedule, slices)
    timed = [_slice_event(bar, lanes) for bar in slices]
    timed += _flows(graph, slices, lanes, iterations)
    # At equal times a slice must be open before the flow that binds to it.
    timed.sort(key=lambda event: (event["ts"], event["ph"] != "X"))
    return {
        "traceEvents": [*lanes.names(), *timed],
        "displayTimeUnit": "ms",
        "otherData": {"name": graph.name, "ii": schedule.ii, "iterations": iterations, "time": "1 us is 1 cycle"},
    }


def _rows(graph: Graph, schedule: Schedule, iterations: int) -> dict[tuple[str, str], list[Slice]]:
    rows: dict[tuple[str, str], list[Slice]] = {}

    def add(process: str, row: str, begin: int, cycles: int, instance: Instance) -> None:
        bar = Slice(process, row, f"{instance.op} [{instance.iteration}]", begin, begin + cycles, instance)
        rows.setdefault((process, row), []).append(bar)

    for instance in expand(schedule, iterations):
        op, place = graph.ops[instance.op], schedule.ops[instance.op]
        on_unit = instance.cycle + place.delay
        add(_group(place.group), ISSUE, instance.cycle, op.issue_cycles, instance)
        add(_group(place.group), LATENCY, on_unit, op.latency, instance)
        for block in op.blocks:
            add(_unit(block.unit), UNIT, on_unit + block.offset, block.duration, instance)
    return rows


def _group(name: str) -> str:
    return f"group {name}"


def _unit(name: str) -> str:
    return f"unit {name}"


def _pack(row: list[Slice]) -> Iterator[Slice]:
    """Each slice on the lowest lane that is free when it begins; one of 0 cycles keeps others away for one."""
    busy: list[tuple[int, int]] = []
    free: list[int] = []
    lanes = 0
    for bar in sorted(row, key=lambda s: (s.begin, s.end)):
        while busy and busy[0][0] <= bar.begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            heapq.heappush(free, lanes)
            lanes += 1
        lane = heapq.heappop(free)
        heapq.heappush(busy, (max(bar.end, bar.begin + 1), lane))
        yield replace(bar, lane=lane)


class _Lanes:
    """Process and thread numbers: groups and units in their order, in each process issue lanes first."""

    def __init__(self, graph: Graph, schedule: Schedule, slices: Iterable[Slice]) -> None:
        self._labels: dict[str, str] = {}
        for group, scheduled in schedule.groups.items():
            warps = graph.group_kind(scheduled.kind).warps
            self._labels[_group(group)] = f"group {group} ({warps} {'warp' if warps == 1 else 'warps'})"
        self._labels |= {_unit(unit): _unit(unit) for unit in graph.machine.units}
        self._pids = {process: number for number, process in enumerate(self._labels, start=1)}
        lanes = sorted({(self._pids[s.process], ROWS.index(s.row), s.lane) for s in slices})
        self._tids = {lane: number for number, lane in enumerate(lanes, start=1)}

    def place(self, bar: Slice) -> dict[str, int]:
        """The keys `pid` and `tid` of a slice's lane."""
        pid = self._pids[bar.process]
        return {"pid": pid, "tid": self._tids[pid, ROWS.index(bar.row), bar.lane]}

    def names(self) -> Iterator[dict[str, Any]]:
        """The metadata events that name and order processes and lanes."""
        for process, pid in self._pids.items():
            yield _metadata("process_name", pid, 0, name=self._labels[process])
            yield _metadata("process_sort_index", pid, 0, sort_index=pid)
        for (pid, row, lane), tid in self._tids.items():
            label = ROWS[row] if lane == 0 else f"{ROWS[row]} ({lane + 1})"
            yield _metadata("thread_name", pid, tid, name=label)
            yield _metadata("thread_sort_index", pid, tid, sort_index=tid)


def _metadata(what: str, pid: int, tid: int, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args}


def _slice_event(bar: Slice, lanes: _Lanes) -> dict[str, Any]:
    instance = bar.instance
    return {
        "ph": "X",
        "name": bar.name,
        "cat": bar.row,
        **lanes.place(bar),
        "ts": bar.begin,
        "dur": bar.end - bar.begin,
        "args": {
            "op": instance.op,
            "iteration": instance.iteration,
            "stage": instance.stage,
            "phase": instance.phase.value,
        },
    }


def _flows(graph: Graph, slices: Iterable[Slice], lanes: _Lanes, iterations: int) -> Iterator[dict[str, Any]]:
    """From the last cycle of the source's latency, at the latest when the reader starts, to the reader's issue."""
    bars = {(bar.row, bar.instance.op, bar.instance.iteration): bar for bar in slices if bar.row != UNIT}

    def widest(first: str, second: str, op: str, iteration: int) -> Slice:
        # A viewer does not bind a flow to a slice of 0 cycles if it can help it.
        bar, other = bars[first, op, iteration], bars[second, op, iteration]
        return bar if bar.end > bar.begin or other.end == other.begin else other

    number = 0
    for dependence in graph.dependences:
        for iteration in range(dependence.distance, iterations):
            number += 1
            source = widest(LATENCY, ISSUE, dependence.source, iteration - dependence.distance)
            target = widest(ISSUE, LATENCY, dependence.target, iteration)
            leaves = max(source.begin, min(source.end - 1, target.begin))
            # Flows run forwards in time: one of a broken dependence is drawn from its reader.
            ends = sorted([(leaves, 0, source), (target.begin, 1, target)], key=lambda end: end[:2])
            for phase, (at, _, bar) in zip(("s", "f"), ends, strict=True):
                yield {
                    "ph": phase,
                    **({"bp": "e"} if phase == "f" else {}),
                    "name": dependence.kind.value,
                    "cat": "dependence",
                    "id": number,
                    **lanes.place(bar),
                    "ts": at,
                    "args": {"from": dependence.source, "to": dependence.target, "distance": dependence.distance},
                }
