"""The schedule in a model of the system."""

from __future__ import annotations

from collections.abc import Mapping

from core.graph.model import Graph
from core.schedule.liveness import live_ranges, profiles
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.solve.confirm.clauses import boolean_name
from core.solve.confirm.grants import VARIABLE_LATENCY_LEAST
from core.solve.confirm.system import System


def read_schedule(graph: Graph, system: System, values: Mapping[str, int]) -> Schedule:
    """The schedule, with the least grants that it needs. `values`: integers and Booleans (0 or 1) by name; what is not
    there may be anything."""
    ii = system.times.ii
    starts = {op: moment.cycle(values, ii) for op, moment in system.times.start.items()}
    on_unit = {op: moment.cycle(values, ii) for op, moment in system.times.unit_start.items()}
    earlier = min([0, *starts.values()]) // ii * ii
    held = {
        op: next(i for i, literal in on.items() if values.get(boolean_name(literal)))
        for op, on in system.groups.on.items()
    }
    names = _names(graph, system, held, values)
    ops = {op: Placement(start - earlier, names[held[op]], on_unit[op] - start) for op, start in starts.items()}
    groups = {name: ScheduledGroup(system.groups.all[i].kind.kind, 0) for i, name in names.items()}
    return _with_least_grants(graph, Schedule(ii, groups, ops))


def periods(graph: Graph, schedule: Schedule) -> dict[str, int]:
    """How many periods the longest live range, ring or hand-off buffer of each value spans, a started one included."""
    found: dict[str, int] = {}
    live = live_ranges(graph, schedule)
    ranges = [held for group in live.registers.values() for held in group]
    for held in [*ranges, *live.tensor, *live.rings.values(), *live.hand_offs.values()]:
        found[held.value] = max(found.get(held.value, 0), -(-(held.end - held.begin) // schedule.ii))
    return found


def _with_least_grants(graph: Graph, schedule: Schedule) -> Schedule:
    needed = profiles(graph, schedule).registers
    granularity = graph.machine.registers.granularity
    groups: dict[str, ScheduledGroup] = {}
    for name, group in schedule.groups.items():
        least = VARIABLE_LATENCY_LEAST if graph.group_kind(group.kind).variable_latency else 0
        most_live = max(step.level for step in needed[name])
        groups[name] = ScheduledGroup(group.kind, -(-max(least, most_live) // granularity) * granularity)
    return Schedule(schedule.ii, groups, schedule.ops)


def _names(graph: Graph, system: System, held: Mapping[str, int], values: Mapping[str, int]) -> dict[int, str]:
    """The names of used groups: those of pins, else KIND.N; of small groups in several packs, ones that sort so."""
    pins = {held[op]: pin.group for op, pin in graph.pins.items() if pin.group is not None}
    names = dict(pins)
    if system.packing is not None:
        before = ""
        for position, i in enumerate(system.packing.sequence(lambda literal: bool(values.get(boolean_name(literal))))):
            before = pins.get(i, before)
            names.setdefault(i, f"{before} {position:02} {system.groups.all[i].kind.kind}")
    for i in sorted(set(held.values()) - set(names)):
        group = system.groups.all[i]
        number = group.number
        while f"{group.kind.kind}.{number}" in names.values():
            number += 1
        names[i] = f"{group.kind.kind}.{number}"
    return names
