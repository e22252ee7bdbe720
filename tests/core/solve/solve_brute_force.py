"""Random graphs of a few ops, and whether they have a legal schedule: everything tried, the judge decides."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

from core.graph.model import (
    Block,
    Dependence,
    DependenceKind,
    Graph,
    GroupKind,
    InOrderIssue,
    Limits,
    Op,
    Pin,
    Pool,
    RegisterFile,
    Result,
    Rules,
    Space,
)
from core.schedule.check import Judge
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.schedule.report import Family


def random_graph(chance: random.Random, most_ops: int = 3) -> Graph:
    """Every rule may bind: machines are tight, capacities, pools, queues, pins and kinds of groups vary."""
    names = "abcd"[: chance.randint(2, most_ops)]
    kinds = [GroupKind("c", chance.choice([1, 2, 3, 4, 4, 4, 8]), chance.randint(1, 3))]
    if chance.random() < 0.4:
        kinds.append(GroupKind("s", chance.choice([1, 2, 3]), chance.randint(1, 2)))
    if chance.random() < 0.4:
        kinds.append(GroupKind("l", chance.choice([1, 4]), chance.randint(1, 2), variable_latency=True))
    ops = {name: _random_op(chance, name, kinds) for name in names}
    dependences = tuple(_random_dependence(chance, ops) for _ in range(chance.randint(1, 4)))
    granularity = chance.choice([1, 2, 8])
    pool = chance.choice([Pool.FLAT, Pool.WARPGROUP])
    words = 128 * chance.choice([8, 16, 24, 32, 48, 96])
    file = RegisterFile(words, chance.choice([8, 16, 24, 40, 40]), granularity, chance.choice([0, 0, 2]), pool)
    units = {"x": chance.choice([1, 2, 2, 3]), "y": chance.choice([2, 3])}
    machine = Limits(units, file, chance.choice([8, 16, 32, 64]), chance.choice([4, 8, 16]), chance.choice([0, 4]))
    mode = chance.choice(list(InOrderIssue))
    rules = Rules(mode, chance.random() < 0.2, chance.random() < 0.8)
    pins = {name: _random_pin(chance) for name in names if chance.random() < 0.15}
    return Graph("random", machine, tuple(kinds), ops, dependences, rules, pins)


def _random_op(chance: random.Random, name: str, kinds: list[GroupKind]) -> Op:
    kind = chance.choice(kinds)
    blocks = [
        Block(chance.choice("xxy"), chance.randint(0, 2), chance.randint(0, 3), chance.choice([1, 1, 2]))
        for _ in range(chance.choice([0, 1, 1, 2]))
    ]
    return Op(
        name,
        "op",
        needs_warps=chance.choice([1, 1, kind.warps]),
        blocks=tuple(blocks),
        issue_cycles=chance.choice([0, 1, 1, 2]),
        latency=chance.choice([0, 1, 1, 2, 3, 4]),
        asynchronous=chance.random() < 0.4,
        matrix=chance.random() < 0.3,
        variable_latency=kind.variable_latency,
        result=Result(chance.choice([*Space, Space.REGISTERS]), chance.choice([0, 2, 4, 8])),
        hand_off_cycles=chance.randint(0, 3),
        hand_off_bytes=chance.choice([0, 4, 8]),
        queue=chance.choice([0, 0, 0, 1, 2]),
    )


def _random_dependence(chance: random.Random, ops: dict[str, Op]) -> Dependence:
    source, target = chance.choice(list(ops)), chance.choice(list(ops))
    forward = source < target
    return Dependence(
        source,
        target,
        latency=ops[source].latency,
        distance=chance.choice([0, 0, 0, 1, 2]) if forward else chance.choice([1, 1, 2]),
        kind=chance.choice([*DependenceKind, DependenceKind.FLOW, DependenceKind.FLOW]),
        release=chance.randint(0, 3),
        blocking=chance.random() < 0.5,
    )


def _random_pin(chance: random.Random) -> Pin:
    start = chance.choice([None, chance.randint(0, 3)])
    return Pin(start, chance.choice(["m", "n", "c.1"]) if start is None or chance.random() < 0.5 else None)


def feasible(graph: Graph, ii: int, stages: int) -> bool:
    """Whether there is a legal schedule with all starts in [0, stages * II)."""
    judge = Judge(graph)
    times = list(_times(graph, ii, stages))
    return any(_legal(judge, graph, ii, starts, held) for held in _groupings(graph) for starts in times)


def legal_schedules(graph: Graph, ii: int, stages: int) -> Iterator[Schedule]:
    """Every legal schedule with all starts in [0, stages * II), but for names of groups; grants are left out."""
    judge = Judge(graph)
    times = list(_times(graph, ii, stages))
    for held in _groupings(graph):
        for starts in times:
            if _legal(judge, graph, ii, starts, held):
                names = {group: f"{group[0]}.{group[1]}" for group in held.values()}
                ops = {op: Placement(start, names[held[op]], delay) for op, (start, delay) in starts.items()}
                yield Schedule(ii, {names[group]: ScheduledGroup(group[0], 0) for group in names}, ops)


def _times(graph: Graph, ii: int, stages: int) -> Iterator[dict[str, tuple[int, int]]]:
    """Starts and delays that keep the dependences within one group; no hand-off makes one shorter. What only lags
    whole periods behind another is left out."""
    cycles = range(ii * stages)
    pinned = any(pin.start is not None for pin in graph.pins.values())
    moments = [[(start, delay) for start in cycles for delay in range(op.queue + 1)] for op in graph.ops.values()]
    for chosen in product(*moments):
        at = dict(zip(graph.ops, chosen, strict=True))
        if not pinned and min(chosen)[0] >= ii:
            continue
        if all(at[d.target][0] + ii * d.distance - sum(at[d.source]) >= d.latency for d in graph.dependences):
            yield at


def _groupings(graph: Graph) -> Iterator[dict[str, tuple[str, int]]]:
    """Kind and number of every op's group; a kind's groups are numbered by first use."""

    def extend(held: dict[str, tuple[str, int]], left: list[str]) -> Iterator[dict[str, tuple[str, int]]]:
        if not left:
            yield held
            return
        op = graph.ops[left[0]]
        for kind in graph.groups:
            if kind.variable_latency == op.variable_latency and kind.warps >= op.needs_warps:
                used = len({number for name, number in held.values() if name == kind.kind})
                for number in range(min(used + 1, kind.count)):
                    yield from extend({**held, op.id: (kind.kind, number)}, left[1:])

    yield from extend({}, list(graph.ops))


def _legal(
    judge: Judge, graph: Graph, ii: int, times: dict[str, tuple[int, int]], held: dict[str, tuple[str, int]]
) -> bool:
    """Whether the schedule is legal with the least grants, under any names of groups."""
    pinned = {held[op]: pin.group for op, pin in graph.pins.items() if pin.group is not None}
    free = sorted(set(held.values()) - set(pinned))
    for chosen in permutations(_free_names(set(pinned.values()), len(free)), len(free)):
        names = {**pinned, **dict(zip(free, chosen, strict=True))}
        ops = {op: Placement(start, names[held[op]], delay) for op, (start, delay) in times.items()}
        groups = {names[group]: ScheduledGroup(group[0], 0) for group in names}
        if len(groups) < len(names):
            return False
        bare = judge.check(Schedule(ii, groups, ops))
        if any(violation.family is not Family.REGISTERS for violation in bare.violations):
            return False
        granted = {
            name: replace(group, grant=_least_grant(graph, group.kind, bare.peaks.registers[name]))
            for name, group in groups.items()
        }
        report = judge.check(Schedule(ii, granted, ops))
        if report.legal:
            return True
        if any(violation.subject != "register file" for violation in report.violations):
            return False
    return False


def _free_names(pinned: set[str], count: int) -> list[str]:
    """Names before, between and after those of pins, enough of each for any order."""
    return [f"{before} {number}" for before in ["", *sorted(pinned)] for number in range(count)]


def _least_grant(graph: Graph, kind: str, peak: int) -> int:
    granularity = graph.machine.registers.granularity
    least = 24 if graph.group_kind(kind).variable_latency else 0
    return -(-max(peak, least) // granularity) * granularity
