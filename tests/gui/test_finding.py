"""Ctrl+F, Ctrl+Shift+P, the log, and pointing at an op: with real keys and mouse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from states import SCHEDULE, write_project

from core.explain.answer import NOTHING, Highlight
from twill_gui.action_table import ACTIONS
from twill_gui.dialogs.chooser import Choice, Chooser, narrowed
from twill_gui.document import editing
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    return open_window(write_project(tmp_path / "project"))


def chooser_of(bot: QtBot, window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> Chooser:
    window.activateWindow()
    bot.waitUntil(window.isActiveWindow)
    bot.keyClick(window.gantt.canvas, key, modifiers)
    [chooser] = [found for found in window.findChildren(Chooser) if found.isVisible()]
    chooser.activateWindow()
    bot.waitUntil(chooser.isActiveWindow)
    return chooser


def test_words_letters_and_order() -> None:
    choices = [
        Choice(name, about, "", name)
        for name, about in (("exp2.2", "math.exp2 compute.1"), ("reduce.1", "tt.reduce"), ("warp_group_dot.2", "exp"))
    ]
    for query, names in {
        "": ["exp2.2", "reduce.1", "warp_group_dot.2"],
        "exp": ["exp2.2", "warp_group_dot.2"],
        "dot": ["warp_group_dot.2"],
        "compute.1 exp": ["exp2.2"],
        "wgd": ["warp_group_dot.2"],
        "nothing": [],
    }.items():
        assert [choice.text for choice in narrowed(choices, query)] == names


def test_find_selects_while_typing_and_escape_goes_back(bot: QtBot, window: MainWindow) -> None:
    window.document.select(frozenset({"a"}))
    chooser = chooser_of(bot, window, Qt.Key.Key_F, CONTROL)
    bot.keyClicks(chooser.field, "use")  # the kind of b
    assert [choice.text for choice in chooser.shown] == ["b"]
    assert window.document.selection == {"b"}
    bot.keyClick(chooser.field, Qt.Key.Key_Escape)
    assert window.document.selection == {"a"}
    chooser = chooser_of(bot, window, Qt.Key.Key_F, CONTROL)
    bot.keyClick(chooser.field, Qt.Key.Key_Down)
    bot.keyClick(chooser.field, Qt.Key.Key_Return)
    assert window.document.selection == {"b"}


def test_the_palette_has_every_command_that_can_be_used_and_runs_it(bot: QtBot, window: MainWindow) -> None:
    chooser = chooser_of(bot, window, Qt.Key.Key_P, CONTROL | SHIFT)
    usable = {spec.name for spec in ACTIONS if window.actions_by_name[spec.name].isEnabled()} - {"palette"}
    assert {choice.value for choice in chooser.shown} == usable
    bot.keyClicks(chooser.field, "select all")
    bot.keyClick(chooser.field, Qt.Key.Key_Return)
    assert window.document.selection == {"a", "b"}


def test_the_log_tells_edits_with_their_verdict(window: MainWindow) -> None:
    editing.move(window.document, "b", 1, "compute.0")
    window.document.undo_stack.undo()
    editing.nudge_ops(window.document, {"b"}, 1)
    lines = [line.split("  ", 1)[1].strip() for line in window.log.toPlainText().splitlines()]
    assert lines[0].startswith("file     two ops: ")
    offer, *edits = lines[1:]  # the repair of the drop is offered in a message
    assert offer.startswith("message  warning: b breaks 1 rule: ")
    assert edits == ["edit     Move b: 1 violation", "edit     Undo Move b: legal", "edit     Nudge b: legal"]
    window.document.undo_stack.undo()


def test_a_fault_of_a_file_is_in_the_log(window: MainWindow, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("schema: twill.graph/1\nops: [")
    window.files.open(bad)
    assert "error: " in window.log.toPlainText() and "bad.yaml:3" in window.log.toPlainText()


def test_pointing_at_a_bar_lights_up_the_other_views(bot: QtBot, window: MainWindow) -> None:
    canvas, seen = window.gantt.canvas, []
    window.liveness.set_highlight = seen.append  # type: ignore[method-assign]
    before = window.reservation.grab().toImage()
    spots = (QPoint(x, y) for y in range(2, canvas.height(), 4) for x in range(2, canvas.width(), 4))
    place = next(p for p in spots if (bar := canvas.bar_at(QPointF(p))) and bar.op == "b" and bar.block is None)
    QTest.mouseMove(canvas, place)
    QApplication.processEvents()
    assert seen[-1] == Highlight(("b",))
    assert window.reservation.grab().toImage() != before
    QTest.mouseMove(canvas, QPoint(canvas.width() - 5, canvas.height() - 5))
    QApplication.processEvents()
    assert seen[-1] == NOTHING


def test_the_selection_menu_pins(bot: QtBot, window: MainWindow) -> None:
    window.document.select(frozenset({"b"}))
    window.gantt.menu_requested.emit(window.mapToGlobal(QPoint(50, 50)))
    menu = QApplication.activePopupWidget()
    assert menu is not None
    [pin] = [action for action in menu.actions() if action is window.actions_by_name["pin"]]
    menu.close()
    pin.trigger()
    assert window.document.graph is not None and window.document.graph.pins["b"].start == SCHEDULE.ops["b"].start
