"""The docks come back as they were, and are out of the way while nothing is open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot
from states import write_project

from twill_gui.main_window import MainWindow
from twill_gui.settings import Settings

OpenWindow = Callable[..., MainWindow]


def shown(window: MainWindow) -> set[str]:
    return {dock.windowTitle() for dock in window.dock_layout.docks if not dock.isHidden()}


def every(window: MainWindow) -> set[str]:
    return {dock.windowTitle() for dock in window.dock_layout.docks}


def test_docks_are_hidden_without_a_project(open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window()
    assert shown(window) == set()
    window.files.open(write_project(tmp_path / "p"))
    assert shown(window) == every(window)
    assert window.files.close()
    assert shown(window) == set()


def test_a_closed_dock_stays_closed_in_the_next_window_until_reset(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    project = write_project(tmp_path / "p")
    window = open_window(project)
    [inspector] = [dock for dock in window.dock_layout.docks if dock.windowTitle() == "Inspector"]
    inspector.close()
    assert window.close()
    later = open_window()
    later.dock_layout.restore(Settings(tmp_path / "window.ini"))
    assert shown(later) == set()
    later.files.open(project)
    assert shown(later) == every(later) - {"Inspector"}
    later.dock_layout.reset()
    assert shown(later) == every(later)


def test_a_layout_of_other_docks_is_not_taken(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    """One of an earlier program would hide every dock that it does not know."""
    project, remembered = write_project(tmp_path / "p"), Settings(tmp_path / "window.ini")
    window = open_window(project)
    for dock in window.dock_layout.docks:
        if dock.windowTitle() in ("Compare", "Measured"):
            dock.setObjectName(f"not {dock.windowTitle()}")
    remembered.set_layout(window.saveGeometry(), window.saveState())
    for path in (None, project):  # before a project is open, and while it is
        later = open_window(path)
        later.dock_layout.restore(remembered)
        later.files.open(project)
        assert shown(later) == every(later)
        for dock in later.dock_layout.docks:
            if dock.windowTitle() in ("Compare", "Measured"):
                assert "Liveness" in {one.windowTitle() for one in later.tabifiedDockWidgets(dock)}


def test_charts_that_share_the_time_axis_line_up(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    bot.wait(50)
    canvas = window.gantt.canvas
    left = canvas.mapToGlobal(canvas.rect().topLeft()).x()
    for view in (window.liveness, window.reservation):
        scale = view.time_scale()
        assert view.mapToGlobal(view.rect().topLeft()).x() + scale.left == left
        assert scale.x(4) - scale.x(0) == window.gantt.axis.x(4) - window.gantt.axis.x(0)
