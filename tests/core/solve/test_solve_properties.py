"""Random graphs against everything tried, and what must hold between the answers to related graphs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from solve_brute_force import feasible, random_graph
from solve_cases import answer, expected, graph, level

from core.graph.model import (
    Block,
    Dependence,
    DependenceKind,
    Graph,
    GroupKind,
    InOrderIssue,
    Op,
    Pin,
    Pool,
    RegisterFile,
    Result,
    Rules,
    Space,
)
from core.schedule.check import check
from core.schedule.metrics import hand_offs, length, stages, used_groups
from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.events import DEFAULT_OBJECTIVE, Level, Status, Verdict
from core.solve.problem import make_problem, monotone

FEASIBLE_TINY = [name for name, case in expected("tiny").items() if case["least_ii"] is not None]


def verdict(asked: Graph, ii: int) -> Verdict:
    """A feasible one carries a schedule that the judge has accepted."""
    return Decider(make_problem(asked), Budget(1000.0, lambda: False), seed=1).decide(ii).entry.verdict


def compare_with_everything_tried(seeds: range, most_ops: int) -> None:
    """Everything tried has few stages, so it may miss a schedule; one that it finds must be found."""
    seen: set[Verdict] = set()
    for seed in seeds:
        asked = random_graph(random.Random(seed), most_ops)
        for ii in (1, 2, 3):
            found = verdict(asked, ii)
            seen.add(found)
            if found is Verdict.INFEASIBLE:
                assert not feasible(asked, ii, stages=3 if len(asked.ops) == 2 else 2), (seed, ii)
    assert seen == {Verdict.FEASIBLE, Verdict.INFEASIBLE}


def test_random_graphs_against_everything_tried() -> None:
    compare_with_everything_tried(range(60), most_ops=3)


@pytest.mark.long
def test_many_random_graphs_against_everything_tried() -> None:
    compare_with_everything_tried(range(1000, 2500), most_ops=3)


@pytest.mark.parametrize("name", ["fa_fwd_hopper_2x64", "layer_norm", "fa_fwd_hopper_1x128"])
def test_names_and_order_of_the_text_do_not_matter(name: str) -> None:
    asked = graph("kernels", name)
    other = answer(renamed(asked), Level.LENGTH)
    assert other.ii == expected("kernels")[name]["least_ii"]
    assert level(other, Level.LENGTH).value == expected("kernels")[name]["least_length"]


def renamed(asked: Graph) -> Graph:
    """Other names of ops and kinds, and all in another order."""
    chance = random.Random(5)
    ops = list(asked.ops.values())
    chance.shuffle(ops)
    names = {op.id: f"v{number}" for number, op in enumerate(ops)}
    dependences = [replace(d, source=names[d.source], target=names[d.target]) for d in asked.dependences]
    chance.shuffle(dependences)
    return replace(
        asked,
        ops={names[op.id]: replace(op, id=names[op.id]) for op in ops},
        dependences=tuple(dependences),
        groups=tuple(replace(kind, kind=f"k{number}") for number, kind in enumerate(reversed(asked.groups))),
    )


@pytest.mark.parametrize("name", FEASIBLE_TINY[::4])
def test_scaling_all_cycles_scales_the_least_interval(name: str) -> None:
    """Once stages and orders are fixed, starts are bound by differences alone, which scale."""
    least = expected("tiny")[name]["least_ii"]
    larger = scaled(graph("tiny", name), 100)
    assert verdict(larger, 100 * least) is Verdict.FEASIBLE
    if least > 1:
        assert verdict(larger, 100 * (least - 1)) is Verdict.INFEASIBLE


def scaled(asked: Graph, factor: int) -> Graph:
    def op(one: Op) -> Op:
        return replace(
            one,
            blocks=tuple(Block(b.unit, factor * b.offset, factor * b.duration, b.amount) for b in one.blocks),
            issue_cycles=factor * one.issue_cycles,
            latency=factor * one.latency,
            hand_off_cycles=factor * one.hand_off_cycles,
            queue=factor * one.queue,
        )

    return replace(
        asked,
        ops={name: op(one) for name, one in asked.ops.items()},
        dependences=tuple(
            replace(d, latency=factor * d.latency, release=factor * d.release) for d in asked.dependences
        ),
    )


def whole_search(asked: Graph) -> tuple[Status, int | None]:
    result = answer(asked, max_ii=12)
    return result.status, result.ii


@pytest.mark.parametrize("seed", range(12))
def test_a_pin_that_only_rotates_changes_nothing(seed: int) -> None:
    """Starts mean something only relative to one another: an op may start at any cycle, if the others may follow."""
    chance = random.Random(seed)
    asked = graph("tiny", chance.choice([name for name in FEASIBLE_TINY if not graph("tiny", name).pins]))
    schedule = answer(asked).schedule
    assert schedule is not None
    op = chance.choice(list(asked.ops))
    for start in (schedule.ops[op].start + cycles for cycles in (0, 1, schedule.ii, 3 * schedule.ii + 1)):
        assert whole_search(replace(asked, pins={op: Pin(start=start)})) == (Status.OPTIMAL, schedule.ii)
    shift = chance.randint(1, 3 * schedule.ii)
    rotated = {name: replace(place, start=place.start + shift) for name, place in schedule.ops.items()}
    assert check(asked, replace(schedule, ops=rotated)).legal


@pytest.mark.parametrize("name", FEASIBLE_TINY[::6])
def test_other_names_and_another_order_leave_the_least_interval(name: str) -> None:
    asked = graph("tiny", name)
    if not asked.pins:
        assert whole_search(renamed(asked)) == whole_search(asked)


@pytest.mark.parametrize("name", FEASIBLE_TINY[::10])
def test_scaled_by_100_the_whole_search_finds_the_scaled_answer(name: str) -> None:
    """A finer clock may lower II below the next multiple, where it is rounded up, but not beyond; at the multiple
    itself nothing changes, L included."""
    once = answer(graph("tiny", name), Level.LENGTH)
    larger = scaled(graph("tiny", name), 100)
    finer = answer(larger)
    assert once.ii is not None and finer.ii is not None
    assert finer.status is Status.OPTIMAL
    assert 100 * (once.ii - 1) < finer.ii <= 100 * once.ii
    same = answer(larger, Level.LENGTH, ii=100 * once.ii)
    assert level(same, Level.LENGTH).value == 100 * level(once, Level.LENGTH).value


@pytest.mark.parametrize("seed", range(40))
def test_a_constraint_more_never_lowers_the_interval(seed: int) -> None:
    chance = random.Random(seed)
    asked = graph("tiny", chance.choice(FEASIBLE_TINY))
    harder = constrained(asked, chance)
    for ii in range(1, 8):
        if verdict(harder, ii) is Verdict.FEASIBLE:
            assert verdict(asked, ii) is Verdict.FEASIBLE
            return


def constrained(asked: Graph, chance: random.Random) -> Graph:
    names = list(asked.ops)
    machine = asked.machine
    match chance.randrange(6):
        case 0:
            extra = Dependence(*chance.choices(names, k=2), chance.randint(0, 3), 1, DependenceKind.ORDER)
            return replace(asked, dependences=(*asked.dependences, extra))
        case 1:
            fewer = tuple(replace(kind, count=max(1, kind.count - 1)) for kind in asked.groups)
            return replace(asked, groups=fewer)
        case 2:
            file = replace(machine.registers, max_per_thread=machine.registers.max_per_thread // 2)
            return replace(asked, machine=replace(machine, registers=file))
        case 3:
            return replace(asked, machine=replace(machine, shared_memory_bytes=machine.shared_memory_bytes // 2))
        case 4:
            return replace(asked, rules=replace(asked.rules, allow_hand_off=False))
        case _:
            return replace(asked, rules=replace(asked.rules, in_order_issue=InOrderIssue.STRONG))


@pytest.mark.parametrize("seed", range(30))
def test_monotone_in_the_interval(seed: int) -> None:
    asked = random_graph(random.Random(seed), 4)
    verdicts = [verdict(asked, ii) for ii in range(1, 7)]
    if monotone(asked):
        first = verdicts.index(Verdict.FEASIBLE) if Verdict.FEASIBLE in verdicts else len(verdicts)
        assert set(verdicts[first:]) <= {Verdict.FEASIBLE}


@pytest.mark.parametrize("seed", range(60))
def test_ranges_are_excluded_only_if_every_interval_is(seed: int) -> None:
    """Also with blocks after their op's start and with delays, where feasibility is not monotone."""
    asked = random_graph(random.Random(seed), 3)
    asked = replace(asked, pins={op: Pin(group=pin.group) for op, pin in asked.pins.items() if pin.group})
    decider = Decider(make_problem(asked), Budget(1000.0, lambda: False), seed=1)
    for lowest, highest in [(1, 3), (2, 4), (2, 6)]:
        if decider.exclude(lowest, highest).verdict is Verdict.INFEASIBLE:
            assert {verdict(asked, ii) for ii in range(lowest, highest + 1)} == {Verdict.INFEASIBLE}


def test_an_interval_that_a_wider_one_does_not_follow() -> None:
    """Two blocks of one op, three cycles apart, meet in an interval of three but not in one of two."""
    op = Op("a", "op", blocks=(Block("x", 0, 1), Block("x", 3, 1)), issue_cycles=1, latency=1)
    tiny = graph("tiny", FEASIBLE_TINY[0])
    asked = replace(
        tiny,
        machine=replace(tiny.machine, units={"x": 1}),
        ops={"a": op},
        dependences=(),
    )
    assert [verdict(asked, ii) for ii in (1, 2, 3, 4)] == [
        Verdict.INFEASIBLE,
        Verdict.FEASIBLE,
        Verdict.INFEASIBLE,
        Verdict.FEASIBLE,
    ]
    assert (answer(asked).status, answer(asked).ii) == (Status.OPTIMAL, 2)


@pytest.mark.parametrize("name", ["fa_fwd_hopper_1x128", "layer_norm", "fa_fwd_hopper_2x64"])
def test_levels_are_those_of_the_schedule_and_keep_their_order(name: str) -> None:
    asked = graph("kernels", name)
    result = answer(asked, Level.GROUPS, Level.HAND_OFFS, Level.LENGTH, Level.REGISTERS, Level.STAGES)
    assert [one.name for one in result.levels] == list(DEFAULT_OBJECTIVE)
    assert all(one.proved and one.bound == one.value for one in result.levels)
    schedule = result.schedule
    assert schedule is not None
    crossing = hand_offs(asked, schedule)
    values = {one.name: one.value for one in result.levels}
    assert values[Level.GROUPS] == len(used_groups(schedule))
    assert (values[Level.HAND_OFFS], level(result, Level.HAND_OFFS).detail) == (len(crossing.values), crossing.bytes)
    assert values[Level.LENGTH] == length(asked, schedule)
    assert values[Level.STAGES] == stages(schedule)
    assert min(place.start for place in schedule.ops.values()) == 0
    first = answer(asked, Level.LENGTH, Level.GROUPS)
    assert level(first, Level.LENGTH).value <= values[Level.LENGTH]
    assert level(first, Level.GROUPS).value >= values[Level.GROUPS]


def test_small_groups_are_named_so_that_they_pack_well() -> None:
    """Groups of 3, 2 and 1 warps, named in this order, would be two warp groups of 16 registers a thread each; the
    file has room for one of 16 and one of 8, which is what 3 and 1 warps, then 2, take."""
    tiny = graph("tiny", FEASIBLE_TINY[0])
    sizes = {"a": (3, 16), "b": (2, 8), "c": (1, 16)}
    file = RegisterFile(file_words=128 * 24, max_per_thread=32, pool=Pool.WARPGROUP)
    ops = {
        name: Op(name, "op", warps, issue_cycles=1, latency=1, result=Result(Space.REGISTERS, amount))
        for name, (warps, amount) in sizes.items()
    }
    asked = replace(
        tiny,
        machine=replace(tiny.machine, registers=file),
        groups=tuple(GroupKind(name, warps) for name, (warps, _) in sizes.items()),
        ops=ops,
        dependences=(),
        rules=Rules(),
    )
    result = answer(asked, ii=1)
    assert result.schedule is not None
    assert {group.kind: group.grant for group in result.schedule.groups.values()} == {"a": 16, "b": 8, "c": 16}
    assert [result.schedule.groups[name].kind for name in sorted(result.schedule.groups)] in (
        ["a", "c", "b"],
        ["c", "a", "b"],
        ["b", "a", "c"],
        ["b", "c", "a"],
    )
    smaller = replace(asked, machine=replace(tiny.machine, registers=replace(file, file_words=128 * 22)))
    assert answer(smaller, ii=1).status is Status.INFEASIBLE
