"""A measured run over the plan, with real events: the strips in the chart, the rows, and costs that are taken only
when the user says so."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from modal_dialogs import answer_file_dialog
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from states import write_project

from core.cli import main
from core.project.model import Subtile, Transform
from core.schedule.expansion import expand
from twill_gui.dialogs.export import ExportDialog
from twill_gui.document import editing, settings
from twill_gui.export_formats import ExportFormat
from twill_gui.main_window import MainWindow
from twill_gui.models.measured import seen_places
from twill_gui.views.gantt import GanttMode
from twill_gui.views.gantt.ghost import seen_bars

OpenWindow = Callable[..., MainWindow]
ROOT = Path(__file__).parents[2]
LEFT, ALT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier
ITERATIONS = 6


@pytest.fixture
def window(open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    """On a copy of the Hopper attention sample."""
    shutil.copytree(ROOT / "projects" / "attention_forward_hopper", tmp_path / "attention")
    return open_window(tmp_path / "attention")


def run_file(
    window: MainWindow, file: Path, longer: dict[str, int], late: dict[str, int], clock: str = "cycles"
) -> Path:
    """The marks of a run of the shown schedule that went as planned but for some ops, from cycle 1000 on."""
    graph, schedule, state = window.document.graph, window.document.schedule, window.document.state
    assert graph is not None and schedule is not None and state is not None and state.variant.opened.loop is not None
    roles: dict[str, list[Any]] = {group: [] for group in schedule.groups}
    for one in sorted(expand(schedule, ITERATIONS), key=lambda instance: instance.cycle):
        begin = 1000 + one.cycle + late.get(one.op, 0)
        end = begin + graph.ops[one.op].issue_cycles + longer.get(one.op, 0)
        roles[schedule.ops[one.op].group].append([state.variant.opened.loop.index, one.op, one.iteration, begin, end])
    file.write_text(json.dumps({"schema": "twill.marks/1", "case": "made", "clock": clock, "roles": roles}))
    return file


def drop(window: MainWindow, file: Path) -> None:
    """Drops a file on the window."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    place, none = window.rect().center(), Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(place, Qt.DropAction.CopyAction, mime, LEFT, none))
    QApplication.sendEvent(window, QDropEvent(QPointF(place), Qt.DropAction.CopyAction, mime, LEFT, none))


def test_a_dropped_run_is_shown_op_by_op(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    view, document = window.tool_docks.measured, window.document
    plain = window.gantt.canvas.grab().toImage()
    drop(window, run_file(window, tmp_path / "run.json", {"exp2.0": 200}, {"truncf.0": 40}))
    bot.waitUntil(lambda: not view.visibleRegion().isEmpty())
    assert document.graph is not None and document.schedule is not None
    rows = {row.seen.op: row for row in view.model.rows}
    assert set(rows) == set(document.schedule.ops)
    issue = document.graph.ops["exp2.0"].issue_cycles
    assert rows["exp2.0"].seen.seen_issue == issue + 200
    assert f"issue {issue} \N{RIGHTWARDS ARROW} {issue + 200}" in rows["exp2.0"].proposed
    assert [op for op, row in rows.items() if row.proposed] == ["exp2.0"]
    assert rows["truncf.0"].seen.seen_offset - rows["truncf.0"].seen.planned_offset == 40
    assert view.summary.text().startswith("run.json. Interval: 2048 cycles planned, 2048 seen, over 6 iterations")
    with_strips = window.gantt.canvas.grab().toImage()
    assert with_strips != plain
    bot.mouseClick(view.strips, LEFT, pos=QPoint(8, view.strips.height() // 2))
    assert window.gantt.canvas.grab().toImage() == plain
    number = [row.seen.op for row in view.model.rows].index("truncf.0")
    bot.mouseClick(view.table.viewport(), LEFT, pos=view.table.visualRect(view.model.index(number, 0)).center())
    assert document.selection == {"truncf.0"}


@pytest.mark.parametrize("mode", list(GanttMode))
def test_strips_are_where_the_ops_were_seen(window: MainWindow, tmp_path: Path, mode: GanttMode) -> None:
    """Of ops that went as planned each strip is the planned bar; the others differ by what was added to them."""
    longer, late = {"exp2.0": 60}, {"truncf.0": 40}
    assert window.tool_docks.measuring.open(run_file(window, tmp_path / "run.json", longer, late))
    window.gantt.set_mode(mode)
    schedule, content = window.document.schedule, window.gantt.content
    comparison = window.tool_docks.measuring.comparison
    assert schedule is not None and content is not None and comparison is not None
    planned = [bar for bar in content.layout.bars if bar.block is None]
    seen = seen_bars(seen_places(comparison), content.layout)
    others = {"exp2.0", "truncf.0"}
    as_planned = {(bar.op, bar.lane, bar.row, bar.start, bar.end) for bar in planned if bar.op not in others}
    assert {(bar.op, bar.lane, bar.row, bar.start, bar.end) for bar in seen if bar.op not in others} == as_planned
    for op, moved, grown in (("exp2.0", 0, 60), ("truncf.0", 40, 0)):
        first, then = ([bar for bar in bars if bar.op == op] for bars in (planned, seen))
        assert sum(bar.end - bar.start for bar in then) - sum(b.end - b.start for b in first) == grown * (
            len(first) if mode is GanttMode.UNROLLED else 1
        )
        assert (then[0].start - first[0].start) % schedule.ii == moved


def test_proposed_costs_are_taken_as_one_step_and_undone(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    view, document = window.tool_docks.measured, window.document
    assert document.graph is not None
    issue = document.graph.ops["exp2.0"].issue_cycles
    window.dock_layout.bring_forward("Measured")
    bot.waitUntil(lambda: not view.visibleRegion().isEmpty())
    assert not view.take_button.isEnabled()
    assert window.tool_docks.measuring.open(run_file(window, tmp_path / "run.json", {"exp2.0": 60}, {}))
    assert document.graph.ops["exp2.0"].issue_cycles == issue and not document.modified
    bot.mouseClick(view.take_button, LEFT)
    assert document.graph.ops["exp2.0"].issue_cycles == issue + 60
    assert document.undo_stack.undoText() == "Measured costs of 1 operation"
    assert not view.take_button.isEnabled() and not any(row.proposed for row in view.model.rows)
    window.files.save()
    text = (tmp_path / "attention" / "project.yaml").read_text()
    assert "exp2.0" in text and "seen in run.json" in text
    document.undo_stack.undo()
    assert document.graph.ops["exp2.0"].issue_cycles == issue and view.take_button.isEnabled()


def test_the_command_writes_the_run_beside_the_plan(
    bot: QtBot, window: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = window.tool_docks.measured
    window.dock_layout.bring_forward("Measured")
    bot.waitUntil(lambda: not view.visibleRegion().isEmpty())
    assert not view.command_button.isEnabled()
    assert window.tool_docks.measuring.open(run_file(window, tmp_path / "run.json", {}, {}))
    bot.mouseClick(view.command_button, LEFT)
    words = shlex.split(QGuiApplication.clipboard().text())
    assert main(words[1:]) == 0
    events = json.loads(Path(words[words.index("-o") + 1]).read_text())["traceEvents"]
    assert {event.get("cat") for event in events} >= {"issue", "seen"}


def open_dialog(bot: QtBot, window: MainWindow) -> ExportDialog:
    """Presses the key of the export dialog."""
    window.activateWindow()
    bot.waitUntil(window.isActiveWindow)
    bot.keyClick(window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    [dialog] = [one for one in window.findChildren(ExportDialog) if one.isVisible()]
    dialog.activateWindow()
    bot.waitUntil(dialog.isActiveWindow)
    return dialog


def test_the_exported_trace_has_the_run_beside_the_plan_where_it_is_wanted(
    bot: QtBot, window: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = list(ExportFormat).index(ExportFormat.TRACE)
    dialog = open_dialog(bot, window)
    dialog.choose(row)
    assert not dialog.run_box.isVisible()  # there is no run
    bot.keyClick(dialog.field, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert window.tool_docks.measuring.open(run_file(window, tmp_path / "run.json", {"exp2.0": 60}, {}))
    dialog = open_dialog(bot, window)
    assert not dialog.run_box.isVisible()  # another format
    dialog.choose(row)
    assert dialog.run_box.isVisible() and "run.json" in dialog.run_box.text()
    dialog.field.setText(str(tmp_path / "line.json"))
    bot.mouseClick(dialog.command_button, LEFT)
    assert "--measured" not in QGuiApplication.clipboard().text()
    dialog.run_box.setFocus()
    bot.keyClick(dialog.run_box, Qt.Key.Key_Space)
    bot.mouseClick(dialog.command_button, LEFT)
    assert main(shlex.split(QGuiApplication.clipboard().text())[1:]) == 0
    dialog.field.setText(str(tmp_path / "window.json"))
    bot.mouseClick(dialog.write_button, LEFT)
    written = (tmp_path / "window.json").read_text()
    assert written == (tmp_path / "line.json").read_text()
    assert {event.get("cat") for event in json.loads(written)["traceEvents"]} >= {"issue", "seen"}


def test_the_run_is_compared_again_with_every_edit(window: MainWindow, tmp_path: Path) -> None:
    view, document = window.tool_docks.measured, window.document
    assert window.tool_docks.measuring.open(run_file(window, tmp_path / "run.json", {}, {}))
    editing.nudge_ops(document, ["truncf.0"], 7)
    [row] = [row for row in view.model.rows if row.seen.op == "truncf.0"]
    assert row.seen.planned_offset - row.seen.seen_offset == 7
    editing.move(document, "exp2.0", 0, "compute.1")
    assert view.model.rows == () and "of another schedule" in view.summary.text()
    document.undo_stack.undo()
    assert len(view.model.rows) == len(document.schedule.ops if document.schedule else ())
    window.document.undo_stack.setClean()
    window.files.close()
    assert view.model.rows == () and not view.command_button.isEnabled()


def test_the_clock_of_the_mock_is_no_time(window: MainWindow, tmp_path: Path) -> None:
    view = window.tool_docks.measured
    plain = window.gantt.canvas.grab().toImage()
    assert window.tool_docks.measuring.open(run_file(window, tmp_path / "run.json", {"exp2.0": 99}, {}, "changes"))
    assert "no times" in view.summary.text() and not view.take_button.isEnabled()
    assert window.gantt.canvas.grab().toImage() == plain


def test_by_the_menu_and_what_is_no_run_is_told(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    view = window.tool_docks.measured
    answer_file_dialog(bot, run_file(window, tmp_path / "run.json", {}, {}))
    window.actions_by_name["open_run"].trigger()
    assert len(view.model.rows) > 0 and not view.visibleRegion().isEmpty()
    rows = view.model.rows
    (tmp_path / "other.json").write_text('{"schema": "twill.marks/1", "roles": 3}')
    drop(window, tmp_path / "other.json")
    assert (
        "Cannot show other.json" in window.messages.messages[0].text and "no roles" in window.messages.messages[0].text
    )
    assert view.model.rows == rows


def test_a_graph_has_no_run(open_window: OpenWindow, window: MainWindow, tmp_path: Path) -> None:
    file = run_file(window, tmp_path / "run.json", {}, {})
    other = open_window(write_project(tmp_path / "p"))
    drop(other, file)
    assert "dependence graph" in other.messages.messages[0].text


def test_what_is_proposed_for_a_fused_block_cannot_be_taken(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    """Half tiles have more operations than are left unfused; every one of them at cycle 0 is a schedule too."""
    shutil.copytree(ROOT / "projects" / "attention_backward_blackwell", tmp_path / "backward")
    window = open_window(tmp_path / "backward")
    view, document = window.tool_docks.measured, window.document
    settings.set_transform(document, Transform(subtile=Subtile("m", 2)))
    bot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    bot.waitUntil(lambda: document.schedule is not None, timeout=20_000)
    state = document.state
    assert state is not None and state.variant.opened.fusion is not None
    block = next(iter(state.variant.opened.fusion.blocks))
    single = next(op for op in state.variant.graph.ops if op not in state.variant.opened.fusion.blocks)
    assert window.tool_docks.measuring.open(run_file(window, tmp_path / "run.json", {block: 5000}, {}))
    assert [row.seen.op for row in view.model.rows if row.proposed] == [block]
    assert "cannot be taken" in view.summary.text() and not view.take_button.isEnabled()
    both = {block: 5000, single: 5000}
    assert window.tool_docks.measuring.open(run_file(window, tmp_path / "run.json", both, {}))
    assert "cannot be taken" in view.summary.text() and view.take_button.isEnabled()
    window.dock_layout.bring_forward("Measured")
    bot.mouseClick(view.take_button, LEFT)
    assert document.state is not None and set(document.state.project.overrides) == {single}
