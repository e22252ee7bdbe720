"""The guide: links, pictures and keys are there, and its three uses work as they are written."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import fake_solvers
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from core.cli import main
from core.export.ttgir import read_annotations
from core.ir.source import load_module
from twill_gui.action_table import ACTIONS
from twill_gui.dialogs.export import ExportDialog
from twill_gui.dialogs.guide import GuideDialog
from twill_gui.jobs.explainer import explain
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]
ROOT = Path(__file__).parents[2]
HELP = ROOT / "resources" / "help"
PAGES = sorted(HELP.glob("*.md"))
LEFT, CONTROL, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
SAMPLE = "attention forward, Hopper, two tiles of 64 rows"


def bar_position(window: MainWindow, op: str) -> QPoint:
    """A point of the op's bar on its group's lane."""
    canvas = window.gantt.canvas
    for y in range(0, canvas.height(), 3):
        for x in range(0, canvas.width(), 2):
            bar = canvas.bar_at(QPointF(x, y))
            if bar is not None and bar.op == op and bar.block is None:
                return QPoint(x + 4, y + 4)
    raise AssertionError(f"no bar of {op} is shown")


def open_sample(bot: QtBot, window: MainWindow) -> None:
    """Presses the card, as each page begins."""
    bot.waitUntil(lambda: window.welcome.samples.cards != [])
    [card] = [card for card in window.welcome.samples.cards if card.content.name == SAMPLE]
    bot.mouseClick(card, LEFT)
    assert window.document.schedule is not None


def test_every_link_and_picture_is_there() -> None:
    assert {"index.md", "drag.md", "explain.md", "hand_lowering.md"} <= {page.name for page in PAGES}
    linked = {"index.md"}
    for page in PAGES:
        for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
            file = (HELP / target).resolve()
            assert file.exists(), f"{page.name}: {target}"
            linked.add(file.name)
            if file.suffix == ".png":
                assert file.stat().st_size < 200_000 and not QImage(str(file)).isNull()
    assert {page.name for page in PAGES} <= linked


def test_keys_and_commands_are_those_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    known = {key for spec in ACTIONS for key in spec.keys} | {"F2", "Shift", "Alt", "Ctrl"}
    texts = {spec.text.replace("&", "").replace("…", "...") for spec in ACTIONS}
    for page in PAGES:
        text = page.read_text()
        for key in re.findall(
            r"`((?:Ctrl\+|Alt\+|Shift\+)*(?:[A-Z.,?\[\]]|F\d|Home|Return|Up|Down|Left|Right))`", text
        ):
            assert key in known or f"Alt+{key}" in known, f"{page.name}: {key}"
        for menu in re.findall(r"\*\*(?:File|Schedule|Edit), ([^*]+)\*\*", text):
            assert menu in texts, f"{page.name}: {menu}"
        made: set[str] = set()
        for command in re.findall(r"`(twill [a-z]+ [^`]+)`", text):
            words = shlex.split(command)
            assert main([words[1], "--help"]) == 0
            assert words[2] in made or (ROOT / words[2]).exists(), command
            made |= {after for word, after in pairwise(words) if word == "-o"}
    capsys.readouterr()


def test_the_window_shows_the_pages_and_follows_links(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()
    bot.keyClick(window, Qt.Key.Key_F1)
    [guide] = [one for one in window.findChildren(GuideDialog) if one.isVisible()]
    guide.activateWindow()
    bot.waitUntil(guide.isActiveWindow)
    assert "Guide to Twill Explorer" in guide.browser.toPlainText()
    assert not guide.back.isEnabled()
    guide.browser.setFocus()
    for _ in range(40):  # Tab goes from link to link, Enter follows
        bot.keyClick(guide.browser, Qt.Key.Key_Tab)
        if guide.browser.textCursor().selectedText().startswith("Drag an operation"):
            break
    bot.keyClick(guide.browser, Qt.Key.Key_Return)
    assert guide.browser.source().fileName() == "drag.md"
    picture = guide.browser.loadResource(2, guide.browser.source().resolved("../screenshots/drag.png"))
    assert 0 < picture.width() <= guide.browser.viewport().width()
    bot.mouseClick(guide.back, LEFT)
    assert guide.browser.source().fileName() == "index.md"
    guide.show_page("chart.md")
    bot.mouseClick(guide.contents, LEFT)
    assert guide.browser.source().fileName() == "index.md"
    guide.close()


def test_drag_to_another_group_and_check_as_written(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window()
    open_sample(bot, window)
    canvas = window.gantt.canvas
    begin = bar_position(window, "exp2.0")
    end = QPoint(begin.x() - 60, bar_position(window, "exp2.2").y())
    bot.mousePress(canvas, LEFT, pos=begin)
    for step in range(1, 6):
        bot.mouseMove(canvas, begin + (end - begin) * step / 5)
    bot.mouseRelease(canvas, LEFT, pos=end)
    assert window.document.schedule is not None
    assert window.document.schedule.ops["exp2.0"].group == "compute.1"
    report = window.document.report
    assert report is not None and not report.legal
    assert f"{len(report.violations)} violations" in window.status.violations.text()
    problems = window.problems_view.list
    bot.mouseClick(problems.viewport(), LEFT, pos=problems.visualRect(window.problems.index(0)).center())
    assert window.document.selection == frozenset(report.violations[0].ops)
    dropped = window.document.schedule
    [repair] = [one for one in window.messages.findChildren(QPushButton) if one.text() == "Repair" and one.isVisible()]
    bot.mouseClick(repair, LEFT)
    bot.waitUntil(lambda: not window.repairing.busy, timeout=120_000)
    if "legal" in window.status.violations.text():
        there, put = window.document.schedule.ops["exp2.0"], dropped.ops["exp2.0"]
        assert there.group == put.group and (there.start - put.start) % dropped.ii == 0
        bot.keyClick(canvas, Qt.Key.Key_Z, CONTROL)
        assert window.document.schedule == dropped
    else:  # the guide says: or why there is none
        assert window.messages.messages
    bot.keyClick(canvas, Qt.Key.Key_Z, CONTROL)
    assert "legal" in window.status.violations.text()
    window.document.select(frozenset({"exp2.0"}))
    bot.keyClick(canvas, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert window.document.schedule.ops["exp2.0"].group == "compute.1"


def test_ask_why_the_minimum_ii_cannot_be_smaller_as_written(bot: QtBot, open_window: OpenWindow) -> None:
    window = open_window(None, fake_solvers.quick, explain)
    open_sample(bot, window)
    assert window.status.ii.text() == "<b>II 2048</b>"
    bot.keyClick(window, Qt.Key.Key_E, CONTROL)
    view = window.explain_view
    assert view.isVisible()
    assert view.answer is not None or window.explaining.busy
    bot.waitUntil(lambda: view.answer is not None and bool(view.answer.cores), timeout=90_000)
    answer = view.answer
    assert answer is not None
    sentence = answer.cores[0].reasons[0].sentence
    assert "tensor_core is busy 2048 cycles" in sentence
    bot.waitUntil(lambda: not window.explaining.busy, timeout=120_000)
    assert view.answer is not None
    helps = {(change.what, change.subject, change.new) for change in view.answer.relaxations}
    assert ("capacity", "tensor_core", 2) in helps and any(new == 2048 for _, _, new in helps)
    assert view.headline == "II 2047 is impossible" and "proved, and minimal" in view.text()


def test_export_for_hand_lowering_as_written(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window = open_window()
    open_sample(bot, window)
    bot.keyClick(window, Qt.Key.Key_E, CONTROL | SHIFT)
    [dialog] = [one for one in window.findChildren(ExportDialog) if one.isVisible()]
    for attribute in ("twill.group", "twill.start", "loop.stage", "loop.cluster", "twill.ii"):
        assert attribute in dialog.text.toPlainText()
    dialog.field.setText(str(tmp_path / "out.ttgir"))
    bot.mouseClick(dialog.write_button, LEFT)
    module = load_module(tmp_path / "out.ttgir")
    assert window.document.schedule is not None
    assert read_annotations(module, module.loops[0]).ops == window.document.schedule.ops
    copy = tmp_path / "attention_forward_hopper"
    shutil.copytree(ROOT / "projects" / "attention_forward_hopper", copy)
    for command in re.findall(r"`(twill export [^`]+)`", (HELP / "hand_lowering.md").read_text()):
        words = shlex.split(command.replace("projects/attention_forward_hopper", str(copy)))
        words[-1] = str(tmp_path / "command" / words[-1])
        assert main(words[1:]) == 0
    assert (tmp_path / "command" / "out.ttgir").read_text() == (tmp_path / "out.ttgir").read_text()
    sheet, kernel = (tmp_path / "command" / "lowering.md").read_text(), tmp_path / "command" / "kernel" / "kernel.cu"
    assert "wait full" in sheet
    for title, text in (("Sheet for hand lowering", sheet), ("CUDA kernel", kernel.read_text())):
        window.activateWindow()
        bot.waitUntil(window.isActiveWindow)
        bot.keyClick(window, Qt.Key.Key_E, CONTROL | SHIFT)
        [dialog] = [one for one in window.findChildren(ExportDialog) if one.isVisible()]
        dialog.activateWindow()
        bot.waitUntil(dialog.isActiveWindow)
        [item] = dialog.formats.findItems(title, Qt.MatchFlag.MatchStartsWith)
        bot.mouseClick(dialog.formats.viewport(), LEFT, pos=dialog.formats.visualItemRect(item).center())
        assert dialog.text.toPlainText() == text
        assert dialog.kernel_options.isVisible() == (title == "CUDA kernel")
        bot.keyClick(dialog.field, Qt.Key.Key_Escape)
    capsys.readouterr()
    assert QApplication.activeModalWidget() is None
