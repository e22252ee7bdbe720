"""The shared time axis and its numbers."""

from __future__ import annotations

import pytest

from twill_gui.views.timeline.axis import MARGIN_PX, TimeAxis
from twill_gui.views.timeline.occupancy import occupancy
from twill_gui.views.timeline.ticks import grouped, tick_step, ticks


@pytest.fixture
def axis() -> TimeAxis:
    axis = TimeAxis()
    axis.set_width(1000)
    axis.set_content(0, 2048)
    return axis


def test_the_whole_content_is_shown_with_a_margin_at_both_ends(axis: TimeAxis) -> None:
    assert axis.x(0) == pytest.approx(MARGIN_PX)
    assert axis.x(2048) == pytest.approx(1000 - MARGIN_PX)


def test_zoom_keeps_the_time_under_the_cursor(axis: TimeAxis) -> None:
    for x in (200.0, 500.0, 700.0):
        time = axis.time(x)
        axis.zoom(1.5, time)
        assert axis.x(time) == pytest.approx(x)
    axis.zoom(1 / 1.1, axis.time(450.0))
    assert axis.start > 0 and axis.end < 2048


def test_zoom_out_ends_where_everything_is_shown(axis: TimeAxis) -> None:
    widest = axis.start, axis.end
    axis.zoom(4, 100)
    for _ in range(20):
        axis.zoom(0.5, 700)
    assert (axis.start, axis.end) == widest


def test_zoom_in_ends_at_two_cycles(axis: TimeAxis) -> None:
    for _ in range(60):
        axis.zoom(2, 1000)
    assert axis.end - axis.start == pytest.approx(2)
    assert axis.start <= 1000 <= axis.end


def test_pan_stops_at_the_ends(axis: TimeAxis) -> None:
    axis.show_range(500, 700)
    axis.pan(-100)
    assert (axis.start, axis.end) == (400, 600)
    axis.pan(-1e9)
    assert axis.start == pytest.approx(axis.widest[0]) and axis.end - axis.start == pytest.approx(200)
    axis.pan(1e9)
    assert axis.end == pytest.approx(axis.widest[1]) and axis.end - axis.start == pytest.approx(200)


def test_more_content_is_fitted_only_while_everything_was_shown(axis: TimeAxis) -> None:
    axis.set_content(0, 4096)
    assert axis.x(4096) == pytest.approx(1000 - MARGIN_PX)
    axis.show_range(100, 300)
    axis.set_content(0, 5000)
    assert (axis.start, axis.end) == (100, 300)
    axis.set_width(500)
    assert (axis.start, axis.end) == (100, 300)
    axis.set_content(9000, 9500)
    assert axis.x(9000) == pytest.approx(MARGIN_PX)


def test_an_interval_of_one_cycle_can_be_shown(axis: TimeAxis) -> None:
    axis.fit()
    axis.set_content(0, 1)
    assert axis.x(1) - axis.x(0) == pytest.approx(1000 - 2 * MARGIN_PX)


def test_changes_are_told_and_non_changes_are_not(axis: TimeAxis) -> None:
    told: list[int] = []
    axis.changed.connect(lambda: told.append(1))
    axis.show_range(100, 300)
    axis.show_range(100, 300)
    axis.set_width(1000)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("span", "count", "step"), [(2048, 12, 200), (10, 12, 1), (1, 12, 1), (100_000, 10, 10_000), (1001, 10, 200)]
)
def test_tick_steps_are_round(span: float, count: float, step: int) -> None:
    assert tick_step(span, count) == step


def test_ticks_lie_within_the_range() -> None:
    assert list(ticks(-3.5, 41.0, 10)) == [0, 10, 20, 30, 40]
    assert list(ticks(7.2, 8.9, 1)) == [8]


def test_digits_are_grouped() -> None:
    assert grouped(1234567) == "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567"
    assert grouped(-1234) == "-1\N{NARROW NO-BREAK SPACE}234"


@pytest.mark.parametrize("iterations", [None, 1, 4])
def test_copies_are_counted_as_by_hand(iterations: int | None) -> None:
    ii, used = 7, range(-9, 40) if iterations is None else range(iterations or 0)
    ranges = [(begin, end) for begin in range(0, 16, 5) for end in range(begin - 1, begin + 20, 4)]
    times, counts = occupancy(ranges, ii, iterations, 3, 40)
    assert (times[0], times[-1]) == (3, 40)
    for number, (begin, end) in enumerate(ranges):
        shown = [
            count for count, cycles in zip(counts[number], times[1:] - times[:-1], strict=True) for _ in range(cycles)
        ]
        assert shown == [sum(begin + i * ii <= cycle < end + i * ii for i in used) for cycle in range(3, 40)]
