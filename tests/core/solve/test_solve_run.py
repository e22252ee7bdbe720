"""How a solve runs: limits, stops, pins, the same answer twice, and the process around it."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import pytest
from solve_cases import answer, expected, graph, level

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, Pin, Pool, RegisterFile
from core.schedule.check import check
from core.solve.events import (
    Done,
    Event,
    Failed,
    Incumbent,
    Level,
    LevelProved,
    SolveOptions,
    Status,
    Step,
    Verdict,
)
from core.solve.solve import solve
from core.solve.worker import work

HOPPER = graph("kernels", "fa_fwd_hopper_2x64")
SMALL = graph("kernels", "fa_fwd_hopper_1x128")
LONG = graph("kernels", "fa_fwd_blackwell_2x128__2_groups")


def test_no_time_is_no_answer() -> None:
    result = solve(SMALL, SolveOptions(limit_s=0.0))
    assert result.status is Status.UNKNOWN
    assert (result.schedule, result.ii, result.levels) == (None, None, ())
    assert result.proved_lower_bound <= expected("kernels")["fa_fwd_hopper_1x128"]["least_ii"]


@pytest.mark.parametrize("latency", [0, 1])
@pytest.mark.parametrize("limit_s", [1e-6, 60])
def test_ops_that_wait_for_each_other_within_one_iteration(latency: int, limit_s: float) -> None:
    around = (Dependence("a", "b", latency), Dependence("b", "a", latency), Dependence("a", "a", latency))
    ops = {name: Op(name, "op", latency=1, issue_cycles=1) for name in "ab"}
    loop = Graph("loop", Limits({}, RegisterFile(65536, 240)), (GroupKind("g", 1, 2),), ops, around)
    result = solve(loop, SolveOptions(limit_s=limit_s))
    if latency:
        assert (result.status, [entry.by for entry in result.trail]) == (Status.INFEASIBLE, ["dependence"])
    elif limit_s > 1:
        assert (result.status, result.ii) == (Status.OPTIMAL, 1)
        assert result.schedule is not None and result.schedule.ops["a"].start == result.schedule.ops["b"].start


def test_stopped_at_once() -> None:
    result = solve(SMALL, SolveOptions(), stopped=lambda: True)
    assert result.status is Status.UNKNOWN


def test_stopped_after_the_first_schedule_keeps_it() -> None:
    events: list[Event] = []
    result = solve(LONG, SolveOptions(), events.append, lambda: any(isinstance(e, Incumbent) for e in events))
    assert result.status is Status.FEASIBLE
    assert result.schedule is not None
    assert result.ii is not None and result.ii > result.proved_lower_bound
    assert [one.proved for one in result.levels] == [False] * len(result.levels)


def test_events_tell_what_the_result_says() -> None:
    events: list[Event] = []
    result = solve(HOPPER, SolveOptions(), events.append)
    assert [e.entry for e in events if isinstance(e, Step)] == list(result.trail)
    assert tuple(e.level for e in events if isinstance(e, LevelProved)) == result.levels[1:]
    assert all(check(HOPPER, e.schedule).legal for e in events if isinstance(e, Incumbent))
    assert events[-1] == Done(result)
    bounds = [e.lower for e in events if isinstance(e, Step)]
    assert bounds == sorted(bounds)


def test_one_interval() -> None:
    least = expected("kernels")["fa_fwd_hopper_1x128"]["least_ii"]
    at = answer(SMALL, ii=least)
    assert (at.status, at.ii, at.trail[-1].verdict) == (Status.FEASIBLE, least, Verdict.FEASIBLE)
    below = answer(SMALL, ii=least - 1)
    assert (below.status, below.trail[-1].ii) == (Status.INFEASIBLE, least - 1)
    assert below.trail[-1].horizon is not None
    arithmetic = answer(SMALL, ii=100)
    assert (arithmetic.status, arithmetic.trail[-1].by) == (Status.INFEASIBLE, "unit")


def test_one_interval_excluded_with_all_below_it() -> None:
    """A block that begins after its op's start: feasibility need not be monotone, so the bound is asked for."""
    load = SMALL.ops["load_v"]
    later = replace(load, blocks=tuple(replace(block, offset=1) for block in load.blocks))
    asked = replace(SMALL, ops={**SMALL.ops, "load_v": later})
    least = expected("kernels")["fa_fwd_hopper_1x128"]["least_ii"]
    result = answer(asked, ii=least - 100)
    assert (result.status, result.proved_lower_bound) == (Status.INFEASIBLE, least - 99)
    op = Op("a", "op", blocks=(Block("x", 0, 1), Block("x", 3, 1)), issue_cycles=1, latency=1)
    meeting = replace(SMALL, machine=replace(SMALL.machine, units={"x": 1}), ops={"a": op}, dependences=())
    result = answer(meeting, ii=3)
    assert (result.status, result.proved_lower_bound) == (Status.INFEASIBLE, 2)
    assert answer(meeting).ii == 2


def test_limited_interval() -> None:
    least = expected("kernels")["fa_fwd_hopper_1x128"]["least_ii"]
    result = answer(SMALL, max_ii=least - 1)
    assert (result.status, result.proved_lower_bound) == (Status.INFEASIBLE, least)


def test_the_same_answer_twice() -> None:
    one, other = (solve(HOPPER, SolveOptions(seed=7)) for _ in range(2))
    assert one.schedule == other.schedule
    assert [(e.ii, e.verdict, e.by, e.horizon) for e in one.trail] == [
        (e.ii, e.verdict, e.by, e.horizon) for e in other.trail
    ]


def test_groups_are_named_by_kind_and_first_use() -> None:
    schedule = answer(HOPPER, Level.GROUPS).schedule
    assert schedule is not None
    assert set(schedule.groups) == {"load.0", "compute.0", "compute.1"}
    compute = [place.group for place in schedule.ops.values() if place.group.startswith("compute")]
    assert compute[0] == "compute.0"


def test_a_pinned_group_keeps_its_name() -> None:
    pins = {"qk1": Pin(group="compute.0"), "qk0": Pin(group="tile"), "pv1": Pin(group="compute.0")}
    schedule = answer(replace(HOPPER, pins=pins), Level.GROUPS).schedule
    assert schedule is not None
    assert {op: schedule.ops[op].group for op in pins} == {op: pin.group for op, pin in pins.items()}
    assert set(schedule.groups) == {"load.0", "compute.0", "tile"}
    assert schedule.groups["tile"].kind == "compute"


def test_pins_that_no_group_can_keep() -> None:
    pins = {"qk0": Pin(group="a"), "qk1": Pin(group="b"), "max0": Pin(group="c")}
    assert answer(replace(HOPPER, pins=pins)).status is Status.INFEASIBLE
    pins = {"load_k": Pin(group="a"), "qk1": Pin(group="a")}
    assert answer(replace(HOPPER, pins=pins)).status is Status.INFEASIBLE


def test_pinned_starts_are_not_rotated() -> None:
    result = answer(replace(SMALL, pins={"qk0": Pin(start=2500), "load_v": Pin(start=100)}))
    assert result.status is Status.OPTIMAL
    assert result.ii == expected("kernels")["fa_fwd_hopper_1x128"]["least_ii"]
    assert result.schedule is not None
    assert (result.schedule.ops["qk0"].start, result.schedule.ops["load_v"].start) == (2500, 100)


def test_pinned_starts_that_exclude_single_intervals() -> None:
    """Two loads pinned 2704 cycles apart take one unit for 512 each: no interval from 2193 to 3215 parts them."""
    asked = replace(SMALL, pins={"load_k": Pin(start=0), "load_v": Pin(start=2704)})
    result = answer(asked, max_ii=2720)
    assert (result.status, result.proved_lower_bound) == (Status.INFEASIBLE, 2721)
    assert answer(asked, ii=3215).status is Status.INFEASIBLE
    assert answer(asked, ii=3216).schedule is not None


@pytest.mark.parametrize("name", ["fa_bwd_hopper", "fa_fwd_hopper_2x64"])
def test_registers_come_from_the_pool_of_warp_groups(name: str) -> None:
    """Two compute groups and a load group launch as three warp groups, which share what those get."""
    asked = graph("kernels", name)
    file = replace(asked.machine.registers, pool=Pool.WARPGROUP)
    asked = replace(asked, machine=replace(asked.machine, registers=file))
    result = answer(asked, Level.REGISTERS)
    assert result.status is Status.OPTIMAL
    assert result.schedule is not None
    grants = [group.grant for group in result.schedule.groups.values()]
    most = min(255, file.file_words // (128 * len(grants))) // file.granularity * file.granularity
    assert sum(grants) <= len(grants) * most


def run_in_process(
    target: Callable[..., None], asked: Any, options: SolveOptions, stop_after: type[Event] | None = None
) -> list[Event]:
    """The events of a spawned worker, told to stop after the first event of a type; the process is gone after."""
    context = multiprocessing.get_context("spawn")
    connection, far_end = context.Pipe()
    process = context.Process(target=target, args=(far_end, asked, options))
    process.start()
    far_end.close()
    events = receive(connection, stop_after)
    process.join(10)
    assert process.exitcode == 0
    connection.close()
    return events


def receive(connection: Connection, stop_after: type[Event] | None) -> list[Event]:
    events: list[Event] = []
    while not events or not isinstance(events[-1], Done | Failed):
        events.append(connection.recv())
        if stop_after is not None and isinstance(events[-1], stop_after):
            connection.send("stop")
            stop_after = None
    return events


def test_worker_sends_its_events() -> None:
    events = run_in_process(work, SMALL, SolveOptions(objective=(Level.II, Level.LENGTH)))
    last = events[-1]
    assert isinstance(last, Done)
    assert (last.result.status, last.result.ii) == (Status.OPTIMAL, 2704)
    assert level(last.result, Level.LENGTH).value == expected("kernels")["fa_fwd_hopper_1x128"]["least_length"]
    assert any(isinstance(event, Incumbent) for event in events)


def test_worker_stops_when_told() -> None:
    events = run_in_process(work, LONG, SolveOptions(), stop_after=Step)
    last = events[-1]
    assert isinstance(last, Done)
    assert last.result.status in (Status.UNKNOWN, Status.FEASIBLE)


def test_worker_ends_when_nobody_listens() -> None:
    context = multiprocessing.get_context("spawn")
    connection, far_end = context.Pipe()
    process = context.Process(target=work, args=(far_end, LONG, SolveOptions()))
    process.start()
    far_end.close()
    connection.recv()
    connection.close()
    process.join(10)
    assert process.exitcode == 0


def test_worker_reports_a_crash() -> None:
    broken: Graph = replace(SMALL, ops={**SMALL.ops, "qk0": None})  # type: ignore[dict-item]
    last = run_in_process(work, broken, SolveOptions())[-1]
    assert isinstance(last, Failed)
    assert "Traceback" in last.traceback


@pytest.mark.long
def test_stopping_at_any_moment_leaves_no_process() -> None:
    chance = random.Random(3)
    context = multiprocessing.get_context("spawn")
    for _ in range(100):
        connection, far_end = context.Pipe()
        process = context.Process(target=work, args=(far_end, LONG, SolveOptions()))
        process.start()
        far_end.close()
        time.sleep(chance.uniform(0, 4))
        connection.send("stop")
        assert isinstance(receive(connection, None)[-1], Done)
        process.join(10)
        assert process.exitcode == 0
