"""Live ranges and what is drawn of them: the plotted peaks are the judge's peaks."""

from __future__ import annotations

import random

import pytest
from schedule_cases import graph, kernel_schedules, made, tiny_schedules

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.circle import peak, profile, stretches_above
from core.schedule.edits import move_op
from core.schedule.liveness import LiveRange, alive_at, copies_at, live_ranges, profiles, range_steps
from core.schedule.model import Schedule

ALL = [("kernels", name, schedule) for name, schedule in kernel_schedules().items()]
ALL += [("tiny", name, schedule) for name, schedule in tiny_schedules().items()]


def assert_peaks_agree(judged: Graph, schedule: Schedule) -> None:
    drawn, judge = profiles(judged, schedule), check(judged, schedule).peaks
    assert {group: peak(steps).level for group, steps in drawn.registers.items()} == dict(judge.registers)
    assert peak(drawn.shared_memory).level == judge.shared_memory
    assert peak(drawn.tensor_memory).level == judge.tensor_memory
    for steps in (*drawn.registers.values(), drawn.shared_memory, drawn.shared_alive, drawn.tensor_memory):
        slots = [step.slot for step in steps]
        assert slots[0] == 0 and slots == sorted(set(slots)) and slots[-1] < schedule.ii


@pytest.mark.parametrize(("folder", "name", "schedule"), ALL, ids=lambda value: value if isinstance(value, str) else "")
def test_plotted_peaks_are_the_judge_s_also_after_drags(folder: str, name: str, schedule: Schedule) -> None:
    judged = graph(folder, name)
    assert_peaks_agree(judged, schedule)
    chance = random.Random(name)
    for _ in range(10):
        op = chance.choice(list(schedule.ops))
        start = max(0, schedule.ops[op].start + chance.randint(-schedule.ii, schedule.ii))
        schedule = move_op(schedule, op, start, chance.choice(list(schedule.groups)))
        assert_peaks_agree(judged, schedule)


CASE = made(
    "machine: {registers: {file_words: 9999, max_per_thread: 99, overhead: 3}, shared_memory_bytes: 999,\n"
    "          tensor_memory_columns: 99, fixed_shared_bytes: 7}\n"
    "groups: [{kind: g, count: 2}]\n"
    "ops:\n"
    "  tile: {latency: 4, result: {space: shared, amount: 10}}\n"
    "  columns: {latency: 6, result: {space: tensor, amount: 5}}\n"
    "  value: {latency: 2, hand_off_cycles: 3, hand_off_bytes: 20, result: {space: registers, amount: 8}}\n"
    "  unread: {latency: 3, result: {space: registers, amount: 1}}\n"
    "  here: {issue_cycles: 1}\n"
    "  there: {issue_cycles: 2}\n"
    "dependences:\n"
    "  - {from: tile, to: here, latency: 4, release: 1}\n"
    "  - {from: value, to: here, latency: 2, distance: 1}\n"
    "  - {from: value, to: there, latency: 2}\n"
    "  - {from: value, to: value, latency: 2, distance: 1, release: 0}\n",
    "ii: 10\ngroups: {one: {kind: g, grant: 30}, two: {kind: g, grant: 30}}\n"
    "ops: {tile: {start: 1, group: one}, columns: {start: 8, group: one}, value: {start: 3, group: one},\n"
    "      unread: {start: 9, group: two}, here: {start: 14, group: one}, there: {start: 8, group: two}}\n",
)


def test_live_ranges_by_the_definitions() -> None:
    live = live_ranges(CASE.graph, CASE.schedule)
    # here reads it at 14 + 10 until 25; the hand-off would end at 3 + 2 + 3; there holds a copy from 8 to 10
    assert set(live.registers["one"]) == {LiveRange("value", 3, 25, 8)}
    assert set(live.registers["two"]) == {LiveRange("value", 8, 10, 8, "there"), LiveRange("unread", 9, 12, 1)}
    assert live.tensor == [LiveRange("columns", 8, 14, 5)]
    ring, buffer = live.rings["tile"], live.hand_offs["value"]
    assert (ring.begin, ring.end, ring.amount, ring.depth, ring.least_depth) == (1, 15, 10, 2, 2)
    assert (buffer.begin, buffer.end, buffer.amount, buffer.depth) == (3, 10, 20, 1)
    assert live.shared_bytes(fixed=7) == 7 + 2 * 10 + 20


def test_profiles_by_hand() -> None:
    drawn = profiles(CASE.graph, CASE.schedule)
    # value: 22 cycles over 10: twice everywhere, three times at slots 3 and 4; three registers are kept back
    assert drawn.registers["one"] == [(0, 19), (3, 27), (5, 19)]
    assert drawn.registers["two"] == [(0, 4), (2, 3), (8, 11), (9, 12)]
    assert drawn.tensor_memory == [(0, 5), (4, 0), (8, 5)]
    assert drawn.shared_memory == [(0, 47)]
    # tile [1, 15): once everywhere, twice at slots 1 to 4; the buffer at slots 3 to 9
    assert drawn.shared_alive == [(0, 17), (1, 27), (3, 47), (5, 37)]


def test_who_is_alive_at_a_slot() -> None:
    live = live_ranges(CASE.graph, CASE.schedule)
    assert [(held.value, copies) for held, copies in alive_at(live.registers["one"], 4, 10)] == [("value", 3)]
    assert [held.value for held, _ in alive_at(live.registers["two"], 9, 10)] == ["value", "unread"]
    assert alive_at(live.registers["two"], 5, 10) == []


@pytest.mark.parametrize("seed", range(5))
def test_profiles_count_copies_as_defined(seed: int) -> None:
    """Copies at slot r of [a, b): the integers k with a <= r + k * II < b."""
    chance = random.Random(seed)
    for _ in range(100):
        ii = chance.randint(1, 9)
        ranges = [
            LiveRange(str(number), begin := chance.randint(0, 30), begin + chance.randint(-3, 30), chance.randint(0, 4))
            for number in range(chance.randint(0, 5))
        ]
        levels = [
            sum(held.amount for held in ranges for k in range(-40, 80) if held.begin <= slot + k * ii < held.end)
            for slot in range(ii)
        ]
        steps = range_steps(ranges, ii)
        drawn = [next(step.level for step in reversed(steps) if step.slot <= slot) for slot in range(ii)]
        assert drawn == levels
        assert [sum(r.amount * copies_at(r, slot, ii) for r in ranges) for slot in range(ii)] == levels
        limit = chance.randint(0, 8)
        covered = {slot % ii for s in stretches_above(steps, limit, ii) for slot in range(s.first, s.last)}
        assert covered == {slot for slot, level in enumerate(levels) if level > limit}
        for stretch in stretches_above(steps, limit, ii):
            inside = [levels[slot % ii] for slot in range(stretch.first, stretch.last)]
            assert stretch.peak == max(inside) == levels[stretch.at]


def test_stretches_join_around_the_end_of_the_interval() -> None:
    steps = profile([(8, 12, 1), (4, 5, 1)], 10)
    assert [(s.first, s.last) for s in stretches_above(steps, 0, 10)] == [(8, 12), (4, 5)]
