"""The CUDA dock in the window: the kernel of the shown schedule, linked with the ops both ways; why there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QDockWidget, QLabel
from pytestqt.qtbot import QtBot

from core.explain.answer import NOTHING, Highlight
from core.export.cuda.kernel import kernel_file
from core.export.roles.build import scheduled_program
from core.export.roles.places import ScheduledLoop
from core.resources import data_folder
from twill_gui.document import editing
from twill_gui.main_window import MainWindow
from twill_gui.views.cuda_text.view import CudaTextView

OpenWindow = Callable[..., MainWindow]
LEFT = Qt.MouseButton.LeftButton
HOPPER = data_folder("projects") / "attention_forward_hopper"
GRAPH = data_folder("projects") / "paper_figure_1"


def dock(window: MainWindow) -> QDockWidget:
    return next(dock for dock in window.dock_layout.docks if dock.windowTitle() == "CUDA")


def raised(bot: QtBot, window: MainWindow) -> CudaTextView:
    dock(window).raise_()
    view = window.tool_docks.cuda
    bot.waitUntil(lambda: not view.visibleRegion().isEmpty())
    return view


@pytest.fixture
def window(bot: QtBot, open_window: OpenWindow) -> MainWindow:
    window = open_window(HOPPER)
    view = raised(bot, window)
    bot.waitUntil(lambda: view.code.isVisible() and not view.code.loading, timeout=20000)
    return window


def marked(view: CudaTextView) -> set[int]:
    return {selection.cursor.blockNumber() + 1 for selection in view.code.extraSelections()}


def lines_with(view: CudaTextView, word: str) -> set[int]:
    return {number for number, line in enumerate(view.code.toPlainText().splitlines(), 1) if word in line}


def why_not(view: CudaTextView) -> str:
    labels = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    assert len(labels) == 1
    return labels[0]


def test_the_text_is_that_of_the_export(window: MainWindow) -> None:
    state, schedule = window.document.state, window.document.schedule
    assert state is not None and schedule is not None
    opened = state.variant.opened
    assert opened.tiles is not None
    program = scheduled_program([ScheduledLoop(opened.tiles, opened.graph, schedule, opened.fusion)])
    assert window.tool_docks.cuda.code.toPlainText() == kernel_file(program).source


def test_selected_matrix_ops_have_their_instructions_marked_and_in_view(window: MainWindow) -> None:
    view = window.tool_docks.cuda
    window.document.select(frozenset({"warp_group_dot.0", "warp_group_dot.1"}))
    of_scores = lines_with(view, "tw::mma_ss(")
    assert of_scores
    assert of_scores <= marked(view)
    assert not lines_with(view, "tw::mma_rs(") & marked(view)
    assert any(view.code.in_view(line) for line in marked(view))


def test_a_click_on_a_line_selects_its_op(bot: QtBot, window: MainWindow) -> None:
    view = window.tool_docks.cuda
    line = min(lines_with(view, "tw::mma_rs("))
    view.code.reveal(line)
    block = view.code.document().findBlockByNumber(line - 1)
    y = view.code.blockBoundingGeometry(block).translated(view.code.contentOffset()).center().y()
    bot.mouseClick(view.code.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, QPoint(80, round(y)))
    assert window.document.selection in ({"warp_group_dot.2"}, {"warp_group_dot.3"})
    assert line in marked(view)


def test_what_is_pointed_at_elsewhere_is_marked_too(window: MainWindow) -> None:
    view = window.tool_docks.cuda
    view.set_highlight(Highlight(ops=("exp2.0",)))
    assert marked(view) & lines_with(view, "tw::exp2(")
    view.set_highlight(NOTHING)
    assert marked(view) == set()


def test_the_text_follows_the_schedule_and_says_why_there_is_none(bot: QtBot, window: MainWindow) -> None:
    view, document = window.tool_docks.cuda, window.document
    before = view.code.toPlainText()
    editing.move(document, "warp_group_dot.0", 0, "compute.0")
    bot.waitUntil(lambda: not view.code.isVisible(), timeout=20000)
    assert "the schedule is not legal" in why_not(view)
    document.undo_stack.undo()
    bot.waitUntil(lambda: view.code.isVisible() and not view.code.loading, timeout=20000)
    assert view.code.toPlainText() == before


def test_a_graph_has_no_cuda_text(bot: QtBot, open_window: OpenWindow) -> None:
    view = raised(bot, open_window(GRAPH))
    bot.waitUntil(lambda: "TTGIR" in why_not(view), timeout=20000)
