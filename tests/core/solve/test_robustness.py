"""The level `robustness`: by how much all latencies may grow, against everything tried and the judge."""

from __future__ import annotations

import random
from collections.abc import Iterator

from solve_brute_force import feasible, legal_schedules, random_graph
from solve_cases import answer, graph, level

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, RegisterFile, Result, Space
from core.schedule.check import check
from core.schedule.metrics import length
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.solve.events import Event, Incumbent, Level, LevelResult, SolveOptions, SolveResult
from core.solve.robustness import slack, slower
from core.solve.solve import solve

HOPPER = graph("kernels", "fa_fwd_hopper_1x128")


def chain() -> Graph:
    """a, b and back to a in the next iteration, with latencies 3 and 5; one register for each value."""
    ops = {
        name: Op(name, "op", issue_cycles=1, latency=latency, result=Result(Space.REGISTERS, 1))
        for name, latency in (("a", 3), ("b", 5))
    }
    edges = (Dependence("a", "b", 3, release=1), Dependence("b", "a", 5, 1, release=1))
    return Graph("chain", Limits({}, RegisterFile(9999, 99)), (GroupKind("g"),), ops, edges)


def test_a_recurrence_shares_its_slack_among_its_latencies() -> None:
    """At II 14 the recurrence of 8 cycles has 6 to spare, 3 for each of its two latencies."""
    result = answer(chain(), Level.ROBUSTNESS, ii=14)
    found = level(result, Level.ROBUSTNESS)
    assert (found.value, found.bound, found.proved) == (3, 3, True)
    assert result.schedule is not None
    assert result.schedule.ops["b"].start - result.schedule.ops["a"].start == 6
    assert level(answer(chain(), Level.ROBUSTNESS), Level.ROBUSTNESS).value == 0


def test_slack_of_a_schedule() -> None:
    def at(start: int) -> int:
        groups = {"m": ScheduledGroup("g", 2)}
        return slack(chain(), Schedule(14, groups, {"a": Placement(0, "m"), "b": Placement(start, "m")}))

    assert [at(start) for start in (3, 4, 6, 7, 9)] == [0, 1, 3, 2, 0]


def test_what_waits_for_less_than_the_latency_does_not_grow() -> None:
    """A matrix op that accumulates waits for its unit alone, whatever its latency."""
    op = Op("a", "op", blocks=(Block("x", 0, 4),), issue_cycles=1, latency=9, asynchronous=True, matrix=True)
    asked = Graph(
        "sum", Limits({"x": 1}, RegisterFile(9, 9)), (GroupKind("g"),), {"a": op}, (Dependence("a", "a", 4, 1),)
    )
    assert slower(asked, 7).ops["a"].latency == 16
    assert slower(asked, 7).dependences[0].latency == 4
    result = answer(asked, Level.ROBUSTNESS)
    assert (result.ii, level(result, Level.ROBUSTNESS).value) == (4, 4)


def robustness(asked: Graph, *objective: Level, ii: int | None = None) -> tuple[SolveResult, LevelResult]:
    """The answer, whose schedule is legal with its latencies grown by the value."""
    result = answer(asked, *objective, ii=ii)
    found = level(result, Level.ROBUSTNESS)
    assert result.schedule is not None
    assert check(slower(asked, found.value), result.schedule).legal
    assert slack(asked, result.schedule) == found.value
    return result, found


def feasible_graphs(seeds: range, intervals: tuple[int, ...]) -> Iterator[tuple[Graph, int]]:
    for seed in seeds:
        asked = random_graph(random.Random(seed), 2)
        ii = next((ii for ii in intervals if feasible(asked, ii, stages=2)), None)
        if ii is not None:
            yield asked, ii


def test_random_graphs_against_everything_tried() -> None:
    """Everything tried has few stages, so it may miss a schedule; one that it finds must be reached."""
    values: list[int] = []
    for asked, ii in feasible_graphs(range(60), (1, 2, 3)):
        _, found = robustness(asked, Level.ROBUSTNESS, ii=ii)
        assert found.proved and 0 <= found.value <= ii
        tried = [cycles for cycles in range(ii + 1) if feasible(slower(asked, cycles), ii, stages=3)]
        assert max(tried) <= found.value
        values.append(found.value)
    assert len(values) > 20 and len(set(values)) > 2


def test_at_the_least_length_against_everything_tried() -> None:
    values: list[int] = []
    for asked, ii in feasible_graphs(range(60), (2, 3)):
        if any(pin.start is not None for pin in asked.pins.values()):
            continue
        result, found = robustness(asked, Level.LENGTH, Level.ROBUSTNESS, ii=ii)
        least = level(result, Level.LENGTH).value
        stages = max(least - 1, 0) // ii + 2
        tried = [
            cycles
            for cycles in range(ii + 1)
            if any(length(asked, one) <= least for one in legal_schedules(slower(asked, cycles), ii, stages))
        ]
        assert (found.value, found.proved) == (max(tried), True)
        values.append(found.value)
    assert len(values) > 20 and len(set(values)) > 2


def test_levels_around_it() -> None:
    """A register peak before it holds with grown latencies; what comes after it counts for them."""
    before, first = robustness(HOPPER, Level.GROUPS, Level.LENGTH, Level.REGISTERS, Level.ROBUSTNESS)
    after, last = robustness(HOPPER, Level.GROUPS, Level.LENGTH, Level.ROBUSTNESS, Level.REGISTERS)
    assert first.value <= last.value
    for result, found in ((before, first), (after, last)):
        assert result.schedule is not None and found.proved
        peaks = check(slower(HOPPER, found.value), result.schedule).peaks.registers
        assert max(peaks.values()) <= level(result, Level.REGISTERS).value
    assert level(before, Level.LENGTH).value == level(after, Level.LENGTH).value


def test_stopped_before_it_there_is_a_gap() -> None:
    events: list[Event] = []
    options = SolveOptions(objective=(Level.II, Level.ROBUSTNESS))
    result = solve(HOPPER, options, events.append, lambda: any(isinstance(event, Incumbent) for event in events))
    found = level(result, Level.ROBUSTNESS)
    assert result.schedule is not None
    assert not found.proved and found.value < found.bound <= result.schedule.ii
    assert check(slower(HOPPER, found.value), result.schedule).legal
