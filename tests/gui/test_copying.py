"""What is copied or saved from the window: command lines that do the same, and pictures of views."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from modal_dialogs import answer_file_dialog
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from pytestqt.qtbot import QtBot

from core.cli import main
from core.schedule.read import load_schedule
from twill_gui.command_lines import check_command, explain_command, solve_command, sweep_command
from twill_gui.document import editing
from twill_gui.image_export import PictureFormat, picture, picture_bytes
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]
ROOT = Path(__file__).parents[2]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(open_window: OpenWindow, tmp_path: Path) -> MainWindow:
    """On a copy of the Hopper attention sample."""
    shutil.copytree(ROOT / "projects" / "attention_forward_hopper", tmp_path / "attention")
    return open_window(tmp_path / "attention")


def test_command_lines_are_understood(window: MainWindow, capsys: pytest.CaptureFixture[str], bot: QtBot) -> None:
    state = window.document.state
    assert state is not None
    window.actions_by_name["copy_check"].trigger()
    text = QGuiApplication.clipboard().text()
    assert text == check_command(state)
    assert main(shlex.split(text)[1:]) == 0
    assert "legal" in capsys.readouterr().out
    for text in (solve_command(state), explain_command(state, "--ii", "2047"), sweep_command(state, ["registers=200"])):
        words = shlex.split(text)
        assert main([words[1], "--help"]) == 0
        assert str(state.project.file) in words
    window.actions_by_name["copy_solve"].trigger()
    assert QGuiApplication.clipboard().text() == solve_command(state)
    editing.nudge_ops(window.document, ["exp2.0"], 1)
    window.actions_by_name["copy_check"].trigger()
    assert "save your changes first" in window.status.currentMessage()


def test_the_repair_of_the_shown_moves_as_a_command_line(
    window: MainWindow, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = window.document.schedule
    assert kept is not None
    start = kept.ops["reduce.0"].start + 4
    editing.nudge_ops(window.document, ["reduce.0"], 4)
    window.actions_by_name["copy_repair"].trigger()
    words = shlex.split(QGuiApplication.clipboard().text())
    move = f"reduce.0={start}@{kept.ops['reduce.0'].group}"
    assert words[1] == "repair" and words[-3:] == ["--rotate", "--move", move]
    assert main([*words[1:], "-o", str(tmp_path / "repaired.yaml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] in ("optimal", "feasible")
    graph = window.document.graph
    assert graph is not None
    assert load_schedule(tmp_path / "repaired.yaml", graph).ops["reduce.0"].start == start


def test_the_command_of_an_unsaved_project_names_machine_and_loop(open_window: OpenWindow, tmp_path: Path) -> None:
    file = tmp_path / "a b.ttgir"
    shutil.copyfile(ROOT / "projects" / "gemm_hopper" / "input.ttgir", file)
    window = open_window(file)
    state = window.document.state
    assert state is not None
    assert shlex.split(solve_command(state)) == ["twill", "solve", str(file), "--loop", "0"]


def test_the_view_with_the_focus_is_copied(bot: QtBot, window: MainWindow) -> None:
    window.gantt.setFocus()
    bot.keyClick(window.gantt.canvas, Qt.Key.Key_C, CONTROL | SHIFT)
    chart = QGuiApplication.clipboard().image()
    assert chart.size() == window.gantt.size() * 2
    window.project_view.tree.setFocus()
    bot.keyClick(window.project_view.tree, Qt.Key.Key_C, CONTROL | SHIFT)
    assert QGuiApplication.clipboard().image().size() == window.project_view.size() * 2
    assert "picture of Project" in window.status.currentMessage()


def test_every_view_is_a_picture_in_every_format(bot: QtBot, window: MainWindow) -> None:
    for name, view in {"Chart": window.gantt, **window.dock_layout.views}.items():
        window.dock_layout.bring_forward(name) if name != "Chart" else None
        bot.wait(20)
        image = picture(view)
        assert len({image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)}) > 1, (
            name
        )
        svg = ElementTree.fromstring(picture_bytes(view, PictureFormat.SVG).decode())
        assert svg.get("viewBox") == f"0 0 {view.width()} {view.height()}"
        assert picture_bytes(view, PictureFormat.PDF).startswith(b"%PDF")


def test_a_picture_has_the_sharpness_of_two_pixels(window: MainWindow) -> None:
    """Enlarged pixels would come in pairs everywhere."""
    image = picture(window.gantt)
    pairs = [
        image.pixel(x, y) == image.pixel(x + 1, y)
        for y in range(120, image.height() // 2, 2)
        for x in range(0, image.width() - 1, 2)
    ]
    assert not all(pairs)


def test_save_picture_by_menu(bot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    answer_file_dialog(bot, tmp_path / "chart")
    window.gantt.setFocus()
    window.actions_by_name["save_picture"].trigger()
    assert not QImage(str(tmp_path / "chart.png")).isNull()
