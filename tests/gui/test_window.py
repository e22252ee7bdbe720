"""The window's main job with real mouse and key events: open, look, edit, undo, save."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from modal_dialogs import answer_file_dialog, when_shown
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication, QCommandLinkButton, QMessageBox
from pytestqt.qtbot import QtBot
from states import GRAPH, SCHEDULE, write_project

from core.graph.write import dump_graph
from core.schedule.read import load_schedule
from core.schedule.report import Family
from twill_gui.dialogs.loops import LoopDialog
from twill_gui.document.files import open_state
from twill_gui.main_window import MainWindow
from twill_gui.samples import sample_projects
from twill_gui.theme import LIGHT
from twill_gui.views.cards import THUMBNAIL
from twill_gui.views.gantt import GanttMode
from twill_gui.views.welcome import WelcomeView

OpenWindow = Callable[..., MainWindow]
NO_MODIFIER = Qt.KeyboardModifier.NoModifier
CONTROL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project")


def bar_position(window: MainWindow, op: str) -> QPoint:
    """A point of the op's bar on its warp group's lane."""
    canvas = window.gantt.canvas
    for y in range(0, canvas.height(), 3):
        for x in range(0, canvas.width(), 3):
            bar = canvas.bar_at(QPointF(x, y))
            if bar is not None and bar.op == op and bar.block is None:
                return QPoint(x + 4, y + 4)
    raise AssertionError(f"no bar of {op} is shown")


def inspected(window: MainWindow) -> str:
    """The first heading of the Inspector."""
    item = window.inspector.tree.topLevelItem(0)
    assert item is not None
    return item.text(0)


def press(bot: QtBot, window: MainWindow, key: Qt.Key, modifier: Qt.KeyboardModifier = NO_MODIFIER) -> None:
    """Presses a key wherever the focus is in the window."""
    window.activateWindow()
    bot.waitUntil(window.isActiveWindow)
    bot.keyClick(window.focusWidget() or window, key, modifier)


def answer_message_box(bot: QtBot, button: QMessageBox.StandardButton) -> None:
    """Clicks a button of the message box that is about to appear."""

    when_shown(QMessageBox, lambda box: bot.mouseClick(box.button(button), Qt.MouseButton.LeftButton))


def test_open_through_the_dialog(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window()
    assert window.pages.currentWidget() is window.welcome
    answer_file_dialog(bot, project)
    press(bot, window, Qt.Key.Key_O, CONTROL)
    assert window.document.schedule == SCHEDULE
    assert window.pages.currentWidget() is window.gantt
    assert window.windowTitle().startswith("two ops[*]")
    assert not window.isWindowModified()
    assert window.status.ii.text() == "<b>II 6</b>"
    assert "legal" in window.status.violations.text()
    assert [link.toolTip() for link in window.welcome.findChildren(QCommandLinkButton)].count(str(project)) == 1


def test_open_a_sample_from_the_welcome_page(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()
    bot.waitUntil(lambda: window.welcome.samples.cards != [])
    [card] = [card for card in window.welcome.samples.cards if card.content.path.name == "paper_figure_1"]
    bot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert window.document.graph is not None
    assert set(window.document.graph.ops) == {"s", "p", "o"}
    assert window.files.close()
    card.setFocus()
    bot.keyClick(card, Qt.Key.Key_Return)
    assert window.document.graph is not None


def test_samples_are_read_once_the_welcome_page_is_looked_at(bot: QtBot) -> None:
    """A window that is opened on a project does not wait for all the others to be read."""
    read: list[int] = []
    welcome = WelcomeView(lambda: [read.append(1), *sample_projects()][1:2], LIGHT)
    bot.addWidget(welcome)
    welcome.show()
    welcome.hide()  # a project is opened in the same turn of the event loop
    bot.wait(20)
    assert read == [] and welcome.samples.cards == []
    for _ in range(2):
        welcome.show()
        bot.waitUntil(lambda: len(welcome.samples.cards) == 1)
        bot.wait(20)
        welcome.hide()
    assert read == [1]


def test_every_sample_is_a_card_with_a_thumbnail(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()
    bot.waitUntil(lambda: window.welcome.samples.cards != [])
    names = {folder.name for folder in (ROOT / "projects").iterdir() if (folder / "project.yaml").exists()}
    assert {card.content.path.name for card in window.welcome.samples.cards} == names
    for card in window.welcome.samples.cards:
        for file in card.content.thumbnails:
            size = QImage(str(file)).size()
            assert (size.width(), size.height()) == (THUMBNAIL.width() * 2, THUMBNAIL.height() * 2), file

    def apart() -> bool:
        boxes = [QRect(card.mapTo(window, QPoint()), card.size()) for card in window.welcome.samples.cards]
        return not any(a.intersects(b) for n, a in enumerate(boxes) for b in boxes[:n])

    bot.waitUntil(apart)


def test_click_selects_and_the_inspector_follows(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    bot.mouseClick(window.gantt.canvas, Qt.MouseButton.LeftButton, pos=bar_position(window, "b"))
    assert window.document.selection == {"b"}
    assert inspected(window) == "b"
    bot.mouseClick(window.gantt.canvas, Qt.MouseButton.LeftButton, CONTROL, bar_position(window, "a"))
    assert window.document.selection == {"a", "b"}
    assert inspected(window) == "2 operations"
    press(bot, window, Qt.Key.Key_Escape)
    assert window.document.selection == frozenset()


def test_zoom_pan_fit_and_unroll_by_key(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    axis = window.gantt.axis
    fitted = (axis.start, axis.end)
    press(bot, window, Qt.Key.Key_W)
    press(bot, window, Qt.Key.Key_W)
    assert axis.end - axis.start < fitted[1] - fitted[0]
    before = axis.start
    press(bot, window, Qt.Key.Key_D)
    assert axis.start > before
    press(bot, window, Qt.Key.Key_A)
    press(bot, window, Qt.Key.Key_S)
    press(bot, window, Qt.Key.Key_Home)
    assert (axis.start, axis.end) == fitted
    press(bot, window, Qt.Key.Key_U)
    assert window.gantt.mode is GanttMode.UNROLLED
    assert axis.end > fitted[1]
    press(bot, window, Qt.Key.Key_U)
    assert window.gantt.mode is GanttMode.FOLDED


def test_nudge_by_key_undo_and_redo(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    bot.mouseClick(window.gantt.canvas, Qt.MouseButton.LeftButton, pos=bar_position(window, "b"))
    press(bot, window, Qt.Key.Key_Right, ALT)
    press(bot, window, Qt.Key.Key_Right, ALT | SHIFT)
    assert window.document.schedule is not None and window.document.schedule.ops["b"].start == 14
    assert window.isWindowModified()
    assert window.actions_by_name["undo"].text() == "&Undo Nudge b"
    press(bot, window, Qt.Key.Key_Z, CONTROL)
    assert window.document.schedule == SCHEDULE
    assert not window.isWindowModified()
    press(bot, window, Qt.Key.Key_Z, CONTROL | SHIFT)
    assert window.document.schedule.ops["b"].start == 14


def test_move_to_another_group_by_key(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    bot.mouseClick(window.gantt.canvas, Qt.MouseButton.LeftButton, pos=bar_position(window, "b"))
    press(bot, window, Qt.Key.Key_Down, ALT)
    assert window.document.schedule is not None and window.document.schedule.ops["b"].group == "compute.1"
    press(bot, window, Qt.Key.Key_P)
    assert window.document.graph is not None and window.document.graph.pins["b"].group == "compute.1"


def test_drag_is_judged_on_drop_and_problems_lead_back(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    canvas = window.gantt.canvas
    start = bar_position(window, "b")
    left = start - QPoint(round(2 * window.gantt.axis.scale), 0)
    bot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
    for step in (1, 2, 3, 4):
        bot.mouseMove(canvas, start + (left - start) * step / 4)
    bot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=left)
    assert window.document.schedule is not None and window.document.schedule.ops["b"].start == 1
    report = window.document.report
    assert report is not None and [violation.family for violation in report.violations] == [Family.DEPENDENCE]
    assert "1 violation" in window.status.violations.text()
    problems = window.problems_view.list
    bot.mouseClick(
        problems.viewport(), Qt.MouseButton.LeftButton, pos=problems.visualRect(window.problems.index(0)).center()
    )
    assert window.document.selection == {"a", "b"}
    press(bot, window, Qt.Key.Key_Z, CONTROL)
    assert window.problems.problems == ()


def test_save_keeps_comments_and_can_be_opened_again(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    bot.mouseClick(window.gantt.canvas, Qt.MouseButton.LeftButton, pos=bar_position(window, "b"))
    press(bot, window, Qt.Key.Key_Right, ALT)
    press(bot, window, Qt.Key.Key_P)
    press(bot, window, Qt.Key.Key_S, CONTROL)
    assert not window.isWindowModified()
    assert "# a comment that a save keeps" in project.read_text()
    again = open_state(project).state
    assert again.variant.schedule == window.document.schedule
    assert again.project.pins == {"b": again.variant.graph.pins["b"]}
    press(bot, window, Qt.Key.Key_Z, CONTROL)
    assert window.isWindowModified()


def test_the_note_of_a_missing_schedule_goes_with_the_save(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    project = write_project(tmp_path / "p")
    (project.parent / "schedules" / "main.yaml").unlink()
    window = open_window(project)
    assert [problem.title for problem in window.problems.problems] == ["missing schedule"]
    press(bot, window, Qt.Key.Key_R, CONTROL)
    bot.waitUntil(lambda: window.document.schedule is not None, timeout=20_000)
    press(bot, window, Qt.Key.Key_S, CONTROL)
    assert "missing schedule" not in [problem.title for problem in window.problems.problems]


def test_save_a_bare_graph_as_a_project(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    graph = tmp_path / "loop.yaml"
    graph.write_text(dump_graph(GRAPH))
    window = open_window(graph)
    assert window.pages.currentWidget() is window.unsolved
    bot.mouseClick(window.unsolved.button, Qt.MouseButton.LeftButton)
    bot.waitUntil(lambda: window.document.schedule is not None, timeout=20_000)
    answer_file_dialog(bot, tmp_path / "new" / "kept")
    (tmp_path / "new").mkdir()
    press(bot, window, Qt.Key.Key_S, CONTROL)
    state = open_state(tmp_path / "new" / "kept.yaml").state
    assert state.variant.schedule == window.document.schedule
    assert load_schedule(tmp_path / "new" / "schedules" / "main.yaml", GRAPH) == window.document.schedule
    assert (tmp_path / "new" / "schedules" / "main.record.yaml").exists()
    assert not window.isWindowModified()


def test_drop_a_file(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window()
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(project))])
    middle = window.rect().center()
    enter = QDragEnterEvent(middle, Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, NO_MODIFIER)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(middle), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, NO_MODIFIER)
    QApplication.sendEvent(window, drop)
    assert window.document.schedule == SCHEDULE


def test_unsaved_changes_are_asked_about(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    bot.mouseClick(window.gantt.canvas, Qt.MouseButton.LeftButton, pos=bar_position(window, "b"))
    press(bot, window, Qt.Key.Key_Right, ALT)
    answer_message_box(bot, QMessageBox.StandardButton.Cancel)
    press(bot, window, Qt.Key.Key_W, CONTROL)
    assert window.document.state is not None and window.isWindowModified()
    answer_message_box(bot, QMessageBox.StandardButton.Save)
    press(bot, window, Qt.Key.Key_W, CONTROL)
    assert window.document.state is None
    assert window.pages.currentWidget() is window.welcome
    saved = load_schedule(project.parent / "schedules" / "main.yaml", GRAPH)
    assert saved.ops["b"].start == SCHEDULE.ops["b"].start + 1


def test_discarded_changes_are_gone(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    bot.mouseClick(window.gantt.canvas, Qt.MouseButton.LeftButton, pos=bar_position(window, "b"))
    press(bot, window, Qt.Key.Key_Right, ALT)
    answer_message_box(bot, QMessageBox.StandardButton.Discard)
    assert window.close()
    assert load_schedule(project.parent / "schedules" / "main.yaml", GRAPH) == SCHEDULE


def test_a_bad_file_is_a_message_with_its_place(bot: QtBot, open_window: OpenWindow, project: Path) -> None:
    window = open_window(project)
    bad = project.with_name("bad.yaml")
    bad.write_text("schema: twill.project/1\nname: x\ninput: {graph: graph.yaml}\nmachin: h100\n")
    assert not window.files.open(bad)
    assert window.document.schedule == SCHEDULE
    [problem] = [problem for problem in window.problems.problems if "machin" in problem.text]
    assert problem.place.endswith("bad.yaml:4:1")
    assert "bad.yaml:4:1" in window.messages.messages[0].text


def test_a_schedule_that_no_longer_fits_is_a_warning(open_window: OpenWindow, project: Path) -> None:
    file = project.parent / "schedules" / "main.yaml"
    file.write_text(file.read_text().replace("b:", "gone:"))
    window = open_window(project)
    assert window.document.schedule is None
    assert any("gone" in problem.text and "main.yaml" in problem.place for problem in window.problems.problems)


def test_several_loops_are_a_question(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()

    def answer(dialog: LoopDialog) -> None:
        bot.keyClick(dialog.focusWidget(), Qt.Key.Key_Down)
        bot.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)

    when_shown(LoopDialog, answer)
    assert window.files.open(DATA / "bad" / "two_loops.ttgir")
    assert window.document.state is not None
    assert window.document.state.project.input.loop == 1


def test_all_keys_are_listed(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()
    press(bot, window, Qt.Key.Key_Question)
    dialogs = [widget for widget in QApplication.topLevelWidgets() if widget.windowTitle() == "All keys"]
    assert len(dialogs) == 1 and dialogs[0].isVisible()
    bot.keyClick(dialogs[0], Qt.Key.Key_Escape)
    assert not dialogs[0].isVisible()
