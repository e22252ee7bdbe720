"""The chart under a real mouse."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from chart_cases import BLACKWELL, HOPPER, case
from chart_driver import Chart
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from core.schedule.check import check
from core.schedule.edits import move_op
from core.schedule.model import Schedule
from twill_gui.views.gantt import GanttMode

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
MIDDLE = Qt.MouseButton.MiddleButton
Cycles = Callable[[int], float]


def test_a_click_selects_and_control_click_toggles(chart: Chart) -> None:
    chart.click(chart.point("exp0"))
    assert chart.selections == [frozenset({"exp0"})]
    chart.click(chart.point("qk1"), CONTROL)
    assert chart.selections[-1] == {"exp0", "qk1"}
    chart.click(chart.point("exp0"), CONTROL)
    assert chart.selections[-1] == {"qk1"}
    chart.click(chart.point("pv0"))
    assert chart.selections[-1] == {"pv0"}
    assert chart.moves == []


def test_a_click_on_a_unit_lane_selects_the_op(chart: Chart) -> None:
    x = chart.point("exp0").x() + 40
    chart.click(QPoint(x, chart.lane_y("sfu")))
    assert chart.selections == [frozenset({"exp0"})]


def test_a_click_beside_all_bars_clears_the_selection(chart: Chart) -> None:
    chart.click(chart.point("exp0"))
    chart.click(chart.empty(), CONTROL)
    assert chart.selections == [frozenset({"exp0"})]
    chart.click(chart.empty())
    assert chart.selections[-1] == frozenset()


def test_a_click_on_an_arrow_selects_its_ends(chart: Chart) -> None:
    graph, _ = case(HOPPER)
    chart.click(chart.point("exp0"))
    chart.canvas.grab()
    around = [(d.source, d.target) for d in graph.dependences if "exp0" in (d.source, d.target)]
    found: dict[tuple[str, str], QPoint] = {}
    for y in range(2, chart.canvas.height() - 2, 7):
        for x in range(2, chart.canvas.width() - 2, 7):
            there = QPointF(x, y)
            arrow = chart.canvas.dependence_at(there)
            if arrow is not None and chart.canvas.bar_at(there) is None:
                found.setdefault((arrow.source, arrow.target), QPoint(x, y))
    assert found and found.keys() <= set(around)
    ends, place = next(iter(found.items()))
    chart.click(place)
    assert chart.selections[-1] == set(ends)


def test_a_double_click_activates(chart: Chart, bot: QtBot) -> None:
    with bot.waitSignal(chart.view.op_activated) as told:
        QTest.mouseDClick(chart.canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, chart.point("exp0"))
    assert told.args == ["exp0"]


def test_less_than_five_pixels_are_a_click(chart: Chart) -> None:
    start = chart.point("exp0")
    chart.drag(start, start + QPoint(4, 4))
    assert chart.moves == []
    assert chart.selections == [frozenset({"exp0"})]


def test_a_drag_moves_by_the_cycles_under_the_mouse(chart: Chart, cycles: Cycles) -> None:
    start = chart.point("exp0")
    chart.drag(start, start + QPoint(60, 0))
    was = case(HOPPER)[1].ops["exp0"].start
    assert chart.moves == [("exp0", was + round(cycles(60)), "compute0")]
    assert chart.selections == [frozenset({"exp0"})]  # what was dropped is what the keys go on with


def test_a_drag_to_another_lane_moves_to_its_group(chart: Chart) -> None:
    start = chart.point("exp0")
    chart.drag(start, QPoint(start.x(), chart.lane_y("compute1")))
    assert chart.moves == [("exp0", case(HOPPER)[1].ops["exp0"].start, "compute1")]


def test_a_forbidden_group_is_not_refused(chart: Chart) -> None:
    start = chart.point("exp0")
    chart.drag(start, QPoint(start.x(), chart.lane_y("load0")))
    assert chart.moves == [("exp0", case(HOPPER)[1].ops["exp0"].start, "load0")]


def test_over_a_unit_lane_the_op_stays_on_its_group(chart: Chart, cycles: Cycles) -> None:
    start = chart.point("exp0")
    chart.drag(start, QPoint(start.x() + 50, chart.lane_y("alu")))
    assert chart.moves == [("exp0", case(HOPPER)[1].ops["exp0"].start + round(cycles(50)), "compute0")]


def test_a_unit_block_drags_its_op(chart: Chart, cycles: Cycles) -> None:
    start = QPoint(chart.point("exp0").x() + 100, chart.lane_y("sfu"))
    chart.drag(start, start - QPoint(30, 0))
    assert chart.moves == [("exp0", case(HOPPER)[1].ops["exp0"].start + round(cycles(-30)), "compute0")]


def test_no_op_starts_before_cycle_0(chart: Chart) -> None:
    chart.show_moved("load_k", 100, "load0")
    start = chart.point("load_k")
    chart.drag(start, QPoint(0, start.y()))
    assert chart.moves == [("load_k", 0, "load0")]


def test_a_drag_back_to_where_it_began_asks_for_nothing(chart: Chart) -> None:
    start = chart.point("exp0")
    chart.press(start)
    chart.move(start + QPoint(50, 0))
    chart.move(start)
    chart.release(start)
    assert chart.moves == [] and chart.selections == []


def test_in_the_unrolled_view_any_iteration_can_be_dragged(chart: Chart, cycles: Cycles) -> None:
    chart.show(HOPPER, GanttMode.UNROLLED)
    start = chart.point("exp0", number=3)
    chart.drag(start, start + QPoint(40, 0))
    assert chart.moves == [("exp0", case(HOPPER)[1].ops["exp0"].start + round(cycles(40)), "compute0")]


def test_while_dragging_every_place_is_tried_and_at_the_end_nothing_is(chart: Chart, cycles: Cycles) -> None:
    tried: list[Schedule | None] = []
    chart.view.tried.connect(tried.append)
    start = chart.point("exp0")
    chart.drag(start, start + QPoint(40, 0))
    schedule = case(HOPPER)[1]
    places = [trial.ops["exp0"].start for trial in tried[:-1] if trial]
    assert places == [schedule.ops["exp0"].start + round(cycles(pixels)) for pixels in (10, 20, 30, 40)]
    assert tried[-1] is None


def test_a_drag_at_the_edge_takes_the_view_along(chart: Chart, bot: QtBot) -> None:
    axis, canvas = chart.view.axis, chart.canvas
    axis.show_range(500, 900)
    first = axis.start
    was = case(HOPPER)[1].ops["exp0"].start
    start = chart.point("exp0")
    edge = QPoint(canvas.width() - 4, start.y())
    chart.press(start)
    chart.move(edge)
    bot.waitUntil(lambda: axis.start > first + 100)
    chart.move(start)  # away from the edge it stays
    stopped = axis.start
    bot.wait(100)
    assert axis.start == stopped
    chart.release(start)
    moved = axis.time(start.x()) - (first + start.x() / axis.scale)
    assert chart.moves == [("exp0", was + round(moved), "compute0")]


def test_escape_cancels_a_drag(chart: Chart) -> None:
    tried: list[Schedule | None] = []
    chart.view.tried.connect(tried.append)
    start = chart.point("exp0")
    chart.press(start)
    chart.move(start + QPoint(50, 0))
    chart.key(Qt.Key.Key_Escape)
    chart.move(start + QPoint(80, 0))
    chart.release(start + QPoint(80, 0))
    assert chart.moves == [] and chart.selections == []
    assert tried[-1] is None


def test_new_content_ends_a_drag(chart: Chart) -> None:
    start = chart.point("exp0")
    chart.press(start)
    chart.move(start + QPoint(50, 0))
    chart.show(BLACKWELL)
    chart.release(start + QPoint(50, 0))
    assert chart.moves == []


def test_a_drag_on_empty_selects_a_range(chart: Chart, bot: QtBot) -> None:
    first, last = QPoint(200, chart.empty().y()), QPoint(500, chart.empty().y())
    with bot.waitSignal(chart.view.range_selected) as told:
        chart.drag(last, first)
    assert told.args == [round(chart.view.axis.time(200)), round(chart.view.axis.time(500))]
    assert chart.selections == []


@pytest.mark.parametrize("button", ["middle", "shift"])
def test_panning_with_the_mouse(chart: Chart, button: str) -> None:
    chart.view.axis.show_range(500, 900)
    time = chart.view.axis.time(600)
    if button == "middle":
        chart.drag(QPoint(600, 60), QPoint(450, 60), MIDDLE)
    else:
        chart.drag(QPoint(600, 60), QPoint(450, 60), modifiers=SHIFT)
    assert chart.view.axis.x(time) == pytest.approx(450)
    assert chart.moves == [] and chart.selections == []


def test_control_wheel_zooms_at_the_cursor(chart: Chart) -> None:
    point = QPoint(700, 80)
    time, scale = chart.view.axis.time(700), chart.view.axis.scale
    chart.wheel(point, 3, CONTROL)
    assert chart.view.axis.x(time) == pytest.approx(700)
    assert chart.view.axis.scale == pytest.approx(scale * 1.25**3)
    chart.wheel(point, -1, CONTROL)
    assert chart.view.axis.x(time) == pytest.approx(700)


def test_shift_wheel_pans_and_the_wheel_alone_scrolls_lanes(chart: Chart) -> None:
    chart.view.axis.show_range(500, 900)
    start = chart.view.axis.start
    chart.wheel(QPoint(300, 80), -2, SHIFT)
    assert chart.view.axis.start > start
    chart.view.resize(1276, 200)
    top = chart.point("exp0")
    assert chart.canvas.bar_at(top.toPointF()) is not None
    chart.wheel(QPoint(300, 80), -1)
    bar = chart.canvas.bar_at((top - QPoint(0, 60)).toPointF())
    assert bar is not None and bar.op == "exp0"
    chart.wheel(QPoint(300, 80), 5)
    assert chart.canvas.bar_at(top.toPointF()) is not None


def test_hovering_tells_the_op_once(chart: Chart) -> None:
    told: list[str] = []
    chart.view.hovered.connect(told.append)
    for into in (3, 8, 12):
        chart.move(chart.point("exp0", into))
    chart.move(chart.empty())
    assert told == ["exp0", ""]


def test_the_time_under_the_mouse_is_shared(chart: Chart) -> None:
    chart.move(QPoint(400, 50))
    assert chart.view.axis.cursor == pytest.approx(chart.view.axis.time(400))


def test_a_short_op_is_at_least_three_pixels_wide(chart: Chart) -> None:
    chart.show(HOPPER, GanttMode.UNROLLED)
    chart.view.set_steady_iterations(60)  # load_k's 30 cycles are now less than half a pixel
    assert chart.view.axis.scale * 30 < 0.5
    point = chart.point("load_k", 1, number=20)
    for into in (0, 1):
        bar = chart.canvas.bar_at((point + QPoint(into, 0)).toPointF())
        assert bar is not None and bar.op == "load_k"


def test_the_drop_is_judged_by_the_judge(chart: Chart) -> None:
    """What the window shows after the drop is what the drag had announced."""
    graph, schedule = case(HOPPER)
    start = chart.point("exp0")
    tried: list[Schedule | None] = []
    chart.view.tried.connect(tried.append)
    chart.drag(start, start - QPoint(120, 0))
    op, cycle, group = chart.moves[0]
    last = [trial for trial in tried if trial][-1]
    assert check(graph, last) == check(graph, move_op(schedule, op, cycle, group))
    assert not check(graph, last).legal


def test_the_tooltip_tells_the_ops_facts_and_faults(chart: Chart, bot: QtBot) -> None:
    chart.show_moved("exp0", 2700, "compute0")
    point = chart.point("exp0")
    QApplication.sendEvent(chart.canvas, QHelpEvent(QEvent.Type.ToolTip, point, chart.canvas.mapToGlobal(point)))
    bot.waitUntil(lambda: QToolTip.isVisible())
    text = QToolTip.text()
    for fact in ("exp0", "math.exp2", "sfu", "slot 652", "stage", "512 cycles", "536 cycles", "needs +109 cycles"):
        assert fact in text
    QToolTip.hideText()
    bot.waitUntil(lambda: not QToolTip.isVisible())
