"""GUI tests run offscreen, with their own settings, and leave no thread, process or top-level widget behind."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import gc
import multiprocessing
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QThreadPool
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot


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
    """Fails the test that leaves a thread, a child process or a top-level widget behind."""
    threads = set(threading.enumerate())
    widgets = set(QApplication.topLevelWidgets())
    yield
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    QCoreApplication.processEvents()
    assert QThreadPool.globalInstance().activeThreadCount() == 0
    assert [t.name for t in threading.enumerate() if t not in threads and t.is_alive()] == []
    assert [p.name for p in multiprocessing.active_children()] == []
    left = [w for w in QApplication.topLevelWidgets() if w not in widgets]
    assert [f"{type(w).__name__} {w.objectName()}" for w in left] == []


@pytest.fixture
def bot(nothing_leaks: None, qtbot: QtBot) -> QtBot:
    """pytest-qt's bot, set up after the leak check so that it is torn down before it."""
    return qtbot
