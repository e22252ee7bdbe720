"""The plot of bound and best II in the Jobs dock: its data are the steps of the solve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fake_solvers
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot
from states import write_project

from twill_gui.main_window import MainWindow
from twill_gui.models.solve_progress import CoursePoint
from twill_gui.palette import contrast
from twill_gui.theme import DARK, LIGHT, Colors
from twill_gui.views.bounds import BoundPlot
from twill_gui.views.bounds.chart import BoundChart

OpenWindow = Callable[..., MainWindow]
COURSE = (CoursePoint(0.1, 10, None), CoursePoint(0.5, 10, 40), CoursePoint(0.75, 21, 40), CoursePoint(2.0, 21, 25))


@pytest.fixture
def chart(bot: QtBot) -> BoundChart:
    chart = BoundChart(LIGHT)
    bot.addWidget(chart)
    chart.resize(300, 110)
    with bot.waitExposed(chart):
        chart.show()
    return chart


def points(line: tuple[object, object]) -> list[tuple[float, float]]:
    times, values = line
    return list(zip(times, values, strict=True))  # type: ignore[call-overload]


def test_the_lines_are_the_steps_up_to_the_present(chart: BoundChart) -> None:
    chart.set_course(COURSE, 3.0)
    assert points(chart.bound.getData()) == [(0.1, 10), (0.5, 10), (0.75, 21), (2.0, 21), (3.0, 21)]
    assert points(chart.best.getData()) == [(0.5, 40), (0.75, 40), (2.0, 25), (3.0, 25)]


def test_all_of_both_lines_is_in_view(chart: BoundChart) -> None:
    for course, seconds in ((COURSE, 3.0), (COURSE[:1], 0.1), (COURSE[:2], 90.0)):
        chart.set_course(course, seconds)
        (left, right), (low, high) = chart.view_range()
        assert left <= 0 and right >= max(seconds, course[-1].seconds)
        assert all(low < ii < high for point in course for ii in (point.lower, point.upper) if ii is not None)


def test_before_anything_is_found_there_is_the_bound_alone(chart: BoundChart) -> None:
    chart.set_course(COURSE[:1], 0.3)
    assert points(chart.best.getData()) == []
    assert points(chart.bound.getData()) == [(0.1, 10), (0.3, 10)]


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_the_lines_are_seen_and_differ_in_more_than_colour(chart: BoundChart, colors: Colors) -> None:
    chart.set_colors(colors)
    chart.set_course(COURSE, 3.0)
    image = chart.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert {colors.base, colors.link, colors.good} <= seen
    assert contrast(colors.link, colors.base) >= 3 and contrast(colors.good, colors.base) >= 3
    pens = [curve.opts["pen"] for curve in (chart.best, chart.bound)]
    assert [pen.style() for pen in pens] == [Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine]
    assert [pen.color() for pen in pens] == [QColor(colors.link), QColor(colors.good)]


def test_it_is_hidden_until_there_are_data(bot: QtBot) -> None:
    plot = BoundPlot(LIGHT)
    bot.addWidget(plot)
    plot.set_course(COURSE, 3.0)
    assert plot.chart is None and plot.isHidden()  # no solve has begun
    plot.prepare()
    bot.waitUntil(lambda: plot.chart is not None, timeout=20_000)
    assert not plot.isHidden()
    assert plot.accessibleDescription() == "after 2.0 s: proved bound 21, best II 25"
    plot.set_course((), 0.0)
    assert plot.isHidden()
    plot.shut_down()


def test_the_steps_of_a_solve_are_plotted_and_stay_when_it_is_over(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.steps)
    plot = window.jobs.plot
    assert plot.isHidden()
    window.solving.solve()
    bot.waitUntil(lambda: not window.solving.busy and plot.chart is not None, timeout=20_000)
    course = window.progress.course
    assert [(point.lower, point.upper) for point in course] == [(2, None), (2, 8), (5, 8)]
    assert [point.seconds for point in course] == sorted(point.seconds for point in course)
    assert not plot.isHidden()
    assert plot.chart is not None
    assert [ii for _, ii in points(plot.chart.bound.getData())] == [2, 2, 5, 5]
    window.document.undo_stack.undo()
    window.document.undo_stack.redo()
    assert window.progress.course == course
    window.document.undo_stack.setClean()  # so that nothing is asked
    assert window.files.open(write_project(tmp_path / "q"))
    assert plot.isHidden()


def test_a_second_solve_begins_anew(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.steps)
    for _ in range(2):
        window.solving.solve()
        assert window.progress.course == ()
        bot.waitUntil(lambda: not window.solving.busy, timeout=20_000)
        assert len(window.progress.course) == 3
