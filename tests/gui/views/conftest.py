"""A shown chart for each test that asks for one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from chart_cases import HOPPER
from chart_driver import Chart
from pytestqt.qtbot import QtBot

from twill_gui.views.gantt import GanttView


@pytest.fixture
def chart(bot: QtBot) -> Chart:
    """A shown chart of Hopper attention, folded."""
    view = GanttView()
    bot.addWidget(view)
    view.resize(1276, 640)
    chart = Chart(view)
    chart.show(HOPPER)
    with bot.waitExposed(view):
        view.show()
    return chart


@pytest.fixture
def cycles(chart: Chart) -> Callable[[int], float]:
    """Cycles that so many pixels are."""
    return lambda pixels: pixels / chart.view.axis.scale
