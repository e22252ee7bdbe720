"""The Problems dock over all loops of a kernel: a broken rule of a loop that is not shown is listed and leads there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.schedule.check import check
from twill_gui.document import editing
from twill_gui.main_window import MainWindow
from twill_gui.models.problems import ProblemRole

OpenWindow = Callable[..., MainWindow]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def window(open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    """On causal attention, whose loop `masked` is illegal while `full` is shown."""
    folder = tmp_path / "causal"
    shutil.copytree(ROOT / "projects" / "attention_causal_hopper", folder)
    window = open_window(folder)
    document = window.document
    editing.show_schedule(document, "masked")
    assert document.schedule is not None
    name, place = max(document.schedule.ops.items(), key=lambda item: item[1].start)
    editing.move(document, name, 0, place.group)
    editing.show_schedule(document, "full")
    return window


def titles(window: MainWindow) -> list[str]:
    return [problem.title for problem in window.problems.problems if problem.severity.value == "error"]


def test_the_loops_that_are_not_shown_are_judged_too(window: MainWindow) -> None:
    state = window.document.state
    assert state is not None and window.document.report is not None and window.document.report.legal
    masked = state.variants["masked"]
    assert masked.schedule is not None
    expected = check(masked.graph, masked.schedule).violations
    assert expected and titles(window) == [
        f"masked: {title}" for title in _shown_titles(window, "masked", back_to="full")
    ]
    assert len(titles(window)) == len(expected)
    assert window.status.violations.text() == "\N{CHECK MARK} legal, but not masked"
    editing.show_schedule(window.document, "masked")
    assert "violation" in window.status.violations.text()
    editing.show_schedule(window.document, "full")
    while window.document.undo_stack.canUndo():
        window.document.undo_stack.undo()
    assert titles(window) == [] and window.status.violations.text() == "\N{CHECK MARK} legal"


def _shown_titles(window: MainWindow, name: str, back_to: str) -> list[str]:
    editing.show_schedule(window.document, name)
    found = titles(window)
    editing.show_schedule(window.document, back_to)
    return found


@pytest.mark.parametrize("by_key", [False, True])
def test_a_problem_of_another_loop_leads_there(bot: QtBot, window: MainWindow, by_key: bool) -> None:
    window.dock_layout.bring_forward("Problems")
    problems = window.problems_view.list
    bot.waitUntil(problems.isVisible)
    index = window.problems.index(0)
    problem = index.data(ProblemRole.PROBLEM)
    assert problem.schedule == "masked" and not window.problems_view.why_button.isEnabled()
    if by_key:
        problems.setFocus()
        problems.setCurrentIndex(index)
        bot.keyClick(problems, Qt.Key.Key_Return)
    else:
        bot.mouseClick(problems.viewport(), Qt.MouseButton.LeftButton, pos=problems.visualRect(index).center())
    state = window.document.state
    assert state is not None and state.active == "masked"
    assert window.document.selection == frozenset(problem.ops)
    assert window.problems_view.why_button.isEnabled()
