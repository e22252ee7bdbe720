"""Heat strips of the modulo reservation table."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from chart_cases import HOPPER, NAMES, case, random_case
from chart_driver import Chart
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.model import Schedule
from core.schedule.reservation import reservation_table
from twill_gui.palette import DARK, LIGHT, ViewPalette, contrast
from twill_gui.views.gantt import GanttMode, GanttView
from twill_gui.views.reservation import ReservationView
from twill_gui.views.reservation.strips import reservation_strips
from twill_gui.views.timeline.span import TimeSpan

CASES = [*map(case, NAMES), *map(random_case, range(40))]


def _amounts(graph: Graph, schedule: Schedule, unit: str, iterations: range, slots: int) -> list[int]:
    """Counted cycle by cycle."""
    taken = Counter[int]()
    for op in graph.ops.values():
        place = schedule.ops[op.id]
        for block in op.blocks:
            if block.unit == unit:
                begin = place.start + place.delay + block.offset
                for i in iterations:
                    for cycle in range(begin + i * schedule.ii, begin + block.duration + i * schedule.ii):
                        taken[cycle] += block.amount
    return [taken[cycle] for cycle in range(slots)]


def test_every_slot_is_taken_as_the_blocks_say() -> None:
    for graph, schedule in CASES:
        back = -(-max(place.start + 200 for place in schedule.ops.values()) // schedule.ii)
        for strip in reservation_strips(graph, schedule, TimeSpan(0, schedule.ii)):
            shown = np.repeat(strip.amounts, np.diff(strip.times)).tolist()
            assert shown == _amounts(graph, schedule, strip.unit, range(-back, 1), schedule.ii)


def test_peaks_and_utilisation_are_the_judges_and_the_tables() -> None:
    for graph, schedule in CASES:
        peaks = check(graph, schedule).peaks.units
        table = reservation_table(graph, schedule)
        for strip in reservation_strips(graph, schedule, TimeSpan(0, schedule.ii)):
            assert strip.amounts.max() == peaks[strip.unit]
            assert strip.utilisation == table[strip.unit].utilisation


def test_unrolled_strips_show_the_iterations_that_run() -> None:
    graph, schedule = case(HOPPER)
    for strip in reservation_strips(graph, schedule, TimeSpan(0, 9 * schedule.ii, 4)):
        shown = np.repeat(strip.amounts, np.diff(strip.times)).tolist()
        assert shown == _amounts(graph, schedule, strip.unit, range(4), 9 * schedule.ii)


def test_the_ops_at_a_time() -> None:
    graph, schedule = case(HOPPER)
    strips = {strip.unit: strip for strip in reservation_strips(graph, schedule, TimeSpan(0, schedule.ii))}
    assert strips["tensor_core"].ops_at(0) == ["qk0"]
    assert strips["tensor_core"].ops_at(511.9) == ["qk0"]
    assert strips["tensor_core"].ops_at(512) == ["pv1"]
    assert strips["sfu"].ops_at(100) == ["exp1"]
    assert strips["sfu"].ops_at(300) == []


@pytest.fixture
def linked(bot: QtBot) -> tuple[ReservationView, Chart]:
    gantt, view = GanttView(), ReservationView()
    for widget in (gantt, view):
        bot.addWidget(widget)
        widget.resize(1200, 300)
    view.link_to(gantt)
    chart = Chart(gantt)
    chart.show(HOPPER)
    view.set_content(*case(HOPPER))
    with bot.waitExposed(view):
        gantt.show()
        view.show()
    return view, chart


def test_a_drag_onto_a_taken_unit_overloads_the_strip(linked: tuple[ReservationView, Chart]) -> None:
    view, chart = linked
    strip = view.strips[0]
    assert strip.unit == "tensor_core" and strip.amounts.max() == 1
    start = chart.point("qk0")
    chart.press(start)
    chart.move(start + QPoint(100, 0))
    assert view.strips[0].amounts.max() == 2
    chart.key(Qt.Key.Key_Escape)
    assert view.strips[0].amounts.max() == 1


def test_strips_painted_over_look_as_if_all_was_painted_anew(linked: tuple[ReservationView, Chart]) -> None:
    """Only the strips that a drag changes are painted while it lasts."""
    view, chart = linked
    start = chart.point("exp0")
    chart.press(start)
    for step in (50, 170, 400, -20):
        chart.move(start + QPoint(step, 0))
        mended = view.grab().toImage()
        view.repaint_all()
        assert mended == view.grab().toImage()


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)
def test_colliding_cells_are_hatched_on_plain_ground(
    linked: tuple[ReservationView, Chart], palette: ViewPalette
) -> None:
    """Red stripes on the unit's own fill could not be told apart where that is reddish."""
    view, chart = linked
    view.set_palette(palette)
    start = chart.point("exp0")
    chart.press(start)
    _, schedule = case(HOPPER)
    later = schedule.slot("exp1") + 30 - schedule.slot("exp0")
    chart.move(start + QPoint(round(later * chart.view.axis.scale), 0))
    row = [strip.unit for strip in view.strips].index("sfu")
    strip, scale = view.strips[row], view.time_scale()
    step = int(np.argmax(strip.amounts))
    assert strip.amounts[step] > strip.capacity
    left, right = round(scale.x(int(strip.times[step]))), round(scale.x(int(strip.times[step + 1])))
    middle = round(view.row_box(row, scale).center().y())
    image = view.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(left + 3, right - 3) for y in range(middle - 4, middle + 4)}
    assert {palette.violation, palette.lane} <= seen
    assert palette.unit_style("sfu").fill(0).colour not in seen
    assert contrast(palette.violation, palette.lane) >= 3  # WCAG 2 for what is not text


def test_a_click_on_a_cell_asks_for_its_op(linked: tuple[ReservationView, Chart], bot: QtBot) -> None:
    view, _ = linked
    scale = view.time_scale()
    place = QPoint(round(scale.x(700)), round(view.row_box(0, scale).center().y()))
    with bot.waitSignal(view.selection_requested) as asked:
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert asked.args == [frozenset({"pv1"})]


def test_the_mode_is_the_charts(linked: tuple[ReservationView, Chart]) -> None:
    view, chart = linked
    chart.view.set_mode(GanttMode.UNROLLED)
    assert view.strips[0].times[-1] > 10_000
