"""Random legal schedules on machines without any slack."""

from __future__ import annotations

import random
from dataclasses import replace

from core.graph.model import (
    Block,
    Dependence,
    DependenceKind,
    Graph,
    GroupKind,
    InOrderIssue,
    Limits,
    Op,
    RegisterFile,
    Result,
    Rules,
    Space,
)
from core.schedule.check import check
from core.schedule.model import Placement, Schedule, ScheduledGroup


def random_schedule(chance: random.Random, latest_offset: int = 3) -> tuple[Graph, Schedule]:
    """Ops anywhere, dependences as long as the schedule allows them to be, no limits yet. Blocks begin up to
    `latest_offset` cycles after their op, by offset or delay."""
    ii = chance.randint(1, 12)
    kinds = (GroupKind("c", chance.choice([1, 4]), 3), GroupKind("l", 1, 2, variable_latency=True))
    groups = {f"{kind.kind}{n}": ScheduledGroup(kind.kind, 9999) for kind in kinds for n in range(kind.count)}
    ops: dict[str, Op] = {}
    places: dict[str, Placement] = {}
    for name in "abcdef"[: chance.randint(1, 6)]:
        group = chance.choice(["c0", "c0", "c1", "c2", "l0", "l1"])
        queue = chance.choice([0, 0, min(2, latest_offset)])
        ops[name] = Op(
            name,
            "op",
            needs_warps=1,
            blocks=tuple(
                Block("x", chance.randint(0, latest_offset), chance.randint(0, 5), chance.randint(1, 3))
                for _ in range(chance.randint(0, 2))
            ),
            issue_cycles=chance.randint(0, 3),
            latency=chance.randint(0, 12),
            asynchronous=chance.random() < 0.5,
            matrix=chance.random() < 0.3,
            variable_latency=group.startswith("l"),
            result=Result(chance.choice(list(Space)), chance.randint(0, 9)),
            hand_off_cycles=chance.randint(0, 9),
            hand_off_bytes=chance.randint(0, 9),
            queue=queue,
        )
        places[name] = Placement(chance.randint(0, 30), group, chance.randint(0, queue))
    dependences: list[Dependence] = []
    for _ in range(chance.randint(0, 9)):
        source, target = chance.choice(list(ops)), chance.choice(list(ops))
        distance = chance.randint(0, 3)
        kind = chance.choice([DependenceKind.FLOW, DependenceKind.FLOW, DependenceKind.ORDER])
        handed = places[source].group != places[target].group and ops[source].result.space is Space.REGISTERS
        room = places[target].start + ii * distance - places[source].start - places[source].delay
        room -= ops[source].hand_off_cycles if handed and kind is DependenceKind.FLOW else 0
        if room >= 0:
            latency = chance.choice([room, room, chance.randint(0, room)])
            release = chance.choice([0, chance.randint(0, 9)])
            dependences.append(Dependence(source, target, latency, distance, kind, release, chance.random() < 0.5))
    machine = Limits({"x": 10**6}, RegisterFile(10**9, 9999, overhead=chance.choice([0, 2])), 10**9, 10**9)
    return Graph("random", machine, kinds, ops, tuple(dependences)), Schedule(ii, groups, places)


def fitted(chance: random.Random, judged: Graph, schedule: Schedule) -> tuple[Graph, Schedule]:
    """The graph on the smallest machine that the schedule is legal on, under the strictest rules that it keeps."""
    peaks = check(judged, schedule).peaks
    groups = {
        name: ScheduledGroup(group.kind, max(24 if group.kind == "l" else 0, peaks.registers[name]))
        for name, group in schedule.groups.items()
        if name in peaks.registers
    }
    counts = {kind.kind: sum(group.kind == kind.kind for group in groups.values()) for kind in judged.groups}
    warps = {kind.kind: kind.warps for kind in judged.groups}
    registers = replace(
        judged.machine.registers,
        max_per_thread=max(group.grant for group in groups.values()),
        file_words=sum(32 * warps[group.kind] * group.grant for group in groups.values()),
    )
    machine = Limits(dict(peaks.units), registers, peaks.shared_memory, peaks.tensor_memory)
    tight = replace(
        judged, machine=machine, groups=tuple(replace(kind, count=counts[kind.kind]) for kind in judged.groups)
    )
    schedule = replace(schedule, groups=groups)
    for mode in (InOrderIssue.STRONG, InOrderIssue.WEAK, InOrderIssue.OFF):
        for isolate in (True, False):
            for allow in (False, True):
                ruled = replace(tight, rules=Rules(mode, isolate, allow))
                if check(ruled, schedule).legal:
                    return ruled, schedule
    raise AssertionError(check(tight, schedule).violations)
