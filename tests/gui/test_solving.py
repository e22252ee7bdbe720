"""Solving from the window: results become undo steps or offers, never surprises."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import fake_solvers
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from states import SCHEDULE, write_project

from core.project.record import record_file
from core.resources import data_folder
from core.solve.events import Level, SolveResult, Status, TrailEntry, Verdict
from twill_gui.document import editing
from twill_gui.jobs.solver import solve
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]
CONTROL = Qt.KeyboardModifier.ControlModifier


def press(bot: QtBot, window: MainWindow, key: Qt.Key) -> None:
    window.activateWindow()
    bot.waitUntil(window.isActiveWindow)
    bot.keyClick(window.focusWidget() or window, key, CONTROL)


def wait_until_idle(bot: QtBot, window: MainWindow) -> None:
    bot.waitUntil(lambda: not window.solving.busy, timeout=20_000)


def click_in_message(bot: QtBot, window: MainWindow, label: str) -> None:
    [button] = [b for b in window.messages.findChildren(QPushButton) if b.text() == label and b.isVisible()]
    bot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_result_is_one_undo_step(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.quick)
    assert window.actions_by_name["solve"].isEnabled() and not window.actions_by_name["cancel"].isEnabled()
    press(bot, window, Qt.Key.Key_R)
    assert window.solving.busy
    assert not window.actions_by_name["solve"].isEnabled()
    wait_until_idle(bot, window)
    assert window.document.schedule is not None and window.document.schedule.ii == 2
    assert window.status.solver.text() == "Optimal: II 2, proved"
    assert window.jobs.level_table.isHidden()
    assert window.document.undo_stack.undoText() == "Solve: II 2"
    press(bot, window, Qt.Key.Key_Z)
    assert window.document.schedule == SCHEDULE


def test_the_trail_grows_while_the_solve_runs(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.step_then_wait)
    press(bot, window, Qt.Key.Key_R)
    bot.waitUntil(lambda: len(window.progress.trail.rows) == 1, timeout=20_000)
    model = window.jobs.trail_table.model()
    row = [model.index(0, column).data() for column in range(model.columnCount())]
    assert row == ["1", "\N{MULTIPLICATION SIGN} infeasible", "unit", "0.01"]
    assert window.progress.bracket == "II \N{GREATER-THAN OR EQUAL TO} 2, none found yet"
    assert window.jobs.cancel_button.isVisible()
    bot.mouseClick(window.jobs.cancel_button, Qt.MouseButton.LeftButton)
    wait_until_idle(bot, window)


@pytest.mark.parametrize(
    ("last", "bound", "words"), [(8, 9, "no II up to 8 is possible"), (8, 3, "II 8 is not possible")]
)
def test_what_is_proved_impossible_is_not_called_unfound(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path, last: int, bound: int, words: str
) -> None:
    """Of all intervals, or where only one was asked for and says nothing of those below it."""
    window = open_window(write_project(tmp_path / "p"), fake_solvers.step_then_wait)
    trail = (TrailEntry(last, Verdict.INFEASIBLE, 0.1, "unit"),)
    window.progress.show(SolveResult(Status.INFEASIBLE, None, bound, trail, (), 0.1, None))
    assert window.progress.headline == "Infeasible up to the limit, proved"
    assert window.progress.bracket == words


def test_cancel_offers_the_best_so_far(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.until_stopped)
    press(bot, window, Qt.Key.Key_R)
    bot.waitUntil(lambda: window.progress.note == "searching", timeout=20_000)
    press(bot, window, Qt.Key.Key_Period)
    assert window.progress.headline.startswith("Cancelling")
    assert not window.actions_by_name["cancel"].isEnabled()
    wait_until_idle(bot, window)
    assert window.document.schedule == SCHEDULE
    assert "II 3" in window.messages.messages[0].text
    click_in_message(bot, window, "Use it")
    assert window.document.schedule is not None and window.document.schedule.ii == 3
    assert window.messages.messages == ()


def test_a_result_for_an_older_revision_is_only_offered(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.until_told)
    press(bot, window, Qt.Key.Key_R)
    bot.waitUntil(lambda: window.progress.note != "", timeout=20_000)
    editing.nudge_ops(window.document, {"b"}, 1)
    edited = window.document.schedule
    Path(window.progress.note).touch()
    wait_until_idle(bot, window)
    assert window.document.schedule is edited
    assert "before your last changes" in window.messages.messages[0].text
    click_in_message(bot, window, "Use it")
    assert window.document.schedule is not None and window.document.schedule.ii == 2
    window.document.undo_stack.undo()
    assert window.document.schedule == edited


def test_opening_another_project_ends_the_solve(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.deaf)
    press(bot, window, Qt.Key.Key_R)
    bot.waitUntil(lambda: window.progress.note != "", timeout=20_000)
    assert window.files.open(write_project(tmp_path / "q"))
    wait_until_idle(bot, window)
    assert window.progress.headline == "No solve yet"
    assert window.messages.messages == ()


def test_a_crash_is_a_message_and_the_work_goes_on(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.crash)
    press(bot, window, Qt.Key.Key_R)
    wait_until_idle(bot, window)
    assert "ended unexpectedly" in window.messages.messages[0].text
    assert window.document.schedule == SCHEDULE
    assert window.actions_by_name["solve"].isEnabled()


def test_closing_the_window_ends_the_solve(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"), fake_solvers.deaf)
    press(bot, window, Qt.Key.Key_R)
    bot.waitUntil(lambda: window.progress.note != "", timeout=20_000)
    assert window.close()


def test_the_real_solver_solves_figure_1_of_the_paper(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    graph = tmp_path / "figure_1.yaml"
    graph.write_bytes((data_folder("projects") / "paper_figure_1" / "figure_1.yaml").read_bytes())
    window = open_window(graph, solve)
    bot.mouseClick(window.unsolved.button, Qt.MouseButton.LeftButton)
    bot.waitUntil(lambda: not window.solving.busy, timeout=120_000)
    assert window.status.solver.text() == "Optimal: II 2, proved"
    assert window.document.report is not None and window.document.report.legal
    levels = {level.name: level.value for level in window.progress.levels.rows}
    assert (levels[Level.II], levels[Level.LENGTH]) == (2, 4)
    assert window.pages.currentWidget() is window.gantt


def test_a_long_solve_of_the_real_solver_is_cancelled(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(data_folder("projects") / "attention_backward_hopper", solve)
    before = window.document.schedule
    press(bot, window, Qt.Key.Key_R)
    bot.waitUntil(lambda: window.progress.trail.rows != (), timeout=120_000)
    children = multiprocessing.active_children()
    assert len(children) == 1
    press(bot, window, Qt.Key.Key_Period)
    assert window.progress.headline.startswith("Cancelling")
    wait_until_idle(bot, window)
    assert window.progress.headline == "Cancelled"
    assert window.document.schedule is before
    assert multiprocessing.active_children() == []


def pending(bot: QtBot, open_window: OpenWindow, folder: Path) -> tuple[MainWindow, Path]:
    """A window with a schedule whose second opinion is still asked for, and the file that lets it come."""
    window = open_window(write_project(folder), fake_solvers.with_second_opinion)
    press(bot, window, Qt.Key.Key_R)
    bot.waitUntil(lambda: window.progress.note != "", timeout=20_000)
    return window, Path(window.progress.note)


def confirmed(window: MainWindow) -> list[str | None]:
    state = window.document.state
    assert state is not None and state.variant.result is not None
    return [entry.confirmed_by for entry in state.variant.result.trail]


def test_a_schedule_is_shown_before_its_second_opinion(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, sign = pending(bot, open_window, tmp_path / "p")
    assert window.document.schedule is not None and window.document.schedule.ii == 5
    assert window.status.solver.text() == "Optimal: II 5, proved; second opinion pending"
    assert window.document.undo_stack.count() == 1 and confirmed(window) == [None]
    assert window.jobs.cancel_button.isVisible() and window.actions_by_name["solve"].isEnabled()
    sign.touch()
    wait_until_idle(bot, window)
    assert window.status.solver.text() == "Optimal: II 5, proved"
    assert confirmed(window) == ["z3"] and window.document.undo_stack.count() == 1
    assert window.jobs.trail_table.model().index(0, 2).data() == "cp-sat + z3"
    press(bot, window, Qt.Key.Key_Z)
    assert window.document.schedule == SCHEDULE
    window.document.undo_stack.redo()
    assert confirmed(window) == ["z3"]


def test_a_second_opinion_that_comes_after_a_save_and_an_edit_is_kept(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    window, sign = pending(bot, open_window, tmp_path / "p")
    assert window.files.save() and not window.document.modified
    record = record_file(tmp_path / "p" / "schedules" / "main.yaml")
    assert "one solver" in record.read_text()
    editing.nudge_ops(window.document, {"b"}, 1)
    edited = window.document.schedule
    sign.touch()
    wait_until_idle(bot, window)
    assert window.document.schedule is edited and window.document.state is not None
    assert window.document.state.variant.result is None
    window.document.undo_stack.undo()
    assert confirmed(window) == ["z3"] and window.document.modified
    assert window.files.save() and "two solvers" in record.read_text()


def test_cancelling_the_second_opinion_keeps_the_answer(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = pending(bot, open_window, tmp_path / "p")
    press(bot, window, Qt.Key.Key_Period)
    wait_until_idle(bot, window)
    assert window.document.schedule is not None and window.document.schedule.ii == 5
    assert window.status.solver.text() == "Optimal: II 5, proved" and confirmed(window) == [None]
    assert window.messages.messages == ()


def test_solving_again_does_not_wait_for_the_second_opinion(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    window, sign = pending(bot, open_window, tmp_path / "p")
    editing.nudge_ops(window.document, {"b"}, 1)
    press(bot, window, Qt.Key.Key_R)
    bot.waitUntil(lambda: window.progress.note not in ("", str(sign)), timeout=20_000)
    assert window.document.undo_stack.count() == 3 and window.document.schedule is not None
    assert window.document.undo_stack.undoText() == "Solve: II 5"
    Path(window.progress.note).touch()
    wait_until_idle(bot, window)
    assert confirmed(window) == ["z3"]


def test_a_second_opinion_that_fails_takes_the_proof_away(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, sign = pending(bot, open_window, tmp_path / "p")
    part = sign.with_suffix(".part")
    part.write_text("z3 has a legal schedule for II 4")
    part.rename(sign)
    wait_until_idle(bot, window)
    assert window.document.schedule is not None and window.document.schedule.ii == 5
    assert window.document.state is not None and window.document.state.variant.result is None
    assert "z3 has a legal schedule" in window.messages.messages[0].text
    assert window.status.solver.text() == "Second opinion failed"
