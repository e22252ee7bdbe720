"""The layout of the chart: nothing is lost, nothing overlaps within a row, in both modes."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from chart_cases import BLACKWELL, HOPPER, NAMES, case, random_case

from core.graph.model import Graph
from core.schedule.edits import move_op
from core.schedule.expansion import MOST_INSTANCES, Phase
from core.schedule.model import Schedule
from twill_gui.views.gantt.layout import Bar, GanttMode, LaneKind, Layout, Tail, build_layout

MODES = list(GanttMode)
# Two parameters instead of a hundred: each test of this folder pays for the check that nothing leaks.
CASES = {"kernels": [case(name) for name in NAMES], "random": [random_case(seed) for seed in range(60)]}
Cases = list[tuple[Graph, Schedule]]
EVERY_CASE = pytest.mark.parametrize("cases", CASES.values(), ids=CASES)


def _lane(layout: Layout, kind: LaneKind, name: str) -> int:
    return next(n for n, lane in enumerate(layout.lanes) if (lane.kind, lane.name) == (kind, name))


def _wanted_ranges(
    graph: Graph, schedule: Schedule, layout: Layout
) -> dict[tuple[str, int, int | None], tuple[int, int]]:
    """By op, lane and block number: the range of iteration 0."""
    wanted: dict[tuple[str, int, int | None], tuple[int, int]] = {}
    for op in graph.ops.values():
        place = schedule.ops[op.id]
        wanted[op.id, _lane(layout, LaneKind.GROUP, place.group), None] = (place.start, place.start + op.issue_cycles)
        for number, block in enumerate(op.blocks):
            begin = place.start + place.delay + block.offset
            wanted[op.id, _lane(layout, LaneKind.UNIT, block.unit), number] = (begin, begin + block.duration)
    return wanted


@EVERY_CASE
def test_folded_bars_cover_each_slot_as_often_as_the_op_is_in_flight_there(cases: Cases) -> None:
    for graph, schedule in cases:
        layout = build_layout(graph, schedule, GanttMode.FOLDED)
        assert (layout.start, layout.end) == (0, schedule.ii)
        covered: dict[tuple[str, int, int | None], Counter[int]] = defaultdict(Counter)
        for bar in layout.bars:
            assert 0 <= bar.start <= bar.end <= schedule.ii
            covered[bar.op, bar.lane, bar.block].update(range(bar.start, bar.end))
        for key, (begin, end) in _wanted_ranges(graph, schedule, layout).items():
            assert covered[key] == Counter(cycle % schedule.ii for cycle in range(begin, end))
        assert set(covered) <= set(_wanted_ranges(graph, schedule, layout))


@EVERY_CASE
def test_every_op_and_block_has_a_bar_even_if_it_takes_no_time(cases: Cases) -> None:
    for graph, schedule in cases:
        for mode in MODES:
            layout = build_layout(graph, schedule, mode)
            shown = Counter((bar.op, bar.block) for bar in layout.bars if not bar.continues_left)
            assert set(shown) == {(op.id, n) for op in graph.ops.values() for n in (None, *range(len(op.blocks)))}
            assert set(shown.values()) == {layout.iterations}


@EVERY_CASE
@pytest.mark.parametrize("mode", MODES)
def test_no_two_bars_of_a_row_and_no_two_tails_of_a_track_overlap(cases: Cases, mode: GanttMode) -> None:
    for graph, schedule in cases:
        layout = build_layout(graph, schedule, mode, steady_iterations=5)
        rows: dict[tuple[int, ...], list[Bar | Tail]] = defaultdict(list)
        for bar in layout.bars:
            assert bar.row < len(layout.lanes[bar.lane].tracks)
            rows[bar.lane, bar.row].append(bar)
        for tail in layout.tails:
            assert tail.track < layout.lanes[tail.lane].tracks[tail.row]
            rows[tail.lane, tail.row, tail.track].append(tail)
        for members in rows.values():
            members.sort(key=lambda member: (member.start, member.end))
            for left, right in pairwise(members):
                assert max(left.end, left.start + 1) <= right.start


@EVERY_CASE
def test_unrolled_bars_are_where_the_iterations_run(cases: Cases) -> None:
    for graph, schedule in cases:
        layout = build_layout(graph, schedule, GanttMode.UNROLLED, steady_iterations=4)
        used = [place.start // schedule.ii for place in schedule.ops.values()]
        assert layout.iterations == max(used) - min(used) + 4
        wanted = Counter(
            (op, lane, block, begin + i * schedule.ii, end + i * schedule.ii, i)
            for (op, lane, block), (begin, end) in _wanted_ranges(graph, schedule, layout).items()
            for i in range(layout.iterations)
        )
        assert Counter((b.op, b.lane, b.block, b.start, b.end, b.iteration) for b in layout.bars) == wanted
        assert all(layout.start <= bar.start and bar.end <= layout.end for bar in layout.bars)


@EVERY_CASE
def test_tails_last_from_the_start_until_the_result_is_there(cases: Cases) -> None:
    for graph, schedule in cases:
        waiting = {
            op.id: op.latency + schedule.ops[op.id].delay
            for op in graph.ops.values()
            if op.latency + schedule.ops[op.id].delay > op.issue_cycles
        }
        folded = build_layout(graph, schedule, GanttMode.FOLDED)
        length: Counter[str] = Counter()
        for tail in folded.tails:
            length[tail.op] += tail.end - tail.start
        assert length == Counter(waiting)
        assert Counter(tail.op for tail in folded.tails if tail.ends) == Counter(waiting.keys())
        unrolled = build_layout(graph, schedule, GanttMode.UNROLLED)
        shown = {(tail.op, tail.iteration): (tail.start, tail.end) for tail in unrolled.tails}
        assert shown == {
            (op, i): (schedule.ops[op].start + i * schedule.ii, schedule.ops[op].start + i * schedule.ii + cycles)
            for op, cycles in waiting.items()
            for i in range(unrolled.iterations)
        }


@pytest.mark.parametrize("name", NAMES)
def test_an_op_keeps_its_row_when_the_view_is_unrolled(name: str) -> None:
    graph, schedule = case(name)
    layouts = [build_layout(graph, schedule, mode) for mode in MODES]
    assert layouts[0].lanes == layouts[1].lanes
    rows = [{(bar.op, bar.block, bar.lane, bar.row) for bar in layout.bars} for layout in layouts]
    assert rows[0] == rows[1]


def test_lanes_are_groups_by_kind_then_the_units_in_use() -> None:
    layout = build_layout(*case(BLACKWELL), GanttMode.FOLDED)
    names = [lane.name for lane in layout.lanes]
    assert names[:5] == ["load0", "issue0", "compute0", "compute1", "compute2"]
    assert names[5:] == ["tensor_core", "sfu", "alu", "tma", "tmem"]
    assert [lane.kind for lane in layout.lanes] == [LaneKind.GROUP] * 5 + [LaneKind.UNIT] * 5


def test_a_bar_that_wraps_is_split_with_continuation_marks() -> None:
    layout = build_layout(*case(HOPPER), GanttMode.FOLDED)  # exp1 starts at slot 1828 and issues for 512 cycles
    first, second = (bar for bar in layout.bars if bar.op == "exp1" and bar.block is None)
    assert (first.start, first.end, first.continues_left, first.continues_right) == (1828, 2048, False, True)
    assert (second.start, second.end, second.continues_left, second.continues_right) == (0, 292, True, False)
    assert (first.stage, first.iteration, second.stage, second.iteration) == (1, 1, 1, 2)
    assert first.row == second.row


def test_the_parts_of_an_unrolled_schedule() -> None:
    layout = build_layout(*case(HOPPER), GanttMode.UNROLLED, steady_iterations=3)  # three stages of 2048 cycles
    parts = [(section.phase, section.start, section.end) for section in layout.sections]
    assert parts == [
        (Phase.PROLOGUE, 0, 2 * 2048),
        (Phase.STEADY, 2 * 2048, 5 * 2048),
        (Phase.EPILOGUE, 5 * 2048, 7 * 2048),
    ]


def test_a_schedule_of_millions_of_stages_can_be_unrolled() -> None:
    graph, schedule = case(HOPPER)
    far = move_op(schedule, next(iter(graph.ops)), 10**9)
    layout = build_layout(graph, far, GanttMode.UNROLLED)
    assert 0 < layout.iterations * len(graph.ops) <= MOST_INSTANCES


def test_a_legal_strong_issue_schedule_needs_one_row_per_group() -> None:
    layout = build_layout(*case(HOPPER), GanttMode.FOLDED)
    assert all(len(lane.tracks) == 1 for lane in layout.lanes)
