"""GUI tests run offscreen, with their own settings, and leave no thread, timer, process or top-level widget behind."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import fake_solvers
import pytest
from leaks import children, running_timers
from PySide6.QtCore import QCoreApplication, QEvent, QThreadPool
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

if TYPE_CHECKING:
    from twill_gui.jobs.supervisor import Work
    from twill_gui.main_window import MainWindow


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    return ["twill-gui"]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings and recovery files of every process that a test starts go to its own folder."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


@pytest.fixture(autouse=True)
def nothing_leaks(qapp: QApplication) -> Iterator[None]:
    """Fails the test that leaves a thread, a running timer, a child process or a top-level widget behind."""
    threads = set(threading.enumerate())
    widgets = set(QApplication.topLevelWidgets())
    timers = {id(timer) for timer in running_timers()}
    yield
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    QCoreApplication.processEvents()
    assert QThreadPool.globalInstance().activeThreadCount() == 0
    assert [t.name for t in threading.enumerate() if t not in threads and t.is_alive()] == []
    assert [f"{type(t.parent()).__name__} {t.interval()} ms" for t in running_timers() if id(t) not in timers] == []
    assert children() == []
    left = [w for w in QApplication.topLevelWidgets() if w not in widgets]
    assert [f"{type(w).__name__} {w.objectName()}" for w in left] == []


@pytest.fixture
def bot(nothing_leaks: None, qtbot: QtBot) -> QtBot:
    """pytest-qt's bot, set up after the leak check so that it is torn down before it."""
    return qtbot


@pytest.fixture
def open_window(bot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Callable[..., MainWindow]]:
    """Makes a shown window with settings and recovery folder of the test's own; all are closed at its end."""
    from twill_gui.jobs.explainer import explain
    from twill_gui.main_window import MainWindow  # here, so that the tests of one view need nothing else
    from twill_gui.settings import Settings
    from twill_gui.theme import Appearance, Theme

    windows: list[MainWindow] = []
    appearance = Appearance(qapp, Theme.LIGHT)

    def opened(path: Path | None = None, work: Work = fake_solvers.quick, explain_work: Work = explain) -> MainWindow:
        window = MainWindow(appearance, Settings(tmp_path / "window.ini"), tmp_path / "recovery", work, explain_work)
        windows.append(window)
        window.resize(1400, 900)
        window.show()
        window.activateWindow()  # keys reach actions in the active window only
        bot.waitUntil(window.isActiveWindow)
        if path is not None:
            assert window.files.open(path)
        return window

    yield opened
    for window in windows:
        window.document.undo_stack.setClean()
        window.close()
        window.deleteLater()
    appearance.deleteLater()
