"""The CUDA dock in the window: the kernel of the shown schedule, linked with the ops both ways; why there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt, QThreadPool
from PySide6.QtWidgets import QDockWidget, QLabel, QTabBar
from pytestqt.qtbot import QtBot

from core.explain.answer import NOTHING, Highlight
from core.export.cuda.kernel import kernel_file
from core.export.roles.build import scheduled_program
from core.export.roles.places import ScheduledLoop
from core.resources import data_folder
from twill_gui.document import editing
from twill_gui.main_window import MainWindow
from twill_gui.views.cuda_text.view import WRITING, CudaTextView
from twill_gui.views.cuda_text.writer import REST_MS

OpenWindow = Callable[..., MainWindow]
LEFT = Qt.MouseButton.LeftButton
HOPPER = data_folder("projects") / "attention_forward_hopper"
GRAPH = data_folder("projects") / "paper_figure_1"


def dock(window: MainWindow) -> QDockWidget:
    return next(dock for dock in window.dock_layout.docks if dock.windowTitle() == "CUDA")


def click_tab(bot: QtBot, window: MainWindow, title: str) -> None:
    """Clicks the tab of a dock that shares its place with others."""
    found = [
        (bar, number)
        for bar in window.findChildren(QTabBar)
        for number in range(bar.count())
        if bar.isVisible() and bar.tabText(number) == title
    ]
    ((bar, number),) = found
    bot.mouseClick(bar, LEFT, pos=bar.tabRect(number).center())


def raised(bot: QtBot, window: MainWindow) -> CudaTextView:
    click_tab(bot, window, "CUDA")
    view = window.tool_docks.cuda
    bot.waitUntil(lambda: not view.visibleRegion().isEmpty())
    return view


def let_it_write(bot: QtBot, view: CudaTextView) -> None:
    """Until all is written that has been asked for."""
    bot.wait(2 * REST_MS)
    [pool] = view.findChildren(QThreadPool)
    assert pool.waitForDone(20000)
    bot.wait(0)


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


def test_nothing_is_written_before_the_dock_is_looked_at(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(HOPPER)
    view = window.tool_docks.cuda
    assert view.isVisible() and view.visibleRegion().isEmpty()  # what Qt says of a tab behind another
    let_it_write(bot, view)
    editing.nudge_ops(window.document, ["exp2.0"], 1)
    let_it_write(bot, view)
    assert view.code.toPlainText() == ""
    assert why_not(raised(bot, window)) == WRITING
    bot.waitUntil(lambda: view.code.isVisible() or why_not(view) != WRITING, timeout=20000)


def test_edits_behind_another_tab_are_made_up_for_once_it_is_in_front(bot: QtBot, window: MainWindow) -> None:
    view, document = window.tool_docks.cuda, window.document
    before = view.code.toPlainText()
    click_tab(bot, window, "Liveness")
    bot.waitUntil(lambda: view.visibleRegion().isEmpty())
    editing.move(document, "warp_group_dot.0", 0, "compute.0")
    let_it_write(bot, view)
    assert view.code.toPlainText() == before
    raised(bot, window)
    bot.waitUntil(lambda: not view.code.isVisible(), timeout=20000)
    document.undo_stack.undo()
    click_tab(bot, window, "Liveness")  # at once: what is being written comes too late to be seen
    let_it_write(bot, view)
    raised(bot, window)
    bot.waitUntil(lambda: view.code.isVisible() and not view.code.loading, timeout=20000)
    assert view.code.toPlainText() == before


def test_a_closed_dock_catches_up_when_it_is_opened_again(bot: QtBot, window: MainWindow) -> None:
    view, document = window.tool_docks.cuda, window.document
    editing.move(document, "warp_group_dot.0", 0, "compute.0")
    dock(window).close()
    let_it_write(bot, view)
    dock(window).toggleViewAction().trigger()
    raised(bot, window)
    bot.waitUntil(lambda: not view.code.isVisible(), timeout=20000)
    assert "the schedule is not legal" in why_not(view)


def test_the_reason_stays_until_another_is_known(bot: QtBot, window: MainWindow) -> None:
    view, document = window.tool_docks.cuda, window.document
    editing.move(document, "warp_group_dot.0", 0, "compute.0")
    bot.waitUntil(lambda: not view.code.isVisible(), timeout=20000)
    said = why_not(view)
    editing.nudge_ops(document, ["warp_group_dot.0"], 1)
    assert why_not(view) == said


def test_another_project_does_not_begin_with_the_text_of_the_one_before(bot: QtBot, window: MainWindow) -> None:
    view = window.tool_docks.cuda
    click_tab(bot, window, "Liveness")
    assert window.files.open(data_folder("projects") / "gemm_hopper")
    assert view.code.toPlainText() == ""
    assert why_not(raised(bot, window)) == WRITING
    bot.waitUntil(lambda: view.code.isVisible() and not view.code.loading, timeout=20000)
    assert "gemm_tma" in view.code.toPlainText()


def test_a_graph_has_no_cuda_text(bot: QtBot, open_window: OpenWindow) -> None:
    view = raised(bot, open_window(GRAPH))
    bot.waitUntil(lambda: "TTGIR" in why_not(view), timeout=20000)
