"""The first N structurally different optima, against all schedules there are."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from solve_brute_force import legal_schedules
from solve_cases import expected, graph

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, RegisterFile, Result, Rules, Space
from core.schedule.check import check
from core.schedule.metrics import length, used_groups
from core.schedule.model import Placement, Schedule, ScheduledGroup
from core.solve.events import Level, SolveOptions, SolveResult, Status
from core.solve.solve import solve
from core.solve.structure import Structure, structure

HOPPER = graph("kernels", "fa_fwd_hopper_2x64")


def ask(asked: Graph, best: int, *objective: Level) -> SolveResult:
    """The answer; its schedules are legal optima of pairwise different structure."""
    result = solve(asked, SolveOptions(objective=(Level.II, *objective), best=best, limit_s=120))
    assert len(result.schedules) <= best
    assert result.schedules == () or result.schedules[0] == result.schedule
    assert len({structure(asked, one) for one in result.schedules}) == len(result.schedules)
    for one in result.schedules:
        assert check(asked, one).legal and one.ii == result.ii
        assert one.origin is not None and one.origin.status == result.status.value
    return result


def random_loop(chance: random.Random) -> Graph:
    """Four ops on one unit or two, no two of them interchangeable."""
    names = "abcd"
    ops = {
        name: Op(
            name,
            f"kind {name}",
            blocks=(Block(chance.choice("xxxxy"), 0, 1),),
            issue_cycles=chance.randint(0, 1),
            latency=chance.randint(1, 3),
            result=Result(chance.choice([Space.REGISTERS, Space.NONE]), chance.choice([3, 4, 5])),
            hand_off_cycles=chance.randint(0, 1),
        )
        for name in names
    }
    edges = [
        Dependence(one, other, ops[one].latency, release=1)
        for one, other in [chance.choice(["ab", "ac", "bc"]), chance.choice(["bd", "cd", "ad"])]
    ]
    if chance.random() < 0.5:
        edges.append(Dependence("d", "a", ops["d"].latency, chance.randint(1, 2), release=1))
    machine = Limits({"x": 1, "y": 1}, RegisterFile(32 * 20, 14), 100)
    return Graph("loop", machine, (GroupKind("g", 1, chance.randint(1, 2)),), ops, tuple(edges), Rules())


@pytest.mark.parametrize("seed", range(14))
def test_all_structures_of_least_length(seed: int) -> None:
    asked = random_loop(random.Random(seed))
    result = ask(asked, 1000, Level.LENGTH)
    assert result.status is Status.OPTIMAL and result.schedules_complete and result.ii is not None
    least = result.levels[1].value
    stages = -(-least // result.ii) + 1
    every = {structure(asked, one) for one in legal_schedules(asked, result.ii, stages) if length(asked, one) == least}
    assert {structure(asked, one) for one in result.schedules} == every


@pytest.mark.parametrize("seed", range(14, 22))
def test_no_structure_of_the_least_interval_is_missing(seed: int) -> None:
    asked = random_loop(random.Random(seed))
    result = ask(asked, 1000)
    assert result.schedules_complete and result.ii is not None
    found = {structure(asked, one) for one in result.schedules}
    assert {structure(asked, one) for one in legal_schedules(asked, result.ii, 2)} <= found
    fewer = ask(asked, max(2, len(found) - 1))
    assert fewer.schedules_complete == (len(fewer.schedules) == len(found))


def test_other_optima_of_attention_keep_every_level() -> None:
    result = ask(HOPPER, 3, Level.GROUPS, Level.LENGTH)
    assert len(result.schedules) == 3
    least = expected("kernels")["fa_fwd_hopper_2x64"]
    for one in result.schedules:
        assert (one.ii, length(HOPPER, one)) == (least["least_ii"], least["least_length"])
        assert len(used_groups(one)) == result.levels[1].value


def moved(schedule: Schedule, cycles: int) -> Schedule:
    ops = {
        op: replace(place, start=place.start + cycles, group=f"g{place.group}") for op, place in schedule.ops.items()
    }
    return replace(schedule, groups={f"g{name}": group for name, group in schedule.groups.items()}, ops=ops)


@pytest.mark.parametrize("cycles", [1, 700, 2048, 5000])
def test_rotation_and_names_are_no_structure(cycles: int) -> None:
    schedule = ask(HOPPER, 1).schedule
    assert schedule is not None
    assert check(HOPPER, moved(schedule, cycles)).legal
    assert structure(HOPPER, moved(schedule, cycles)) == structure(HOPPER, schedule)


def test_order_and_grouping_are_structure() -> None:
    ops = {name: Op(name, "op", blocks=(Block("x", 0, 2),), latency=2) for name in "abc"}
    asked = Graph("three", Limits({"x": 1}, RegisterFile(999, 9)), (GroupKind("g", 1, 2), GroupKind("h", 1, 1)), ops)

    def placed(starts: tuple[int, int, int], groups: str = "mmm", kind: str = "g") -> Structure:
        kinds = {"m": kind, "n": "g"}
        return structure(
            asked,
            Schedule(
                6,
                {name: ScheduledGroup(kinds[name], 0) for name in sorted(set(groups))},
                {op: Placement(start, group) for op, start, group in zip("abc", starts, groups, strict=True)},
            ),
        )

    assert placed((0, 2, 4)) == placed((2, 4, 6)) == placed((4, 0, 8)) == placed((0, 2, 10))
    assert placed((0, 2, 4)) != placed((0, 4, 2))
    assert placed((0, 2, 4), "mmn") == placed((0, 2, 4), "nnm") != placed((0, 2, 4), "mnn")
    assert placed((0, 2, 4), "mmn") != placed((0, 2, 4)) != placed((0, 2, 4), kind="h")


def test_without_time_the_list_is_not_complete() -> None:
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > 300

    result = solve(HOPPER, SolveOptions(objective=(Level.II,), best=50), stopped=stopped)
    assert not result.schedules_complete
