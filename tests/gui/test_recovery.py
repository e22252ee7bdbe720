"""Unsaved work survives a killed window, and is offered by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from states import SCHEDULE, write_project

from twill_gui.document import editing
from twill_gui.document.recovery import find_leftovers
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]

_EDIT_AND_WAIT = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from twill_gui.document import editing
from twill_gui.document.document import Document
from twill_gui.document.files import open_state
from twill_gui.document.recovery import Autosave

app = QApplication([])
document = Document()
autosave = Autosave(document, Path(sys.argv[2]), app, interval_ms=10)
document.open(open_state(Path(sys.argv[1])).state)
QTimer.singleShot(0, lambda: editing.nudge_ops(document, {"b"}, 4))
app.exec()
"""


def leave_work_behind(project: Path, root: Path) -> None:
    """A real process edits the project and is killed once its work is on disk."""
    process = subprocess.Popen([sys.executable, "-c", _EDIT_AND_WAIT, str(project), str(root)])
    try:
        deadline = time.monotonic() + 60
        while not list(root.glob("*/origin.json")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        assert find_leftovers(root) == []  # it lives, so this is no leftover
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


_EDIT_ON = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from twill_gui.document import editing
from twill_gui.main_window import MainWindow
from twill_gui.settings import Settings
from twill_gui.theme import Appearance, Theme

app = QApplication([])
window = MainWindow(Appearance(app, Theme.LIGHT), Settings(Path(sys.argv[2]).parent / "w.ini"), Path(sys.argv[2]))
window.show()
assert window.files.open(Path(sys.argv[1]))

def edit():
    editing.nudge_ops(window.document, {"b"}, 1)
    print(time.time(), window.document.schedule.ops["b"].start, flush=True)

timer = QTimer(interval=40)
timer.timeout.connect(edit)
timer.start()
app.exec()
"""


def test_a_kill_in_the_middle_of_editing_loses_ten_seconds_at_most(tmp_path: Path) -> None:
    """A real window with the interval it has, edited 25 times a second, killed at once while it goes on."""
    project, root, log = write_project(tmp_path / "p"), tmp_path / "recovery", tmp_path / "log"
    with log.open("w") as written:
        process = subprocess.Popen([sys.executable, "-c", _EDIT_ON, str(project), str(root)], stdout=written)
    try:
        deadline = time.monotonic() + 60
        while not log.read_text():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(14)  # long enough that one early copy is not enough
    finally:
        os.kill(process.pid, signal.SIGKILL)
        killed = time.time()
        process.wait()
    edits = [line.split() for line in log.read_text().splitlines() if line.count(" ") == 1 and line.split()[1]]
    made = {int(start): float(moment) for moment, start in edits}
    assert len(made) > 20
    [leftover] = find_leftovers(root)
    schedule = leftover.state().variant.schedule
    assert schedule is not None
    kept = schedule.ops["b"].start
    assert killed - made[kept] <= 10
    assert kept > SCHEDULE.ops["b"].start


def click_in_message(bot: QtBot, window: MainWindow, label: str) -> None:
    [button] = [b for b in window.messages.findChildren(QPushButton) if b.text() == label and b.isVisible()]
    bot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_killed_work_is_recovered_and_saved_to_its_own_place(
    bot: QtBot, open_window: OpenWindow, tmp_path: Path
) -> None:
    project = write_project(tmp_path / "p")
    root = tmp_path / "recovery"
    leave_work_behind(project, root)
    window = open_window()
    window.files.offer_recovery()
    assert "Unsaved changes to two ops" in window.messages.messages[0].text
    click_in_message(bot, window, "Recover")
    assert window.document.schedule is not None
    assert window.document.schedule.ops["b"].start == SCHEDULE.ops["b"].start + 4
    assert window.isWindowModified()
    window.document.undo_stack.undo()
    assert window.document.schedule == SCHEDULE
    window.document.undo_stack.redo()
    assert window.files.save()
    assert f"start: {SCHEDULE.ops['b'].start + 4}" in (project.parent / "schedules" / "main.yaml").read_text()
    assert list(root.iterdir()) == []


def test_discarded_leftovers_are_gone(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    root = tmp_path / "recovery"
    leave_work_behind(write_project(tmp_path / "p"), root)
    window = open_window()
    window.files.offer_recovery()
    click_in_message(bot, window, "Discard")
    assert list(root.iterdir()) == []
    assert window.document.state is None


def test_the_copy_goes_when_nothing_is_unsaved(bot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window(write_project(tmp_path / "p"))
    root = tmp_path / "recovery"
    editing.nudge_ops(window.document, {"b"}, 1)
    window.files.autosave.write()
    window.files.autosave.wait()
    assert len(list(root.glob("*/origin.json"))) == 1
    window.document.undo_stack.undo()
    assert list(root.iterdir()) == []
    editing.nudge_ops(window.document, {"b"}, 1)
    window.files.autosave.write()
    assert window.files.save()
    assert list(root.iterdir()) == []


def test_an_incomplete_copy_is_no_leftover(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "project.yaml").write_text("schema: twill.project/1\n")
    assert find_leftovers(tmp_path) == []
    assert not (tmp_path / "half").exists()
