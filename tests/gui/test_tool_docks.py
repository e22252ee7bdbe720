"""Settings, Machine and Compare with real events: a change is judged at once, refused ones say why."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QLineEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot
from states import SCHEDULE, write_project

from core.graph.model import InOrderIssue
from core.schedule.edits import move_op
from core.schedule.write import dump_schedule
from twill_gui.document import editing
from twill_gui.main_window import MainWindow
from twill_gui.views.machine.tree import VALUE, MachineTree

OpenWindow = Callable[..., MainWindow]
ROOT = Path(__file__).parents[2]
LEFT = Qt.MouseButton.LeftButton
CONTROL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def window(open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    """On a copy of the Hopper attention sample."""
    shutil.copytree(ROOT / "projects" / "attention_forward_hopper", tmp_path / "attention")
    return open_window(tmp_path / "attention")


def named(view: QWidget, kind: type[QWidget], name: str) -> QWidget:
    """The visible widget of that accessible name."""
    [found] = [one for one in view.findChildren(kind) if one.accessibleName() == name and one.isVisible()]
    return found


def edit_number(bot: QtBot, window: MainWindow, path: tuple[object, ...], text: str) -> None:
    """Double-clicks the value of a key, types over it and presses Enter."""
    tree = window.tool_docks.machine.tree
    item = tree.item_of(path)
    assert item is not None
    parent = item.parent()
    while parent is not None:
        parent.setExpanded(True)
        parent = parent.parent()
    tree.scrollToItem(item)
    place = tree.visualItemRect(item)
    value = QPoint(tree.columnViewportPosition(VALUE) + tree.columnWidth(VALUE) - 6, place.center().y())
    bot.mouseClick(tree.viewport(), LEFT, pos=value)
    bot.mouseDClick(tree.viewport(), LEFT, pos=value)
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    bot.keyClicks(editor, text)
    bot.keyClick(editor, Qt.Key.Key_Return)
    bot.waitUntil(lambda: not isinstance(QApplication.focusWidget(), QLineEdit))
    bot.wait(20)


def shown_value(tree: MachineTree, path: tuple[object, ...]) -> str:
    """The value that the tree shows of a key."""
    item = tree.item_of(path)
    return "" if item is None else item.text(VALUE)


def choose(bot: QtBot, box: QComboBox, text: str) -> None:
    """Goes to an entry of a combo box with the arrow keys and takes it."""
    box.setFocus()
    bot.keyClick(box, Qt.Key.Key_Home)
    for _ in range(box.findText(text)):
        bot.keyClick(box, Qt.Key.Key_Down)
    assert box.currentText() == text


def test_a_number_typed_over_is_judged_at_once(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Machine")
    tree = window.tool_docks.machine.tree
    bot.waitUntil(lambda: tree.topLevelItemCount() > 0)
    edit_number(bot, window, ("shared_memory", "bytes"), "100000")
    bot.waitUntil(lambda: window.document.modified)
    report = window.document.report
    assert report is not None and [violation.family.value for violation in report.violations] == ["shared_memory"]
    assert "1 violation" in window.status.violations.text()
    bot.waitUntil(lambda: shown_value(tree, ("shared_memory", "bytes")) == "100000")
    bot.keyClick(tree, Qt.Key.Key_Z, CONTROL)
    assert window.document.report is not None and window.document.report.legal
    bot.waitUntil(lambda: shown_value(tree, ("shared_memory", "bytes")) == "232448")


def test_a_number_undone_before_it_was_shown_again_is_not_left_there(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Machine")
    tree, path = window.tool_docks.machine.tree, ("shared_memory", "bytes")
    bot.waitUntil(lambda: tree.topLevelItemCount() > 0)
    stack = window.document.undo_stack
    stack.indexChanged.connect(  # before the dock has read the file again
        lambda: QTimer.singleShot(0, stack.undo), Qt.ConnectionType.SingleShotConnection
    )
    item = tree.item_of(path)
    assert item is not None
    item.setText(VALUE, "100000")
    assert shown_value(tree, path) == "100000"
    bot.waitUntil(lambda: window.document.undo_stack.canRedo())
    assert not window.document.modified
    bot.waitUntil(lambda: shown_value(tree, path) == "232448")
    item.setText(VALUE, "232448.0")
    assert shown_value(tree, path) == "232448" and not window.document.modified


def test_a_number_that_cannot_be_is_refused_in_words(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Machine")
    machine = window.tool_docks.machine
    bot.waitUntil(lambda: machine.tree.topLevelItemCount() > 0)
    edit_number(bot, window, ("registers", "max_per_thread"), "9999")
    bot.waitUntil(lambda: machine.fault.text() != "")
    assert "max_per_thread" in machine.fault.text() and machine.fault.isVisible()
    item = machine.tree.item_of(("registers", "max_per_thread"))
    assert item is not None and item.text(VALUE) == "240"
    assert not window.document.modified


def test_numbers_asked_for_in_a_row_are_a_step_each_and_other_edits_stay(window: MainWindow, bot: QtBot) -> None:
    """They are worked out in the background; what else is edited meanwhile is not lost, nor are they."""
    asked = window.tool_docks.machine.number_requested
    op = next(iter(window.document.graph.ops)) if window.document.graph else ""
    asked.emit(("shared_memory", "bytes"), 100_000)
    asked.emit(("hand_off", "base"), 9)
    assert not window.document.modified
    editing.nudge_ops(window.document, [op], 1)
    start = window.document.schedule.ops[op].start if window.document.schedule else 0
    bot.waitUntil(lambda: window.document.undo_stack.count() == 3)
    machine = window.document.state.variant.opened.machine if window.document.state else None
    assert machine is not None and (machine.shared_memory.bytes, machine.hand_off.base) == (100_000, 9)
    assert window.document.schedule is not None and window.document.schedule.ops[op].start == start


def test_a_number_asked_for_just_before_the_window_closes_is_not_lost(window: MainWindow, bot: QtBot) -> None:
    window.tool_docks.machine.number_requested.emit(("shared_memory", "bytes"), 100_000)
    window.tool_docks.configuring.finish()
    assert window.document.undo_stack.count() == 1 and window.document.graph is not None
    assert window.document.graph.machine.shared_memory_bytes == 100_000
    bot.wait(100)
    assert window.document.undo_stack.count() == 1


def test_the_filter_finds_rules_and_a_selected_op_shows_its_own(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Machine")
    machine = window.tool_docks.machine
    bot.waitUntil(lambda: machine.tree.topLevelItemCount() > 0)
    bot.keyClicks(machine.filter, "hand_off")
    shown = [item.text(0) for n in range(machine.tree.topLevelItemCount()) if (item := machine.tree.topLevelItem(n))]
    seen = [
        item.text(0)
        for n in range(machine.tree.topLevelItemCount())
        if (item := machine.tree.topLevelItem(n)) and not item.isHidden()
    ]
    assert "units" in shown and seen == ["hand_off"]
    machine.filter.clear()
    window.document.select(frozenset({"exp2.0"}))
    current = machine.tree.currentItem()
    assert current is not None and "exp2" in current.text(0) and current.isExpanded()


def test_an_op_selected_before_the_machine_is_looked_at_shows_its_rule(bot: QtBot, window: MainWindow) -> None:
    window.document.select(frozenset({"exp2.0"}))
    window.dock_layout.bring_forward("Machine")
    tree = window.tool_docks.machine.tree
    bot.waitUntil(lambda: tree.currentItem() is not None)
    current = tree.currentItem()
    assert current is not None and "exp2" in current.text(0) and current.isExpanded()
    window.dock_layout.bring_forward("Project")
    window.document.select(frozenset({"reduce.0"}))
    window.dock_layout.bring_forward("Machine")
    bot.waitUntil(lambda: (item := tree.currentItem()) is not None and "tt.reduce" in item.text(0))


def test_another_machine_by_key(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Machine")
    choose(bot, window.tool_docks.machine.choice, "h200")
    bot.keyClick(window.tool_docks.machine.choice, Qt.Key.Key_Return)
    assert window.document.state is not None
    window.tool_docks.machine.machine_requested.emit("h200")
    assert window.document.state.project.machine == "h200"


def test_groups_rules_and_time_limit(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Settings")
    form = window.tool_docks.settings
    bot.waitUntil(form.isVisible)
    graph = window.document.graph
    assert graph is not None
    count = named(form, QSpinBox, "Count of compute")
    count.setFocus()
    bot.keyClick(count, Qt.Key.Key_Up)
    assert window.document.graph is not None
    assert [(g.kind, g.count) for g in window.document.graph.groups] == [("load", 1), ("compute", 3)]
    bot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Up)  # the field has kept the focus
    assert [g.count for g in window.document.graph.groups] == [1, 4]
    bot.mouseClick(form.isolate, LEFT, pos=QPoint(8, form.isolate.height() // 2))
    assert window.document.graph.rules.isolate_matrix_issue
    assert window.document.report is not None and not window.document.report.legal
    choose(bot, form.issue, "not considered")
    assert window.document.graph.rules.in_order_issue is InOrderIssue.OFF
    form.limit.setFocus()
    bot.keyClick(form.limit, Qt.Key.Key_Up)
    assert window.document.state is not None and window.document.state.project.solve.limit_s == 61
    window.gantt.setFocus()
    while window.document.undo_stack.canUndo():
        bot.keyClick(window.gantt.canvas, Qt.Key.Key_Z, CONTROL)
    assert window.document.graph == graph and not window.document.modified


def test_a_group_in_use_that_is_removed_takes_its_schedule_and_says_so(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Settings")
    form = window.tool_docks.settings
    bot.waitUntil(form.isVisible)
    table = window.unsolved.table.model()
    assert table.rowCount() == 0  # behind the chart nothing is laid out
    bot.mouseClick(named(form, QWidget, "Remove compute"), LEFT)
    assert window.document.schedule is None and window.document.graph is not None
    assert window.pages.currentWidget() is window.unsolved
    assert [table.index(row, 0).data() for row in range(table.rowCount())] == [*window.document.graph.ops]
    assert "left out: main" in window.messages.messages[0].text
    bot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    assert window.document.schedule is not None


def test_kinds_of_groups_are_added_named_and_removed(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Settings")
    form = window.tool_docks.settings
    bot.waitUntil(form.isVisible)

    def groups() -> list[tuple[str, int, int, bool]]:
        graph = window.document.graph
        assert graph is not None
        return [(g.kind, g.warps, g.count, g.variable_latency) for g in graph.groups]

    before = groups()
    bot.mouseClick(form.groups.add_button, LEFT)
    assert groups() == [*before, ("group2", 4, 1, False)]
    bot.waitUntil(lambda: any(one.isVisible() for one in form.findChildren(QLineEdit) if one.text() == "group2"))
    kind = named(form, QLineEdit, "Kind group2")
    assert isinstance(kind, QLineEdit)
    kind.setFocus()
    kind.selectAll()
    bot.keyClicks(kind, "compute")  # a name that is taken is refused
    bot.keyClick(kind, Qt.Key.Key_Return)
    assert kind.text() == "group2" and len(groups()) == 3
    kind.selectAll()
    bot.keyClicks(kind, "store")
    bot.keyClick(kind, Qt.Key.Key_Return)
    warps = named(form, QComboBox, "Warps of store")
    assert isinstance(warps, QComboBox)
    choose(bot, warps, "1")
    variable = named(form, QCheckBox, "Variable latency of store")
    variable.setFocus()
    bot.keyClick(variable, Qt.Key.Key_Space)
    assert groups() == [*before, ("store", 1, 1, True)]
    gone = named(form, QWidget, "Remove store")
    gone.setFocus()
    bot.keyClick(gone, Qt.Key.Key_Space)
    assert groups() == before and window.document.schedule is not None


def test_tiles_are_split_and_put_together_in_the_form(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "projects" / "attention_causal_hopper", tmp_path / "causal")
    window = open_window(tmp_path / "causal")
    window.dock_layout.bring_forward("Settings")
    transform = window.tool_docks.settings.transform
    bot.waitUntil(transform.isVisible)
    assert window.document.graph is not None
    split = len(window.document.graph.ops)
    assert transform.axis.currentIndex() > 0 and transform.parts.value() == 2
    rows = transform.axis.currentText()
    choose(bot, transform.axis, "whole tiles")
    assert len(window.document.graph.ops) < split and not transform.parts.isEnabled()
    choose(bot, transform.axis, rows)
    assert len(window.document.graph.ops) == split
    transform.ops.setFocus()
    transform.ops.selectAll()
    bot.keyClicks(transform.ops, "nothing")
    bot.keyClick(transform.ops, Qt.Key.Key_Return)
    assert "nothing" in window.tool_docks.settings.fault.text() and transform.ops.text() == "all"


def test_a_split_that_cannot_be_is_refused_in_words(bot: QtBot, window: MainWindow) -> None:
    window.dock_layout.bring_forward("Settings")
    form = window.tool_docks.settings
    bot.waitUntil(form.isVisible)
    form.transform.axis.setFocus()
    bot.keyClick(form.transform.axis, Qt.Key.Key_End)
    assert "reduces along that axis" in form.fault.text()
    assert form.transform.axis.currentText() == "whole tiles"
    assert not window.document.modified
    fuse = form.transform.fuse
    assert isinstance(fuse, QCheckBox)
    bot.mouseClick(fuse, LEFT, pos=QPoint(8, fuse.height() // 2))
    assert window.document.modified


def test_solve_again_from_the_form(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    window.dock_layout.bring_forward("Settings")
    bot.waitUntil(window.tool_docks.settings.isVisible)
    bot.mouseClick(window.tool_docks.settings.solve_button, LEFT)
    assert not window.tool_docks.settings.solve_button.isEnabled()
    bot.waitUntil(lambda: window.document.schedule != SCHEDULE, timeout=20_000)
    assert window.tool_docks.settings.solve_button.isEnabled()


def test_compare_with_a_copy_lists_and_outlines_what_moved(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    compare = window.tool_docks.compare
    bot.keyClick(window, Qt.Key.Key_D, CONTROL)
    window.dock_layout.bring_forward("Compare")
    bot.waitUntil(compare.isVisible)
    choose(bot, compare.choice, "main_copy")
    compare.choose("main_copy")
    assert compare.summary.text() == "The two schedules are the same."
    before = window.gantt.canvas.grab().toImage()
    window.document.select(frozenset({"b"}))
    bot.keyClick(window, Qt.Key.Key_Right, ALT)
    window.document.select(frozenset())
    rows = compare.model.rows
    assert [(row.op, row.shown, row.other, row.change) for row in rows if row.op] == [
        ("b", "4 on compute.0", "3 on compute.0", "-1 cycles")
    ]
    with_outline = window.gantt.canvas.grab().toImage()
    bot.mouseClick(compare.outlines, LEFT, pos=QPoint(8, compare.outlines.height() // 2))
    without = window.gantt.canvas.grab().toImage()
    assert with_outline != without and without != before
    table = compare.table
    bot.mouseClick(table.viewport(), LEFT, pos=table.visualRect(compare.model.index(len(rows) - 1, 0)).center())
    assert window.document.selection == {"b"}


def test_compare_as_saved_and_with_a_file(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    compare = window.tool_docks.compare
    compare.choose("as last saved")
    window.document.select(frozenset({"b"}))
    bot.keyClick(window, Qt.Key.Key_Right, ALT)
    assert [row.op for row in compare.model.rows if row.op] == ["b"]
    window.files.save()
    assert compare.summary.text() == "The two schedules are the same."
    other = move_op(SCHEDULE, "a", 1, "compute.1")
    (tmp_path / "other.yaml").write_text(dump_schedule(other))
    compare.compare_with_file("other.yaml", other)
    assert {row.op for row in compare.model.rows if row.op} == {"a", "b"}
    window.files.close()
    assert compare.other is None and compare.choice.count() == 1


def test_a_machine_dropped_on_the_window_is_the_projects(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    shutil.copyfile(ROOT / "machines" / "h200.yaml", own)
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(own))])
    place, none = window.rect().center(), Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(place, Qt.DropAction.CopyAction, mime, LEFT, none))
    QApplication.sendEvent(window, QDropEvent(QPointF(place), Qt.DropAction.CopyAction, mime, LEFT, none))
    assert window.document.state is not None and window.document.state.project.machine == own
    assert window.tool_docks.machine.choice.currentText() == "own.yaml"
    assert window.document.undo_stack.undoText() == "Machine own"


def test_another_loop_is_chosen_in_the_form(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    file = tmp_path / "two.ttgir"
    shutil.copyfile(ROOT / "tests" / "data" / "bad" / "two_loops.ttgir", file)
    window = open_window()
    assert window.files.open(file, ask=False)
    window.dock_layout.bring_forward("Settings")
    form = window.tool_docks.settings
    bot.waitUntil(form.isVisible)
    assert form.loop.count() == 2
    form.loop.setFocus()
    bot.keyClick(form.loop, Qt.Key.Key_Down)
    state = window.document.state
    assert state is not None and state.variant.opened.loop is not None
    assert state.variant.opened.loop.index == 1 and list(state.variants) == ["main", "loop_1"]
    bot.keyClick(form.loop, Qt.Key.Key_Up)
    assert window.document.state is not None and window.document.state.active == "main"
