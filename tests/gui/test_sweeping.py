"""The Sweep dock with real events: the rows of the command line, a plot, cancelling, faults in words."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import fake_solvers
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from states import write_project

from core.cli import main
from core.solve.events import Status
from twill_gui.document import settings
from twill_gui.jobs.solver import solve
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]
LEFT = Qt.MouseButton.LeftButton
ROOT = Path(__file__).parents[2]


def enter(bot: QtBot, window: MainWindow, axes: str) -> None:
    """Types axes into the field and presses Enter."""
    view = window.tool_docks.sweep
    window.dock_layout.bring_forward("Sweep")
    bot.waitUntil(view.isVisible)
    view.field.setFocus()
    view.field.clear()
    bot.keyClicks(view.field, axes)
    bot.keyClick(view.field, Qt.Key.Key_Return)


def test_the_rows_are_those_of_the_command_line(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = write_project(tmp_path / "p")
    window = open_window(project, work=solve)
    sweeping = window.tool_docks.sweeping
    enter(bot, window, "capacity.x=1,2 rules.allow_hand_off=false")
    assert sweeping.running
    bot.waitUntil(lambda: not sweeping.running, timeout=60_000)
    view = window.tool_docks.sweep
    bot.mouseClick(view.command_button, LEFT)
    words = shlex.split(QGuiApplication.clipboard().text())
    assert main([*words[1:], "--json", "--workers", "1"]) == 0
    expected = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(expected) == 2

    def untimed(row: dict[str, object]) -> dict[str, object]:
        return {key: value for key, value in row.items() if key != "seconds"}

    assert [untimed(row.as_json()) for row in sweeping.rows] == [untimed(row) for row in expected]
    svg = ElementTree.fromstring(view.plot.svg)
    assert "II, cycles" in [(element.text or "") for element in svg.iter()]
    assert view.table.isVisible() and view.model.rowCount() == 2
    assert view.model.headerData(0, Qt.Orientation.Horizontal) == "capacity.x"


def test_what_cannot_be_swept_is_said(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    view = window.tool_docks.sweep
    enter(bot, window, "registrs=100")
    assert "there is no axis 'registrs'" in view.note.text()
    assert not window.tool_docks.sweeping.running
    enter(bot, window, "capacity.zz=1")
    bot.waitUntil(lambda: "zz" in view.note.text())
    assert view.run_button.isEnabled()
    bot.mouseClick(view.axes, LEFT)
    bot.keyClick(view.axes.view(), Qt.Key.Key_Down)
    bot.keyClick(view.axes.view(), Qt.Key.Key_Return)
    assert view.field.text().endswith("registers=")


def test_cancel_keeps_what_is_done_and_leaves_no_process(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), work=fake_solvers.until_stopped)
    sweeping, view = window.tool_docks.sweeping, window.tool_docks.sweep
    enter(bot, window, "capacity.x=1,2,3")
    bot.waitUntil(lambda: "Point 1 of 3" in view.note.text(), timeout=20_000)
    bot.mouseClick(view.cancel_button, LEFT)
    assert not sweeping.running and "Cancelled after 0 of 3" in view.note.text()


def test_closing_the_project_forgets_its_sweep(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), work=fake_solvers.quick)
    sweeping = window.tool_docks.sweeping
    enter(bot, window, "capacity.x=1")
    bot.waitUntil(lambda: not sweeping.running, timeout=20_000)
    [row] = sweeping.rows
    assert row.outcome is not None and row.outcome.status is Status.OPTIMAL and row.outcome.ii == 2
    window.files.close()
    assert sweeping.rows == () and not window.tool_docks.sweep.table.isVisible()


def test_an_edited_machine_has_to_be_saved_first(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "projects" / "gemm_hopper", tmp_path / "gemm")
    window = open_window(tmp_path / "gemm")
    settings.set_machine_number(window.document, ("hand_off", "base"), 200)
    enter(bot, window, "registers=200")
    assert "save your changes" in window.tool_docks.sweep.note.text()
