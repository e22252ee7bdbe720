"""Curves of what is held: their peaks are the judge's, their steps are the model's, and they follow the chart."""

from __future__ import annotations

import random

import numpy as np
import pytest
from chart_cases import BLACKWELL, HOPPER, NAMES, case
from chart_driver import Chart
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.edits import move_op
from core.schedule.liveness import live_ranges
from core.schedule.model import Schedule
from twill_gui.palette import LIGHT
from twill_gui.views.gantt import GanttMode, GanttView
from twill_gui.views.liveness import LivenessView
from twill_gui.views.liveness.curve_painter import CurveLook, CurvePainter, Levels
from twill_gui.views.liveness.curves import Curve, Held, liveness_curves
from twill_gui.views.liveness.view import POINTED_AT
from twill_gui.views.timeline.span import TimeScale, TimeSpan
from twill_gui.views.timeline.text import TextCutter


def _folded(graph: Graph, schedule: Schedule) -> dict[str, Curve]:
    return {curve.name: curve for curve in liveness_curves(graph, schedule, TimeSpan(0, schedule.ii))}


def _moved(name: str, op: str, by: int) -> tuple[Graph, Schedule]:
    graph, schedule = case(name)
    return graph, move_op(schedule, op, schedule.ops[op].start + by)


CASES = [*map(case, NAMES), _moved(HOPPER, "pv0", 900), _moved(BLACKWELL, "exp0", 400)]


@pytest.mark.parametrize(("graph", "schedule"), CASES, ids=lambda part: getattr(part, "name", ""))
def test_plotted_peaks_are_the_judges_peaks(graph: Graph, schedule: Schedule) -> None:
    peaks = check(graph, schedule).peaks
    curves = _folded(graph, schedule)
    for group, peak in peaks.registers.items():
        if group in curves:
            assert curves[group].peak == peak
            assert curves[group].limit == schedule.groups[group].grant
        else:  # a group that holds nothing has no curve
            assert not any(held.amount for held in live_ranges(graph, schedule).registers[group])
    shared = curves.get("shared memory")
    assert (shared.peak if shared else 0) == peaks.shared_memory
    tensor = curves.get("tensor memory")
    assert (tensor.peak if tensor else 0) == peaks.tensor_memory


@pytest.mark.parametrize("name", [HOPPER, BLACKWELL, "gemm", "layer_norm"])
def test_every_slot_is_as_the_live_ranges_say(name: str) -> None:
    graph, schedule = case(name)
    ii, live = schedule.ii, live_ranges(graph, schedule)
    for group, curve in _folded(graph, schedule).items():
        if curve.held is not Held.REGISTERS:
            continue
        held = np.full(ii, curve.base)
        for value in live.registers[group]:
            for cycle in range(value.begin, value.end):
                held[cycle % ii] += value.amount
        assert np.repeat(curve.total, np.diff(curve.times)).tolist() == held.tolist()


@pytest.mark.parametrize("name", [HOPPER, BLACKWELL])
def test_the_unrolled_steady_state_is_the_folded_interval(name: str) -> None:
    """With enough iterations before and after, an interval in the middle holds what the folded one holds."""
    graph, schedule = case(name)
    ii = schedule.ii
    unrolled = liveness_curves(graph, schedule, TimeSpan(0, 20 * ii, 20))
    for curve, folded in zip(unrolled, liveness_curves(graph, schedule, TimeSpan(0, ii)), strict=True):
        held = np.repeat(curve.total, np.diff(curve.times))
        assert held[10 * ii : 11 * ii].tolist() == np.repeat(folded.total, np.diff(folded.times)).tolist()
        assert curve.held is Held.SHARED_MEMORY or held[0] == curve.base  # nothing is held before the prologue


def test_alive_slots_of_a_ring_never_exceed_its_depth() -> None:
    for name in NAMES:
        curves = _folded(*case(name))
        if "shared memory" in curves:
            shared = curves["shared memory"]
            for band, counts in zip(shared.bands, shared.counts, strict=True):
                assert band.reserved is not None and counts.max(initial=0) <= band.reserved


class _Window:
    """A chart with a liveness view under it."""

    def __init__(self, bot: QtBot) -> None:
        self.widget = QWidget()
        bot.addWidget(self.widget)
        self.gantt, self.view = GanttView(), LivenessView()
        layout = QVBoxLayout(self.widget)
        layout.addWidget(self.gantt, 2)
        layout.addWidget(self.view, 1)
        self.view.link_to(self.gantt)
        self.chart = Chart(self.gantt)
        self.widget.resize(1200, 900)
        with bot.waitExposed(self.widget):
            self.widget.show()
        self.show(HOPPER)

    def show(self, name: str) -> None:
        self.chart.show(name, self.gantt.mode)
        self.view.set_content(*case(name))

    @property
    def peaks(self) -> dict[str, int]:
        return {curve.name: curve.peak for curve in self.view.curves}


@pytest.fixture
def window(bot: QtBot) -> _Window:
    return _Window(bot)


def test_the_time_axis_is_the_charts_pixel_for_pixel(window: _Window) -> None:
    for start, end in ((0, 2048), (500, 700), (1999, 2003)):
        window.gantt.axis.show_range(start, end)
        scale = window.view.time_scale()
        for time in (start, (start + end) / 2, end):
            in_chart = window.gantt.canvas.mapToGlobal(QPoint()).x() + window.gantt.axis.x(time)
            assert window.view.mapToGlobal(QPoint()).x() + scale.x(time) == pytest.approx(in_chart)


def test_beside_the_chart_it_shows_the_same_range(bot: QtBot) -> None:
    gantt, view = GanttView(), LivenessView()
    for widget in (gantt, view):
        bot.addWidget(widget)
        widget.resize(700, 300)
    view.link_to(gantt)
    gantt.axis.set_content(0, 2048)
    gantt.axis.show_range(100, 300)
    scale = view.time_scale()
    assert scale.time(scale.left) == pytest.approx(100)
    assert scale.time(scale.right) == pytest.approx(300)


def test_unrolling_the_chart_unrolls_the_curves(window: _Window) -> None:
    assert all(curve.times[-1] == 2048 for curve in window.view.curves)
    window.gantt.set_mode(GanttMode.UNROLLED)
    assert window.gantt.content
    end = window.gantt.content.layout.end
    assert all(curve.times[-1] == end for curve in window.view.curves)


def test_a_drag_is_followed_and_its_cancelling_too(window: _Window) -> None:
    graph, schedule = case(HOPPER)
    before = window.peaks
    start = window.chart.point("pv0")
    window.chart.press(start)
    window.chart.move(start - QPoint(200, 0))
    bars = window.gantt.axis.scale
    moved = move_op(schedule, "pv0", schedule.ops["pv0"].start - round(200 / bars))
    wanted = check(graph, moved).peaks
    assert window.peaks["compute0"] == wanted.registers["compute0"] != before["compute0"]
    window.chart.key(Qt.Key.Key_Escape)
    assert window.peaks == before


def test_the_tooltip_names_what_is_held(window: _Window) -> None:
    row = [curve.name for curve in window.view.curves].index("compute0")
    text = window.view.describe_at(row, 1000, "exp0")
    for name in ("pv0", "exp0", "overhead"):
        assert name in text
    assert "scale0" not in text
    assert text.index("exp0") < text.index("pv0")  # what is pointed at comes first
    assert text.count(POINTED_AT) == 1 and f"{POINTED_AT} exp0" in text


def test_peaks_are_the_judges_after_every_move_of_a_drag_and_after_the_drop(window: _Window) -> None:
    random.seed(5)
    graph, shown = case(HOPPER)
    tried: list[Schedule | None] = []
    window.gantt.tried.connect(tried.append)
    for op in ("exp0", "pv1", "load_k", "rescale0", "qk1"):
        window.show(HOPPER)
        start = window.chart.point(op)
        window.chart.press(start)
        for _ in range(6):
            lane = random.choice(("load0", "compute0", "compute1"))
            window.chart.move(QPoint(random.randrange(20, 900), window.chart.lane_y(lane)))
            schedule = tried[-1]
            assert schedule is not None and schedule.ops[op].group == lane
            _assert_peaks(window, graph, schedule)
        place = QPoint(random.randrange(20, 900), window.chart.lane_y("compute0"))
        window.chart.move(place)
        window.chart.release(place)
        dropped, begin, group = window.chart.moves[-1]
        moved = move_op(shown, dropped, begin, group)
        window.gantt.set_content(graph, moved, check(graph, moved))
        window.view.set_content(graph, moved)
        _assert_peaks(window, graph, moved)


def test_rows_painted_over_look_as_if_all_was_painted_anew(window: _Window) -> None:
    """Only the rows that a drag changes are painted while it lasts, and no headers where the range of time changes."""
    random.seed(6)
    view = window.view

    def looks_as_painted_anew() -> bool:
        mended = view.grab().toImage()
        view.repaint_all()
        return mended == view.grab().toImage()

    for start, end in ((0, 600), (300, 310), (0, 2048)):
        window.gantt.axis.show_range(start, end)
        assert looks_as_painted_anew()
    for op in ("exp0", "load_k", "qk1"):
        window.chart.press(window.chart.point(op))
        for _ in range(5):
            lane = random.choice(("load0", "compute0", "compute1"))
            window.chart.move(QPoint(random.randrange(20, 900), window.chart.lane_y(lane)))
            assert looks_as_painted_anew()
        window.chart.key(Qt.Key.Key_Escape)


def test_of_several_places_in_one_turn_only_the_last_is_shown(window: _Window, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chart comes first; what a drag only passed over is not worth a picture."""
    graph, _ = case(HOPPER)
    shown: list[Schedule] = []
    build = window.view.build_rows
    monkeypatch.setattr(window.view, "build_rows", lambda g, s, span: (shown.append(s), build(g, s, span))[1])
    tried: list[Schedule | None] = []
    window.gantt.tried.connect(tried.append)
    start = window.chart.point("exp0")
    window.chart.press(start)
    for step in (20, 40, 60):
        QTest.mouseMove(window.chart.canvas, start + QPoint(step, 0))
    assert len(tried) == 3 and not shown
    QApplication.processEvents()
    assert shown == [tried[-1]]
    schedule = tried[-1]
    assert schedule is not None
    _assert_peaks(window, graph, schedule)


def _assert_peaks(window: _Window, graph: Graph, schedule: Schedule) -> None:
    """The curves on the screen against the judge: registers, shared and tensor memory."""
    peaks, shown = check(graph, schedule).peaks, window.peaks
    held = live_ranges(graph, schedule).registers
    wanted = {name: peak for name, peak in peaks.registers.items() if any(one.amount for one in held[name])}
    assert {name: shown[name] for name in shown if name in schedule.groups} == wanted
    assert shown.get("shared memory", 0) == peaks.shared_memory
    assert shown.get("tensor memory", 0) == peaks.tensor_memory


def test_a_click_on_a_band_asks_for_its_op(window: _Window, bot: QtBot) -> None:
    scale = window.view.time_scale()
    row = [curve.name for curve in window.view.curves].index("compute0")
    box = window.view.row_box(row, scale)
    asked: list[frozenset[str]] = []
    window.view.selection_requested.connect(asked.append)
    x = round(scale.x(1000))
    for y in range(round(box.top()) + 1, round(box.bottom()) - 1, 3):
        QTest.mouseClick(window.view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(x, y))
    names = {op for ops in asked for op in ops}
    assert {"pv0", "exp0"} <= names <= {"pv0", "exp0", "max0", "sum0", "qk0"}


def test_ctrl_wheel_over_the_curves_zooms_the_chart(window: _Window) -> None:
    scale = window.gantt.axis.scale
    window.chart.wheel(QPoint(600, 40), 2, Qt.KeyboardModifier.ControlModifier, window.view)
    assert window.gantt.axis.scale == pytest.approx(scale * 1.25**2)


def test_clearing_shows_nothing(window: _Window) -> None:
    window.view.clear()
    assert window.view.curves == ()
    window.view.repaint()


@pytest.mark.parametrize("name", NAMES)
def test_steps_that_share_a_pixel_column_do_not_reach_beyond_it(name: str, bot: QtBot) -> None:
    """At any scale and place, each value is drawn where it is held, a pixel at its ends apart."""
    graph, schedule = case(name)
    chosen = random.Random(name)
    look = CurveLook(LIGHT, TextCutter(QFont()), 1.0)
    for curve in _folded(graph, schedule).values():
        values = [band.value for band in curve.bands]
        for width, start in ((150, 0), (300, 0), (433, chosen.randrange(schedule.ii)), (5000, schedule.ii // 2)):
            scale = TimeScale(0, 300, start, width / schedule.ii)
            painter = CurvePainter(curve, Levels(curve, QRectF(0, 0, 300, 200)), scale, look)
            for number, value in enumerate(values):
                boxes = painter.boxes_of({value})
                for x in range(2, 298, 3):
                    times = [scale.time(x + 0.5 + aside) for aside in (-1.5, 0, 1.5)]
                    if times[0] < 0 or times[-1] >= schedule.ii or values.count(value) > 1:
                        continue
                    steps = {curve.step_at(time) for time in times}
                    if len(steps) == 1:
                        held = curve.tops[number, [*steps]] > curve.bottoms[number, [*steps]]
                        drawn = any(left < x + 0.5 < left + width for left, _, width, _ in boxes.tolist())
                        assert drawn == held[0], (curve.name, value, width, start, x)
