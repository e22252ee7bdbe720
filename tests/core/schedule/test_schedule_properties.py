"""What must hold of any schedule: rotation, renaming, scaling, more room, a wider interval."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedule_cases import graph, kernel_schedules, tiny_schedules
from schedule_fitted import fitted, random_schedule

from core.graph.model import Block, Graph, Limits
from core.schedule.check import check
from core.schedule.edits import rename_group, set_ii, shift
from core.schedule.metrics import length
from core.schedule.model import Placement, Schedule
from core.schedule.report import Report

LEGAL = [(graph("tiny", name), schedule) for name, schedule in tiny_schedules().items()]
LEGAL += [(graph("kernels", name), schedule) for name, schedule in kernel_schedules().items()]

legal_cases = st.sampled_from(LEGAL)


@st.composite
def any_cases(draw: st.DrawFn) -> tuple[Graph, Schedule]:
    """A reference schedule with some ops moved: legal or not."""
    judged, schedule = draw(legal_cases)
    names = draw(st.lists(st.sampled_from(list(schedule.ops)), max_size=3, unique=True))
    places = dict(schedule.ops)
    for name in names:
        start = draw(st.integers(0, 3 * schedule.ii + 20))
        places[name] = Placement(start, draw(st.sampled_from(list(schedule.groups))))
    return judged, replace(schedule, ops=places)


def facts(report: Report) -> list[tuple]:
    """The violations without what depends on where the interval begins."""
    return sorted((v.family.value, sorted(v.ops), v.required, v.available) for v in report.violations)


def without_place(found: list[tuple]) -> set[str]:
    return {family for family, *_ in found}


@settings(max_examples=150, deadline=None)
@given(any_cases(), st.integers(0, 5000))
def test_a_later_begin_changes_nothing(case: tuple[Graph, Schedule], cycles: int) -> None:
    """Without pinned starts all rules depend on differences of starts only."""
    judged, schedule = case
    one, other = check(judged, schedule), check(judged, shift(schedule, cycles))
    assert without_place(facts(one)) == without_place(facts(other))
    assert one.peaks == other.peaks


@settings(max_examples=100, deadline=None)
@given(any_cases(), st.integers(1, 3))
def test_rotation_by_whole_intervals_changes_no_violation(case: tuple[Graph, Schedule], turns: int) -> None:
    judged, schedule = case
    assert facts(check(judged, schedule)) == facts(check(judged, shift(schedule, turns * schedule.ii)))


@settings(max_examples=100, deadline=None)
@given(any_cases(), st.randoms(use_true_random=False))
def test_names_mean_nothing(case: tuple[Graph, Schedule], chance) -> None:
    judged, schedule = case
    numbers = list(range(len(judged.ops)))
    chance.shuffle(numbers)
    new = {name: f"op.{number}" for name, number in zip(judged.ops, numbers, strict=True)}
    renamed = replace(
        judged,
        ops={new[name]: replace(op, id=new[name]) for name, op in judged.ops.items()},
        dependences=tuple(replace(d, source=new[d.source], target=new[d.target]) for d in judged.dependences),
    )
    moved = replace(
        schedule,
        ops={new[name]: place for name, place in schedule.ops.items()},
        rings={new[name]: depth for name, depth in schedule.rings.items()},
    )
    for group in schedule.groups:
        moved = rename_group(moved, group, f"{group}.renamed")
    one, other = check(judged, schedule), check(renamed, moved)
    old = {name: op for op, name in new.items()}
    back = [replace(v, ops=tuple(old[op] for op in v.ops)) for v in other.violations]
    assert facts(one) == facts(replace(other, violations=tuple(back)))
    assert sorted(one.peaks.registers.values()) == sorted(other.peaks.registers.values())


@settings(max_examples=100, deadline=None)
@given(any_cases(), st.integers(2, 100))
def test_finer_cycles_change_nothing(case: tuple[Graph, Schedule], factor: int) -> None:
    judged, schedule = case
    ops = {
        name: replace(
            op,
            latency=factor * op.latency,
            issue_cycles=factor * op.issue_cycles,
            hand_off_cycles=factor * op.hand_off_cycles,
            blocks=tuple(Block(b.unit, factor * b.offset, factor * b.duration, b.amount) for b in op.blocks),
        )
        for name, op in judged.ops.items()
    }
    dependences = tuple(replace(d, latency=factor * d.latency, release=factor * d.release) for d in judged.dependences)
    fine = replace(judged, ops=ops, dependences=dependences)
    places = {name: replace(place, start=factor * place.start) for name, place in schedule.ops.items()}
    stretched = replace(schedule, ii=factor * schedule.ii, ops=places)
    one, other = check(judged, schedule), check(fine, stretched)
    assert [(v.family, v.ops) for v in one.violations] == [(v.family, v.ops) for v in other.violations]
    assert one.peaks == other.peaks
    assert length(fine, stretched) == factor * length(judged, schedule)


@settings(max_examples=100, deadline=None)
@given(any_cases())
def test_more_of_everything_breaks_nothing_new(case: tuple[Graph, Schedule]) -> None:
    judged, schedule = case
    machine = judged.machine
    richer = Limits(
        {unit: capacity + 1 for unit, capacity in machine.units.items()},
        replace(machine.registers, file_words=2 * machine.registers.file_words),
        machine.shared_memory_bytes + 64,
        machine.tensor_memory_columns + 64,
        machine.fixed_shared_bytes,
    )
    one, other = check(judged, schedule), check(replace(judged, machine=richer), schedule)
    assert {(v.family, v.subject, v.ops) for v in other.violations if v.family.value == "dependence"} <= {
        (v.family, v.subject, v.ops) for v in one.violations
    }
    assert without_place(facts(other)) <= without_place(facts(one))


@pytest.mark.parametrize("seed", range(4))
def test_a_wider_interval_keeps_a_legal_schedule_legal(seed: int) -> None:
    """Stage and slot stay, t = II * stage + slot, as long as all blocks of an op begin with it."""
    chance = random.Random(seed)
    for _ in range(250):
        judged, schedule = fitted(chance, *random_schedule(chance, latest_offset=0))
        for more in (1, 2, 7):
            assert check(judged, set_ii(schedule, schedule.ii + more)).legal, (judged, schedule)


def test_a_block_with_an_offset_may_make_a_wider_interval_impossible() -> None:
    """The format's remark that there are no gaps above the least II does not cover such blocks: one op that uses a
    unit of capacity 1 in its cycles 0 and 3 fits at II 2 and 4, and not at 3."""
    judged, schedule = next(case for case in LEGAL if case[0].name == "t004")
    op = replace(
        next(iter(judged.ops.values())), blocks=(Block("x", 0, 1), Block("x", 3, 1)), issue_cycles=0, latency=1
    )
    alone = replace(judged, ops={op.id: op}, dependences=(), machine=replace(judged.machine, units={"x": 1}))
    place = schedule.ops[op.id]
    fits = [
        ii
        for ii in range(1, 8)
        if not any(
            v.family.value == "unit"
            for v in check(alone, replace(schedule, ii=ii, ops={op.id: place}, rings={})).violations
        )
    ]
    assert fits == [2, 4, 5, 6, 7]
