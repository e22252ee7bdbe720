"""What takes the focus has a name for a screen reader, and the keyboard reaches everything that a mouse does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QComboBox, QMenu, QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from twill_gui.action_table import ACTIONS
from twill_gui.dialogs.export import ExportDialog
from twill_gui.dialogs.guide import GuideDialog
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def window(open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    """On a copy of the Hopper attention sample."""
    shutil.copytree(ROOT / "projects" / "attention_forward_hopper", tmp_path / "attention")
    return open_window(tmp_path / "attention")


def silent(top: QWidget, what: QAccessible.Text) -> list[str]:
    """The widgets that take the focus by Tab and have no such text for a screen reader, with the way to them."""
    found: list[str] = []
    for widget in top.findChildren(QWidget):
        takes_focus = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and not isinstance(widget, QScrollBar)
        inner = any(isinstance(one, QComboBox) for one in parents(widget))  # a box speaks for its list
        if not takes_focus or inner or widget.focusProxy() is not None:
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        if not interface.text(what).strip():
            found.append(" < ".join(type(one).__name__ for one in (widget, *parents(widget))))
    return found


def nameless(top: QWidget) -> list[str]:
    """Those without a name."""
    return silent(top, QAccessible.Text.Name)


def parents(widget: QWidget) -> Iterator[QWidget]:
    """From the widget's parent up."""
    while (widget := widget.parentWidget()) is not None:
        yield widget


def test_every_view_that_takes_the_focus_has_a_name(bot: QtBot, window: MainWindow) -> None:
    for title in window.dock_layout.views:
        window.dock_layout.bring_forward(title)
        bot.wait(10)
    found = nameless(window)
    assert not found, "\n".join(found)


def test_every_view_says_what_can_be_done_in_it(bot: QtBot, window: MainWindow) -> None:
    for title in window.dock_layout.views:
        window.dock_layout.bring_forward(title)
        bot.wait(10)
    found = [way for way in silent(window, QAccessible.Text.Description) if "QTabBar" not in way]
    assert not found, "\n".join(found)


def test_dialogs_and_the_welcome_page_have_names(bot: QtBot, open_window: OpenWindow, window: MainWindow) -> None:
    window.actions_by_name["export"].trigger()
    [dialog] = window.findChildren(ExportDialog)
    assert nameless(dialog) == []
    dialog.reject()
    window.actions_by_name["guide"].trigger()
    [guide] = window.findChildren(GuideDialog)
    assert nameless(guide) == []
    guide.close()
    window.files.close()
    assert nameless(window.welcome) == []


def test_every_command_is_in_a_menu_and_says_what_it_does(window: MainWindow) -> None:
    in_menus = {
        action.objectName()
        for menu in window.menuBar().findChildren(QMenu)
        for action in menu.actions()
        if isinstance(action, QAction)
    }
    assert {spec.name for spec in ACTIONS} <= in_menus
    assert [spec.name for spec in ACTIONS if not spec.tip] == []


def test_tab_goes_round_the_forms(bot: QtBot, window: MainWindow) -> None:
    """From field to field of Settings and back to the first, without a trap."""
    window.dock_layout.bring_forward("Settings")
    form = window.tool_docks.settings
    bot.waitUntil(form.isVisible)
    form.issue.setFocus()
    seen: list[QWidget] = []
    for _ in range(80):
        focus = window.focusWidget()
        if focus is None or (seen and focus is seen[0]):
            break
        seen.append(focus)
        bot.keyClick(focus, Qt.Key.Key_Tab)
    inside = {widget for widget in seen if form.isAncestorOf(widget)}
    assert {form.issue, form.isolate, form.hand_off, form.solve_button} <= inside
    assert any(not form.isAncestorOf(widget) for widget in seen), "Tab never leaves the form"
