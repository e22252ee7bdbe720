"""The IR text dock in the window: linked with the ops both ways, empty for graph files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QDockWidget, QLabel
from pytestqt.qtbot import QtBot
from states import write_project

from core.explain.answer import NOTHING, Highlight
from core.resources import data_folder
from twill_gui.document import editing
from twill_gui.main_window import MainWindow
from twill_gui.theme import Theme
from twill_gui.views.code import SYNTAX_DARK, SYNTAX_LIGHT
from twill_gui.views.ir_text import view as ir_view

OpenWindow = Callable[..., MainWindow]
LEFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier
HOPPER = data_folder("projects") / "attention_forward_hopper"
# Lines of that project's input.ttgir.
DOT_0, REDUCE_1, EXP_0, TRANSPOSE, YIELD = 31, 48, 44, 30, 89


@pytest.fixture
def window(bot: QtBot, open_window: OpenWindow) -> MainWindow:
    window = open_window(HOPPER)
    dock(window).raise_()
    bot.waitUntil(lambda: not window.ir_text.code.visibleRegion().isEmpty())
    return window


def dock(window: MainWindow) -> QDockWidget:
    return next(dock for dock in window.dock_layout.docks if dock.windowTitle() == "IR text")


def marked(window: MainWindow) -> dict[int, str]:
    """The grounds of the marked lines."""
    return {
        selection.cursor.blockNumber() + 1: selection.format.background().color().name()
        for selection in window.ir_text.code.extraSelections()
    }


def click_line(bot: QtBot, window: MainWindow, line: int, modifiers: Qt.KeyboardModifier) -> None:
    code = window.ir_text.code
    code.reveal(line)
    block = code.document().findBlockByNumber(line - 1)
    y = code.blockBoundingGeometry(block).translated(code.contentOffset()).center().y()
    bot.mouseClick(code.viewport(), LEFT, modifiers, QPoint(80, round(y)))


def bar_position(window: MainWindow, op: str) -> QPoint:
    canvas = window.gantt.canvas
    for y in range(0, canvas.height(), 3):
        for x in range(0, canvas.width(), 3):
            bar = canvas.bar_at(QPointF(x, y))
            if bar is not None and bar.op == op and bar.block is None:
                return QPoint(x + 2, y + 3)
    raise AssertionError(f"no bar of {op} is shown")


def test_the_loop_is_in_view_at_first(window: MainWindow) -> None:
    code = window.ir_text.code
    text = (HOPPER / "input.ttgir").read_text()
    assert code.toPlainText() == text
    assert any(code.in_view(line) for line, found in enumerate(text.splitlines(), 1) if "scf.for" in found)
    assert marked(window) == {}


def test_selected_ops_have_their_lines_marked_and_in_view(window: MainWindow) -> None:
    window.document.select(frozenset({"reduce.1"}))
    assert marked(window) == dict.fromkeys(range(REDUCE_1, REDUCE_1 + 5), SYNTAX_LIGHT.strong)
    assert window.ir_text.code.in_view(REDUCE_1)
    window.document.select(frozenset({"warp_group_dot.0"}))
    grounds = marked(window)
    assert grounds[DOT_0] == SYNTAX_LIGHT.strong
    assert grounds[TRANSPOSE] == SYNTAX_LIGHT.weak  # a view that it needs
    window.document.select(frozenset())
    assert marked(window) == {}


def test_a_click_in_the_chart_brings_the_line_into_view(bot: QtBot, window: MainWindow) -> None:
    window.ir_text.code.reveal(1)
    bot.mouseClick(window.gantt.canvas, LEFT, pos=bar_position(window, "exp2.0"))
    assert window.ir_text.code.in_view(EXP_0)
    assert marked(window)[EXP_0] == SYNTAX_LIGHT.strong


def test_a_click_on_a_line_selects_its_ops(bot: QtBot, window: MainWindow) -> None:
    none = Qt.KeyboardModifier.NoModifier
    click_line(bot, window, EXP_0, none)
    assert window.document.selection == {"exp2.0"}
    click_line(bot, window, DOT_0, CONTROL)
    assert window.document.selection == {"exp2.0", "warp_group_dot.0"}
    click_line(bot, window, EXP_0, CONTROL)
    assert window.document.selection == {"warp_group_dot.0"}
    click_line(bot, window, YIELD, none)  # of no op
    assert window.document.selection == {"warp_group_dot.0"}
    click_line(bot, window, TRANSPOSE, none)  # both products use it
    assert window.document.selection == {"warp_group_dot.0", "warp_group_dot.1"}


def test_a_double_click_in_the_chart_opens_the_line(bot: QtBot, window: MainWindow) -> None:
    [liveness] = [dock for dock in window.dock_layout.docks if dock.windowTitle() == "Liveness"]
    liveness.raise_()
    bot.waitUntil(lambda: window.ir_text.code.visibleRegion().isEmpty())
    bot.mouseDClick(window.gantt.canvas, LEFT, pos=bar_position(window, "exp2.0"))
    bot.waitUntil(lambda: not window.ir_text.code.visibleRegion().isEmpty())
    code = window.ir_text.code
    assert code.in_view(EXP_0) and code.textCursor().blockNumber() + 1 == EXP_0
    assert window.focusWidget() is code


def test_the_enter_key_in_the_chart_opens_the_line_of_a_closed_dock(bot: QtBot, window: MainWindow) -> None:
    dock(window).close()
    bot.mouseClick(window.gantt.canvas, LEFT, pos=bar_position(window, "exp2.0"))
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_Return)
    assert not dock(window).isHidden()
    assert window.ir_text.code.textCursor().blockNumber() + 1 == EXP_0


def test_edits_of_the_schedule_leave_the_text_alone(window: MainWindow) -> None:
    code = window.ir_text.code
    code.reveal(1)
    replaced: list[object] = []
    code.document().contentsChange.connect(lambda *change: replaced.append(change))
    editing.nudge_ops(window.document, {"exp2.0"}, 1)
    editing.toggle_pins(window.document, {"exp2.0"})
    window.document.undo_stack.undo()
    assert code.in_view(1)
    assert code.textCursor().blockNumber() == 0
    assert [change for change in replaced if change[1] != change[2]] == []


def test_a_graph_file_has_no_text_and_says_so(bot: QtBot, open_window: OpenWindow, window: MainWindow) -> None:
    window.document.select(frozenset({"exp2.0"}))
    assert window.files.open(data_folder("projects") / "paper_figure_1")
    [label] = [label for label in window.ir_text.findChildren(QLabel) if label.isVisible()]
    assert label.text() == ir_view.NO_TEXT
    assert not window.ir_text.open_line("s")
    assert window.files.open(HOPPER)
    assert not label.isVisible()
    assert window.ir_text.code.toPlainText() == (HOPPER / "input.ttgir").read_text()


def test_a_double_click_without_a_text_opens_no_dock(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    bot.mouseDClick(window.gantt.canvas, LEFT, pos=bar_position(window, "b"))
    assert window.ir_text.code.visibleRegion().isEmpty()


def test_the_text_follows_the_theme(window: MainWindow) -> None:
    window.document.select(frozenset({"exp2.0"}))
    window.set_theme(Theme.DARK)
    assert marked(window)[EXP_0] == SYNTAX_DARK.strong
    window.set_theme(Theme.LIGHT)
    assert marked(window)[EXP_0] == SYNTAX_LIGHT.strong


def test_what_is_pointed_at_is_marked_beside_the_selection(window: MainWindow) -> None:
    window.document.select(frozenset({"warp_group_dot.0"}))
    before = marked(window)
    window.ir_text.set_highlight(Highlight(("exp2.0",)))
    assert marked(window).keys() == before.keys() | {EXP_0}
    window.ir_text.set_highlight(NOTHING)
    assert marked(window) == before
