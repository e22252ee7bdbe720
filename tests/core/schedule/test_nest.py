"""An inner loop as one block: its iterations, placed one by one where the block is, are legal beside the outer ops."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, RegisterFile, Result, Space
from core.schedule.check import check
from core.schedule.metrics import trip_cost
from core.schedule.model import Placement, Schedule
from core.schedule.nest import nest
from core.solve.events import Level, SolveOptions
from core.solve.solve import solve

OPTIONS = SolveOptions(objective=(Level.II, Level.LENGTH), limit_s=60)
KINDS = (GroupKind("load", 1, 1, variable_latency=True), GroupKind("work", 1, 2))
MACHINE = Limits({"x": 1, "y": 1}, RegisterFile(32 * 200, 64, overhead=2), 10**6, 100)
HELD = (Space.REGISTERS, Space.REGISTERS, Space.TENSOR, Space.SHARED)


def random_op(chance: random.Random, name: str, space: Space | None = None) -> Op:
    cycles = chance.randint(1, 4)
    asynchronous = chance.random() < 0.3
    return Op(
        name,
        "op",
        blocks=(Block(chance.choice("xy"), 0, cycles),),
        issue_cycles=1 if asynchronous else cycles,
        latency=cycles + chance.randint(0, 3),
        asynchronous=asynchronous,
        variable_latency=name == "load",
        result=Result(Space.SHARED if name == "load" else space or chance.choice(HELD), 4),
        hand_off_cycles=2,
        hand_off_bytes=1,
    )


def edge(ops: dict[str, Op], source: str, target: str, distance: int = 0) -> Dependence:
    reader = ops[target]
    release = reader.latency if reader.asynchronous else reader.issue_cycles
    return Dependence(source, target, ops[source].latency, distance, release=release)


def inner_loop(chance: random.Random) -> Graph:
    ops = {name: random_op(chance, name, Space.REGISTERS if name == "sum" else None) for name in ("load", "a", "sum")}
    edges = (edge(ops, "load", "a"), edge(ops, "a", "sum"), edge(ops, "sum", "sum", 1))
    return Graph("inner", MACHINE, KINDS, ops, edges)


def outer_loop(chance: random.Random, inner: Graph) -> Graph:
    block = Op("for", "scf.for", result=inner.ops["sum"].result, hand_off_cycles=2, hand_off_bytes=1)
    ops = {"before": random_op(chance, "before"), "for": block, "after": random_op(chance, "after")}
    edges = [
        Dependence("before", "for", ops["before"].latency),
        Dependence("for", "after", 0, release=ops["after"].issue_cycles),
    ]
    if chance.random() < 0.5:
        edges.append(edge(ops, "after", "before", 1))
    return Graph("outer", MACHINE, KINDS, ops, tuple(edges))


def spelled_out(outer: Graph, inner: Graph, trips: int) -> Graph:
    """Every inner iteration as ops of the outer loop."""
    copies = {f"{name}#{i}": replace(op, id=f"{name}#{i}") for i in range(trips) for name, op in inner.ops.items()}
    edges = [
        replace(d, source=f"{d.source}#{i - d.distance}", target=f"{d.target}#{i}", distance=0)
        for i in range(trips)
        for d in inner.dependences
        if i >= d.distance
    ]
    for d in outer.dependences:
        if d.target == "for":
            edges.append(replace(d, target="a#0"))  # loads read no tiles
        elif d.source == "for":
            last = f"sum#{trips - 1}"
            edges.append(replace(d, source=last, latency=copies[last].latency))
        else:
            edges.append(d)
    ops = {**copies, "before": outer.ops["before"], "after": outer.ops["after"]}
    return replace(outer, ops=ops, dependences=tuple(edges))


@pytest.mark.parametrize("seed", range(30))
def test_the_iterations_are_legal_where_the_block_is(seed: int) -> None:
    chance = random.Random(seed)
    inner, trips = inner_loop(chance), chance.randint(1, 4)
    outer = outer_loop(chance, inner)
    steps = solve(inner, OPTIONS).schedule
    assert steps is not None
    composed = nest(outer, "for", inner, steps, trips, ["sum"])
    tiles = solve(composed, OPTIONS).schedule
    assert tiles is not None and check(composed, tiles).legal
    begin = tiles.ops["for"].start
    first = min(place.start for place in steps.ops.values())
    places = {
        f"{name}#{i}": Placement(begin + place.start - first + i * steps.ii, place.group)
        for i in range(trips)
        for name, place in steps.ops.items()
    }
    places |= {name: tiles.ops[name] for name in ("before", "after")}
    report = check(spelled_out(outer, inner, trips), Schedule(tiles.ii, tiles.groups, places))
    assert report.legal, report.violations


def test_what_the_block_takes() -> None:
    chance = random.Random(2)
    inner = inner_loop(chance)
    steps = solve(inner, OPTIONS).schedule
    assert steps is not None
    composed = nest(outer_loop(chance, inner), "for", inner, steps, 5, ["sum"])
    total = trip_cost(inner, steps, 5).total
    assert total == 4 * steps.ii + trip_cost(inner, steps, 1).total
    block = composed.ops["for"]
    assert block.latency == total and max(one.duration for one in block.blocks) <= total
    assert [d.latency for d in composed.dependences if d.source == "for" and d.target == "after"] == [total]
    held = [op for op in composed.ops.values() if op.id.startswith("for.") and op.result.space is Space.SHARED]
    assert [op.result.amount for op in held] == [check(inner, steps).peaks.shared_memory]
    assert {composed.pins[op].group for op in composed.pins} == set(steps.groups)


def test_results_of_two_groups_are_refused() -> None:
    inner = inner_loop(random.Random(5))
    ops = {name: replace(op, result=Result(Space.REGISTERS, 4)) for name, op in inner.ops.items()}
    inner = replace(inner, ops={**ops, "load": inner.ops["load"]})
    groups = {"load.0": "load", "work.0": "work", "work.1": "work"}
    steps = solve(replace(inner, pins={}), OPTIONS).schedule
    assert steps is not None
    apart = {"load": "load.0", "a": "work.0", "sum": "work.1"}
    grant = next(iter(steps.groups.values()))
    split = Schedule(
        100,
        {name: replace(grant, kind=kind, grant=64) for name, kind in groups.items()},
        {name: Placement(20 * i, group) for i, (name, group) in enumerate(apart.items())},
    )
    assert check(inner, split).legal
    with pytest.raises(ValueError, match="several groups"):
        nest(outer_loop(random.Random(5), inner), "for", inner, split, 2, ["a", "sum"])
