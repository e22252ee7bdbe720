"""The check after every test of the window sees what a test leaves behind: each kind is left on purpose."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

LEAKING = """
import subprocess
import threading
import time

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

kept = []

def test_nothing():
    pass

def test_thread():
    threading.Thread(target=time.sleep, args=(5,), daemon=True).start()

def test_timer():
    kept.append(QTimer(interval=60_000))
    kept[-1].start()

def test_widget():
    kept.append(QWidget())

def test_process():  # last: it is left to the tests after it too
    subprocess.Popen(["sleep", "5"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""


def test_every_kind_of_leak_fails_its_test(tmp_path: Path) -> None:
    here = Path(__file__).parent
    for name in ("conftest.py", "leaks.py", "fake_solvers.py"):
        shutil.copy(here / name, tmp_path / name)
    (tmp_path / "test_leaking.py").write_text(LEAKING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_leaking.py"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    failed = re.findall(r"^ERROR test_leaking.py::test_(\w+)", told, re.MULTILINE)
    assert failed == ["thread", "timer", "widget", "process"], told
    assert "5 passed, 4 errors" in told
