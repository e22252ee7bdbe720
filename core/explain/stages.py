"""Schedules with the same slots and groups and as few stages between ops as dependences ask for.

A solver that does not count far copies of a value may leave any number of stages between two ops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.graph.model import Dependence, DependenceKind, Graph, Space
from core.schedule.model import Schedule


def closed_up(graph: Graph, schedule: Schedule) -> Iterator[Schedule]:
    """Every op in the latest stage that its readers allow; then in the earliest that its sources do, but those without
    sources in the latest. The schedule must keep the graph's dependences; with pinned starts there is none."""
    if any(pin.start is not None for pin in graph.pins.values()):
        return
    arcs = [(d.source, d.target, _stages(graph, schedule, d)) for d in graph.dependences if d.source != d.target]
    early = dict.fromkeys(graph.ops, 0)
    for _ in graph.ops:
        for source, target, stages in arcs:
            early[target] = max(early[target], early[source] + stages)
    late = dict.fromkeys(graph.ops, max(early.values(), default=0))
    for _ in graph.ops:
        for source, target, stages in arcs:
            late[source] = min(late[source], late[target] - stages)
    waiting = {target for _, target, _ in arcs}
    for name in graph.ops.keys() - waiting:
        early[name] = min((early[target] - n for source, target, n in arcs if source == name), default=0)
    for stage in (late, early):
        first = min(stage.values(), default=0)
        ops = {
            name: replace(place, start=place.start % schedule.ii + schedule.ii * (stage[name] - first))
            for name, place in schedule.ops.items()
        }
        yield replace(schedule, ops=ops)


def _stages(graph: Graph, schedule: Schedule, d: Dependence) -> int:
    """By how many stages, at the least, the target is after the source (of the same iteration)."""
    source, target, op = schedule.ops[d.source], schedule.ops[d.target], graph.ops[d.source]
    crosses = d.kind is DependenceKind.FLOW and op.result.space is Space.REGISTERS and source.group != target.group
    cycles = source.delay + d.latency + (op.hand_off_cycles if crosses else 0)
    ii = schedule.ii
    return -((target.start % ii - source.start % ii - cycles) // ii) - d.distance
