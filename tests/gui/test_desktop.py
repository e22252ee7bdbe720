"""What users of any desktop program expect: recent files, the layout's reset, pictures, About, a report of a crash."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from modal_dialogs import answer_file_dialog, when_shown
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
    QNativeGestureEvent,
    QPointingDevice,
)
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from states import write_project

from core.resources import data_folder
from twill_gui.crash import CrashReports
from twill_gui.document import editing
from twill_gui.document.recovery import find_leftovers
from twill_gui.main_window import MainWindow
from twill_gui.settings import Settings

OpenWindow = Callable[..., MainWindow]
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def crash_reports() -> Iterator[Callable[[MainWindow], CrashReports]]:
    """The hook of uncaught exceptions, given back at the end."""
    before = sys.excepthook
    yield CrashReports
    sys.excepthook = before


def menu(window: MainWindow, title: str) -> QMenu:
    """The menu of that title, wherever it is in the menu bar."""
    [found] = [one for one in window.findChildren(QMenu) if one.title().replace("&", "") == title]
    return found


def take(bot: QtBot, menu: QMenu, text: str) -> None:
    """Opens the menu and goes to the entry by its keys."""
    [wanted] = [action for action in menu.actions() if action.text().replace("&", "") == text]
    menu.popup(QPoint(20, 20))
    bot.waitUntil(menu.isVisible)
    for _ in menu.actions():
        if menu.activeAction() is wanted:
            break
        bot.keyClick(menu, Qt.Key.Key_Down)
    assert menu.activeAction() is wanted
    bot.keyClick(menu, Qt.Key.Key_Return)


def test_recent_files_are_listed_the_last_one_first(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    first, second = write_project(tmp_path / "p"), write_project(tmp_path / "q")
    window = open_window(first)
    window.files.open(second)
    recent = menu(window, "Open recent")
    assert [action.text() for action in recent.actions()][:2] == [str(second), str(first)]
    take(bot, recent, str(first))
    assert window.document.state is not None and window.document.state.project.file == first
    assert Settings(tmp_path / "window.ini").recent_files == (first, second)
    take(bot, recent, "Clear")
    assert Settings(tmp_path / "window.ini").recent_files == () and not recent.isEnabled()


def test_the_layout_is_reset_by_menu(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    docks = {dock.windowTitle(): dock for dock in window.dock_layout.docks}
    before = window.dockWidgetArea(docks["Inspector"])
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, docks["Inspector"])
    take(bot, menu(window, "Docks"), "Problems")
    assert docks["Problems"].isHidden()
    take(bot, menu(window, "View"), "Reset layout")
    assert not docks["Problems"].isHidden()
    assert window.dockWidgetArea(docks["Inspector"]) == before


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_view_is_saved_by_menu_in_the_format_of_its_suffix(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path, suffix: str
) -> None:
    window = open_window(write_project(tmp_path / "p"))
    file = tmp_path / f"view.{suffix}"
    answer_file_dialog(bot, file)
    take(bot, menu(window, "Save picture of"), "Problems")
    bot.waitUntil(file.exists)
    if suffix == "png":
        assert QImage(str(file)).size() == window.problems_view.size() * 2
    elif suffix == "svg":
        size = window.problems_view.size()
        assert ElementTree.parse(file).getroot().get("viewBox") == f"0 0 {size.width()} {size.height()}"
    else:
        assert file.read_bytes().startswith(b"%PDF")
    assert str(file) in window.messages.messages[0].text


def test_a_pinch_zooms_at_the_cursor(open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    canvas, axis = window.gantt.canvas, window.gantt.axis
    place = QPointF(axis.x(4), 40)
    before = axis.scale
    gesture = QNativeGestureEvent(
        Qt.NativeGestureType.ZoomNativeGesture,
        QPointingDevice.primaryPointingDevice(),
        2,
        place,
        place,
        QPointF(canvas.mapToGlobal(place.toPoint())),
        0.5,
        QPointF(),
    )
    QApplication.sendEvent(canvas, gesture)
    assert axis.scale == pytest.approx(1.5 * before) and axis.x(4) == pytest.approx(place.x(), abs=1)


def test_a_text_dropped_on_the_window_begins_a_project(open_window: OpenWindow) -> None:
    window = open_window()
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(data_folder("projects") / "gemm_hopper" / "input.ttgir"))])
    middle, none = window.rect().center(), Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(middle, Qt.DropAction.CopyAction, mime, LEFT, none))
    QApplication.sendEvent(window, QDropEvent(QPointF(middle), Qt.DropAction.CopyAction, mime, LEFT, none))
    state = window.document.state
    assert state is not None and state.project.file is None and state.variant.graph.ops
    assert window.pages.currentWidget() is window.unsolved


def test_about_names_the_versions(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()
    told: list[str] = []

    def read(box: QMessageBox) -> None:
        told.append(box.text())
        bot.keyClick(box, Qt.Key.Key_Escape)

    when_shown(QMessageBox, read)
    take(bot, menu(window, "Help"), "About")
    assert len(told) == 1
    for part in ("Twill Explorer", "Python", "PySide6", "ortools", "z3-solver", "Apache License 2.0"):
        assert part.lower() in told[0].lower()


def test_an_internal_error_keeps_the_work_and_can_be_copied(
    bot: QtBot,
    open_window: OpenWindow,
    tmp_path: Path,
    crash_reports: Callable[[MainWindow], CrashReports],
    capsys: pytest.CaptureFixture[str],
) -> None:
    window = open_window(write_project(tmp_path / "p"))
    reports = crash_reports(window)
    editing.nudge_ops(window.document, {"b"}, 1)

    def fail(what: str) -> None:
        try:
            raise ValueError(what)
        except ValueError as fault:
            sys.excepthook(ValueError, fault, fault.__traceback__)

    worker = threading.Thread(target=fail, args=("the first",))
    worker.start()
    worker.join()
    bot.waitUntil(lambda: reports.count == 1)
    fail("the second, while the first is shown")
    assert reports.count == 2
    [message] = window.messages.messages
    assert "ValueError: the first" in message.text and "kept aside" in message.text
    window.files.autosave.wait()
    assert list((tmp_path / "recovery").glob("*/origin.json")) and find_leftovers(tmp_path / "recovery") == []
    [button] = [one for one in window.messages.findChildren(QPushButton) if one.text() == "Copy report"]
    bot.mouseClick(button, LEFT)
    copied = QGuiApplication.clipboard().text()
    assert "Traceback" in copied and "the first" in copied and "Python" in copied
    assert window.messages.messages == ()
    fail("the third")
    assert "the third" in window.messages.messages[0].text
    assert capsys.readouterr().err.count("Traceback") == 3


def test_what_is_not_a_key_of_the_chart_is_left_to_lists_and_fields(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    """Enter and Home belong to a list that has the focus."""
    window = open_window(write_project(tmp_path / "p"))
    window.gantt.zoom_in()
    scale = window.gantt.axis.scale
    tree: QWidget = window.project_view.tree
    tree.setFocus()
    bot.keyClick(tree, Qt.Key.Key_Home)
    assert window.gantt.axis.scale == scale
    window.gantt.setFocus()
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_Home)
    assert window.gantt.axis.scale < scale
