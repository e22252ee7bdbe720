"""The chart under real keys."""

from __future__ import annotations

import pytest
from chart_cases import HOPPER, case
from chart_driver import Chart
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from twill_gui.views.gantt import GanttMode

K = Qt.Key
ALT, SHIFT = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier
START = case(HOPPER)[1].ops["exp0"].start


def test_w_and_s_zoom_at_the_cursor_a_and_d_pan_home_fits(chart: Chart) -> None:
    axis = chart.view.axis
    whole = axis.start, axis.end
    chart.move(QPoint(300, 50))
    time = axis.time(300)
    chart.key(K.Key_W)
    chart.key(K.Key_W)
    assert axis.x(time) == pytest.approx(300)
    assert axis.end - axis.start == pytest.approx((whole[1] - whole[0]) / 1.25**2)
    start = axis.start
    chart.key(K.Key_D)
    assert axis.start == pytest.approx(start + (axis.end - axis.start) / 5)
    chart.key(K.Key_A)
    assert axis.start == pytest.approx(start)
    chart.key(K.Key_S)
    assert axis.end - axis.start == pytest.approx((whole[1] - whole[0]) / 1.25)
    chart.key(K.Key_Home)
    assert (axis.start, axis.end) == whole


def test_f_centres_the_selection_then_fits_it(chart: Chart) -> None:
    axis = chart.view.axis
    chart.view.set_selection(frozenset({"scale0"}))  # slots 689 to 753
    axis.show_range(300, 1000)
    chart.key(K.Key_F)
    assert (axis.start + axis.end) / 2 == pytest.approx(721)
    assert axis.end - axis.start == pytest.approx(700)
    chart.key(K.Key_F)
    assert (axis.start + axis.end) / 2 == pytest.approx(721)
    assert 64 < axis.end - axis.start < 128


def test_neighbours_on_the_lane_by_slot_around_the_end(chart: Chart) -> None:
    schedule = case(HOPPER)[1]
    lane = sorted((op for op, place in schedule.ops.items() if place.group == "compute0"), key=schedule.slot)
    chart.click(chart.point(lane[0]))
    for op in [*lane[1:], lane[0]]:
        chart.key(K.Key_Period)
        assert chart.selections[-1] == {op}
    chart.key(K.Key_Comma)
    assert chart.selections[-1] == {lane[-1]}


def test_the_lane_can_be_selected_op_by_op(chart: Chart) -> None:
    schedule = case(HOPPER)[1]
    lane = sorted((op for op, place in schedule.ops.items() if place.group == "compute0"), key=schedule.slot)
    chart.click(chart.point(lane[0]))
    chart.key(K.Key_Greater, SHIFT)
    chart.key(K.Key_Greater, SHIFT)
    assert chart.selections[-1] == set(lane[:3])
    chart.key(K.Key_Less, SHIFT)
    assert chart.selections[-1] == set(lane[:3])  # back over what is selected
    chart.key(K.Key_Less, SHIFT)
    chart.key(K.Key_Less, SHIFT)
    assert chart.selections[-1] == {*lane[:3], lane[-1]}


def test_the_range_of_the_selection_by_key(chart: Chart, bot: QtBot) -> None:
    schedule, graph = case(HOPPER)[1], case(HOPPER)[0]
    chart.click(chart.point("exp0"))
    with bot.waitSignal(chart.view.range_selected) as told:
        chart.key(K.Key_R)
    start = schedule.slot("exp0")
    assert told.args == [start, start + graph.ops["exp0"].issue_cycles]
    assert chart.view.cancel_drag()  # Escape takes the range away first


def test_page_keys_scroll_the_lanes(chart: Chart) -> None:
    chart.view.resize(900, 200)
    top = chart.canvas.mapToGlobal(chart.canvas.rect().topLeft())
    first = chart.canvas.grab().toImage()
    chart.key(K.Key_PageDown)
    assert chart.canvas.grab().toImage() != first
    chart.key(K.Key_PageUp)
    assert chart.canvas.grab().toImage() == first and top == chart.canvas.mapToGlobal(chart.canvas.rect().topLeft())


def test_without_a_selection_the_keys_begin_on_the_first_lane(chart: Chart) -> None:
    chart.key(K.Key_Period)
    assert chart.selections == [frozenset({"load_v"})]  # slot 0 of load0


def test_brackets_follow_the_tightest_dependence(chart: Chart) -> None:
    # exp0 starts at 2894 = 85 after scale0 is ready; of its readers cast0 starts 0 and sum0 594 cycles late.
    chart.click(chart.point("exp0"))
    chart.key(K.Key_BracketRight)
    assert chart.selections[-1] == {"cast0"}
    chart.key(K.Key_BracketLeft)
    assert chart.selections[-1] == {"exp0"}
    chart.key(K.Key_BracketLeft)
    assert chart.selections[-1] == {"scale0"}


def test_a_selection_out_of_view_is_brought_into_view(chart: Chart) -> None:
    axis = chart.view.axis
    axis.show_range(1500, 1700)
    chart.view.set_selection(frozenset({"scale0"}))
    assert axis.start < 689 and axis.end > 753
    axis.show_range(600, 900)
    chart.view.set_selection(frozenset({"max0"}))  # in view: nothing moves
    assert (axis.start, axis.end) == (600, 900)


@pytest.mark.parametrize(
    ("key", "modifiers", "by"),
    [(K.Key_Right, ALT, 1), (K.Key_Left, ALT, -1), (K.Key_Right, ALT | SHIFT, 10), (K.Key_Left, ALT | SHIFT, -10)],
)
def test_alt_arrows_nudge(chart: Chart, key: Qt.Key, modifiers: Qt.KeyboardModifier, by: int) -> None:
    chart.view.set_selection(frozenset({"exp0"}))
    chart.key(key, modifiers)
    assert chart.moves == [("exp0", START + by, "compute0")]


def test_alt_up_and_down_move_to_the_neighbouring_group(chart: Chart) -> None:
    chart.view.set_selection(frozenset({"exp0"}))
    chart.key(K.Key_Down, ALT)
    chart.key(K.Key_Up, ALT)
    assert chart.moves == [("exp0", START, "compute1"), ("exp0", START, "load0")]
    chart.view.set_selection(frozenset({"qk1"}))  # on the last group
    chart.key(K.Key_Down, ALT)
    assert len(chart.moves) == 2


def test_no_nudge_goes_before_cycle_0(chart: Chart) -> None:
    chart.show_moved("load_k", 4, "load0")
    chart.view.set_selection(frozenset({"load_k"}))
    chart.key(K.Key_Left, ALT | SHIFT)
    assert chart.moves == []
    chart.key(K.Key_Left, ALT)
    assert chart.moves == [("load_k", 3, "load0")]


def test_escape_without_a_drag_clears(chart: Chart) -> None:
    chart.click(chart.point("exp0"))
    chart.key(K.Key_Escape)
    assert chart.selections[-1] == frozenset()


def test_the_keys_do_nothing_without_content(chart: Chart) -> None:
    chart.view.clear()
    for key in (K.Key_Period, K.Key_BracketLeft, K.Key_F, K.Key_W, K.Key_Home):
        chart.key(key)
    chart.key(K.Key_Left, ALT)
    assert chart.moves == [] and chart.selections == []


def test_both_modes_say_what_they_show(chart: Chart) -> None:
    assert "18 operations on 3 warp groups" in chart.canvas.accessibleDescription()
    chart.view.set_mode(GanttMode.UNROLLED)
    assert chart.view.axis.end > 14000
    chart.view.set_selection(frozenset({"exp0"}))
    assert chart.canvas.accessibleDescription() == "exp0 on compute0, start 2894, slot 846, stage 1"


def test_escape_takes_a_range_away_before_it_clears(chart: Chart) -> None:
    chart.click(chart.point("exp0"))
    chart.drag(QPoint(200, chart.empty().y()), QPoint(500, chart.empty().y()))
    shown = chart.canvas.grab().toImage()
    chart.key(K.Key_Escape)
    assert chart.selections == [frozenset({"exp0"})]
    assert chart.canvas.grab().toImage() != shown
    chart.key(K.Key_Escape)
    assert chart.selections[-1] == frozenset()
