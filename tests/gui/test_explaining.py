"""Why not: asked by key, click and form, answered better and better, linked with all views, applied and undone."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fake_explainers
import fake_solvers
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from states import GRAPH, SCHEDULE, write_project

from core.cli import main
from core.explain.answer import NOTHING, Highlight
from core.explain.question import why_not_ii
from core.resources import data_folder
from core.schedule.report import Family
from twill_gui.command_lines import explain_command
from twill_gui.document import editing
from twill_gui.document.files import open_state
from twill_gui.jobs.serving import Task
from twill_gui.jobs.solver import Job, Solver
from twill_gui.main_window import MainWindow
from twill_gui.models.asking import Asked, as_options, question
from twill_gui.views.explain import ExplainView, Stage

OpenWindow = Callable[..., MainWindow]
CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def opened(open_window: OpenWindow, tmp_path: Path) -> Callable[..., MainWindow]:
    """A window on the small project, with a stand-in for the explanation's process."""
    file = write_project(tmp_path / "project")
    return lambda work: open_window(file, fake_solvers.quick, work)


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are made but do not run: for what does not depend on their answers, or is told them by `tell`."""

    def start(solver: Solver, subject: object, options: object, revision: int, schedule_name: str) -> Job:
        return Job(Task(fake_explainers.answers, subject, options), revision, schedule_name, None, solver)

    monkeypatch.setattr(Solver, "start", start)


def tell(window: MainWindow) -> None:
    """Asks why not II 4, and gives the answer of the stand-in."""
    graph = window.document.graph
    assert graph is not None
    window.explaining.ask(Asked(4))
    window.explain_view.show_answer(replace(fake_explainers.refused(why_not_ii(graph, 4)), done=True))
    window.explain_view.finish(Stage.DONE)
    QApplication.processEvents()


def wait_for_end(bot: QtBot, window: MainWindow) -> None:
    bot.waitUntil(lambda: not window.explaining.busy, timeout=30_000)


def ask(bot: QtBot, window: MainWindow, asked: Asked) -> None:
    """Asks by the form, and waits for the answer."""
    window.explain_view.form.set_asked(asked)
    window.dock_layout.bring_forward("Explain")
    bot.mouseClick(window.explain_view.ask_button, LEFT)
    wait_for_end(bot, window)


def came(window: MainWindow) -> bool:
    """Whether the process has said something."""
    answer = window.explain_view.answer
    return answer is not None and answer.seconds > 0


def place_of(view: ExplainView, text: str, number: int = 0) -> QPoint:
    """A point on a link of the text, brought into view."""
    document = view.browser.document()
    cursor = QTextCursor(document)
    found: list[QTextCursor] = []
    while not (cursor := document.find(text, cursor)).isNull():
        if cursor.charFormat().isAnchor():
            found.append(QTextCursor(cursor))
    start = QTextCursor(found[number])
    start.setPosition(found[number].selectionStart())
    view.browser.setTextCursor(start)
    view.browser.ensureCursorVisible()
    return view.browser.cursorRect(start).center() + QPoint(3, 0)


def point_at(view: ExplainView, place: QPoint) -> None:
    QTest.mouseMove(view.browser.viewport(), place)
    QApplication.processEvents()


def lit_of(window: MainWindow) -> list[Highlight]:
    """What the views are told to light up from now on."""
    seen: list[Highlight] = []
    window.explain_view.highlighted.connect(seen.append)
    return seen


def test_control_e_is_answered_by_arithmetic_at_once(bot: QtBot, idle: None, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.until_stopped)
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_E, CONTROL)
    view = window.explain_view
    assert view.form.asked == Asked(SCHEDULE.ii - 1)
    assert view.isVisible() and "slowest recurrence: needs 5, has 5 ✓" in view.text()
    view.form.set_asked(Asked(4))
    bot.keyClick(view.form.ii, Qt.Key.Key_Return)
    # Nothing has come from the process yet.
    assert view.answer is not None and view.answer.seconds == 0 and view.headline == "II 4 is impossible"
    assert "not minimised" in view.text() and "searching" in view.text() and "; arithmetic so far" in view.text()
    assert "the recurrence a -> b -> a takes 5 cycles in one iteration and has 4" in view.text()
    assert "needs 5, has 4 ×" in view.text()


def test_the_real_search_confirms_what_arithmetic_says(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    ask(bot, window, Asked(4))
    answer = window.explain_view.answer
    assert answer is not None and answer.done
    [core] = answer.cores
    assert core.confirmed_by == "z3" and [reason.family for reason in core.reasons] == [Family.DEPENDENCE]
    assert "confirmed by a second solver (z3)" in window.explain_view.text()
    ask(bot, window, Asked(5))
    assert window.explain_view.headline == "II 5 is possible"


def test_pointing_at_a_noun_lights_it_up_everywhere(bot: QtBot, idle: None, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.answers)
    tell(window)
    view, seen = window.explain_view, lit_of(window)
    window.dock_layout.bring_forward("Graph")
    before = window.gantt.canvas.grab().toImage()
    point_at(view, place_of(view, "x"))
    assert seen[-1] == Highlight(("a",), units=("x",))
    assert window.gantt.canvas.grab().toImage() != before
    rows = window.reservation.grab().toImage()
    point_at(view, place_of(view, "Reason 1"))
    assert seen[-1].dependences == GRAPH.dependences and set(seen[-1].ops) == {"a", "b"}
    assert window.reservation.grab().toImage() != rows
    leaving = QEvent(QEvent.Type.Leave)
    QApplication.sendEvent(view.browser.viewport(), leaving)
    assert seen[-1] == NOTHING
    assert window.gantt.canvas.grab().toImage() == before


def test_a_link_selects_and_a_chosen_core_stays_lit(bot: QtBot, idle: None, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.answers)
    tell(window)
    view, seen = window.explain_view, lit_of(window)
    bot.mouseClick(view.browser.viewport(), LEFT, pos=place_of(view, "b"))
    assert window.document.selection == {"b"}
    bot.mouseClick(view.browser.viewport(), LEFT, pos=place_of(view, "Reason 2"))
    assert window.document.selection == {"a", "b"}
    assert "● Reason 2" in view.text() and "○ Reason 1" in view.text()
    point_at(view, place_of(view, "a"))
    assert seen[-1].units == ()
    QApplication.sendEvent(view.browser.viewport(), QEvent(QEvent.Type.Leave))
    assert seen[-1].units == ("x",) and seen[-1].dependences == GRAPH.dependences


def test_links_are_reached_by_key(bot: QtBot, idle: None, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.answers)
    tell(window)
    view = window.explain_view
    view.browser.setFocus()
    bot.keyClick(view.browser, Qt.Key.Key_Tab)  # the first link is that of the first core
    bot.keyClick(view.browser, Qt.Key.Key_Return)
    assert window.document.selection == {"a", "b"} and "● Reason 1" in view.text()


def test_cancel_keeps_what_is_known(bot: QtBot, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.until_stopped)
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_E, CONTROL)
    bot.waitUntil(lambda: came(window), timeout=20_000)
    assert "searching" in window.explain_view.text()
    bot.mouseClick(window.explain_view.cancel_button, LEFT)
    wait_for_end(bot, window)
    assert "is impossible" in window.explain_view.headline and "cancelled" in window.explain_view.text()


def test_control_period_cancels(bot: QtBot, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.until_stopped)
    assert not window.actions_by_name["cancel"].isEnabled()
    window.explaining.ask(Asked(5))
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_Period, CONTROL)
    wait_for_end(bot, window)
    assert "cancelled" in window.explain_view.text().lower() and not window.actions_by_name["cancel"].isEnabled()


def test_a_time_out_is_never_called_impossible(bot: QtBot, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.does_not_know)
    ask(bot, window, Asked(5))
    assert window.explain_view.headline == "No answer in 30 s"
    assert "impossible" not in window.explain_view.text() and "is not known" in window.explain_view.text()


@pytest.mark.parametrize("work", [fake_explainers.crash, fake_explainers.fail])
def test_an_error_is_a_message_and_arithmetic_stays(
    bot: QtBot, opened: Callable[..., MainWindow], work: Callable[..., None]
) -> None:
    window = opened(work)
    ask(bot, window, Asked(4))
    assert "internal error" in window.messages.messages[0].text
    assert window.explain_view.headline == "II 4 is impossible"
    assert "internal error" in window.explain_view.text()


def test_a_change_that_would_help_is_one_undo_step(bot: QtBot, idle: None, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.answers)
    tell(window)
    before = window.document.state
    view = window.explain_view
    bot.mouseClick(view.browser.viewport(), LEFT, pos=place_of(view, "Apply"))
    assert window.document.graph is not None
    assert [kind.count for kind in window.document.graph.groups] == [3]
    assert window.document.undo_stack.count() == 1
    assert "has changed since" in view.text()
    assert window.files.save()
    assert [kind.count for kind in open_state(before.project.file).state.variant.graph.groups] == [3]  # type: ignore
    window.document.undo_stack.undo()
    assert window.document.graph.groups == GRAPH.groups


def test_a_new_question_ends_the_one_before(bot: QtBot, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.until_stopped)
    window.explaining.ask(Asked(4))
    bot.waitUntil(lambda: came(window), timeout=20_000)
    window.explaining.ask(Asked(3))
    assert not came(window) and window.explain_view.form.asked == Asked(3)
    bot.waitUntil(lambda: came(window), timeout=20_000)
    assert window.explain_view.answer is not None and window.explain_view.answer.ii == 3


def test_closing_the_project_ends_the_search_and_clears(bot: QtBot, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.until_stopped)
    window.explaining.ask(Asked(4))
    assert window.files.close()
    assert not window.explaining.busy and window.explain_view.text() == ""


def test_e_asks_about_the_selected_op(bot: QtBot, idle: None, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.answers)
    view = window.explain_view
    window.document.select(frozenset({"b"}))
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_E)
    # Both groups take b, which could not start earlier: its window begins at 3.
    assert view.form.asked == Asked(6, "b", "compute.0", 2)
    editing.move(window.document, "b", 1, "compute.1")
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_E)
    assert view.form.asked == Asked(6, "b", "compute.1", 1)  # where it is, which is wrong
    assert view.answer is not None and [v.family for v in view.answer.in_place] == [Family.DEPENDENCE]


def test_a_group_of_the_inspector_that_is_not_possible_asks_why(
    bot: QtBot, idle: None, open_window: OpenWindow
) -> None:
    window = open_window(data_folder("projects") / "gemm_hopper")
    window.document.select(frozenset({"warp_group_dot.0"}))
    tree = window.inspector.tree
    [item] = [found for found in tree.findItems("load.0", Qt.MatchFlag.MatchRecursive) if found.text(0) == "load.0"]
    bot.mouseClick(tree.viewport(), LEFT, pos=tree.visualItemRect(item).center())
    assert window.explain_view.form.asked == Asked(512, "warp_group_dot.0", "load.0")
    assert window.explain_view.headline == "II 512 with warp_group_dot.0 on load.0 is impossible"
    assert "a rule by itself" in window.explain_view.text()  # before any search


def test_without_a_schedule_the_bound_is_asked_about(
    bot: QtBot, idle: None, open_window: OpenWindow, tmp_path: Path
) -> None:
    window = open_window(write_project(tmp_path / "p", None))
    bot.keyClick(window, Qt.Key.Key_E, CONTROL)
    assert window.explain_view.form.asked == Asked(4)
    assert window.explain_view.headline == "II 4 is impossible"
    place = place_of(window.explain_view, "slowest recurrence")
    bot.mouseClick(window.explain_view.browser.viewport(), LEFT, pos=place)
    assert window.document.selection == {"a", "b"}


def test_problems_lead_to_the_question_why(bot: QtBot, idle: None, opened: Callable[..., MainWindow]) -> None:
    window = opened(fake_explainers.answers)
    assert not window.problems_view.why_button.isVisible()
    editing.move(window.document, "b", 1, "compute.0")
    window.dock_layout.bring_forward("Problems")
    bot.mouseClick(window.problems_view.why_button, LEFT)
    assert window.explain_view.form.asked == Asked(6, "b", "compute.0", 1)


@pytest.mark.parametrize(
    "asked",
    [
        Asked(4),
        Asked(6, "b", "compute.1"),
        Asked(6, "b", None, 2),
        Asked(4, sensitivity=True),
        Asked(6, registers=16),
        Asked(6, groups=(("compute", 1),)),
    ],
    ids=str,
)
def test_every_question_is_the_same_on_the_command_line(asked: Asked, tmp_path: Path) -> None:
    file = write_project(tmp_path / "p")
    state = open_state(file).state
    written = io.StringIO()
    words = shlex.split(explain_command(state, *as_options(asked)))
    with contextlib.redirect_stdout(written):
        main([*words[1:], "--limit-s", "0.01", "--json"])
    document = json.loads(written.getvalue())
    wanted = question(asked, state.variant.graph, state.variant.schedule)
    assert (document["question"], document["ii"]) == (wanted.title, wanted.ii)


def test_text_and_command_line_are_copied(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(write_project(tmp_path / "p"))
    ask(bot, window, Asked(4))
    window.explain_view.copy_text.trigger()
    assert QGuiApplication.clipboard().text() == window.explain_view.text()
    window.explain_view.copy_command.trigger()
    command = shlex.split(QGuiApplication.clipboard().text())
    assert command[0] == "twill"
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        assert main([*command[1:], "--json"]) == 0
    document = json.loads(written.getvalue())
    answer = window.explain_view.answer
    assert answer is not None
    mine, theirs = answer.as_json(), document if "ii" in document else document["results"][0]
    assert {key: theirs[key] for key in ("question", "ii", "verdict", "cores")} == {
        key: mine[key] for key in ("question", "ii", "verdict", "cores")
    }
