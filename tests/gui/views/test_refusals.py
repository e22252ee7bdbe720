"""Warp groups that the selected op may not be on: marked at their header, a click asks why."""

from __future__ import annotations

from chart_cases import HOPPER, case
from chart_driver import LEFT, Chart
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.schedule.windows import windows
from twill_gui.views.gantt.headers import LaneHeaders


def _headers(chart: Chart) -> LaneHeaders:
    [headers] = chart.view.findChildren(LaneHeaders)
    return headers


def _place(chart: Chart, lane: str) -> QPoint:
    return QPoint(60, chart.lane_y(lane))


def test_a_click_on_a_refusing_group_asks_why(chart: Chart) -> None:
    asked: list[tuple[str, str]] = []
    chart.view.why_asked.connect(lambda *pair: asked.append(pair))
    headers = _headers(chart)
    for lane in ("load0", "compute0", "sfu"):
        QTest.mouseClick(headers, LEFT, Qt.KeyboardModifier.NoModifier, _place(chart, lane))
    assert asked == []  # nothing is selected
    plain = headers.grab().toImage()
    chart.click(chart.point("exp0"))
    assert headers.grab().toImage() != plain
    for lane in ("load0", "compute0", "sfu"):
        QTest.mouseClick(headers, LEFT, Qt.KeyboardModifier.NoModifier, _place(chart, lane))
    assert asked == [("exp0", "load0")]
    graph, schedule = case(HOPPER)
    reason = windows(graph, schedule, "exp0")["load0"].refusals[0].message
    assert reason in headers.accessibleDescription()
    chart.click(chart.empty())
    assert headers.grab().toImage() == plain


def test_two_selected_ops_are_no_question(chart: Chart) -> None:
    chart.click(chart.point("exp0"))
    chart.click(chart.point("exp1"), Qt.KeyboardModifier.ControlModifier)
    assert "click: why?" not in _headers(chart).accessibleDescription()


def test_the_menu_is_for_the_bar_under_the_mouse(chart: Chart, bot: QtBot) -> None:
    places: list[QPoint] = []
    chart.view.menu_requested.connect(places.append)

    def right_click(point: QPoint) -> None:
        where = chart.canvas.mapToGlobal(point)
        QApplication.sendEvent(chart.canvas, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, where))

    right_click(chart.point("exp0"))
    assert chart.selections == [frozenset({"exp0"})] and len(places) == 1
    right_click(chart.empty())
    assert len(places) == 1
    by_key = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), QPoint(5, 5))
    QApplication.sendEvent(chart.canvas, by_key)
    assert len(places) == 2 and chart.selections == [frozenset({"exp0"})]
