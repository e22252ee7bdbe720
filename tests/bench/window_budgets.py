"""Measures the window as a whole: start, hold-ups of the event loop while jobs run, cancelling, autosave.

Run: python -m tests.bench.window_budgets [--project projects/attention_forward_hopper] [--seconds 20]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.resources import data_folder
from twill_gui.document import editing
from twill_gui.document.recovery import AUTOSAVE_MS
from twill_gui.main_window import MainWindow
from twill_gui.settings import Settings
from twill_gui.theme import Appearance, Theme

STARTS, CANCELS, AUTOSAVES = 5, 5, 20

_START = """
import sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from twill_gui.icons import application_icon
app = QApplication(["twill-gui"])
app.setWindowIcon(application_icon())
from twill_gui.crash import CrashReports
from twill_gui.main_window import MainWindow
from twill_gui.settings import Settings
from twill_gui.theme import Appearance, Theme
folder = Path(sys.argv[2])
window = MainWindow(Appearance(app, Theme.LIGHT), Settings(folder / "window.ini"), folder / "recovery")
CrashReports(window)
window.resize(1600, 1000)
window.dock_layout.reset()
window.show()
if sys.argv[1]:
    window.files.open(Path(sys.argv[1]), ask=False)

def shown():
    window.repaint()
    heavy = sorted({"ortools", "z3", "pyqtgraph"} & set(sys.modules))
    print(time.time() - float(sys.argv[3]), time.process_time(), heavy)
    window.close()
    app.quit()

QTimer.singleShot(0, shown)
app.exec()
"""


class Pulse(QObject):
    """A timer of one millisecond: how long it had to wait, by the clock, and for what this thread did meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps: list[float] = []
        self.busy: list[float] = []
        self._last, self._last_cpu = time.perf_counter(), time.thread_time()
        self._timer = QTimer(self, interval=1, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def begin(self) -> None:
        """Forgets what was before."""
        self.gaps, self.busy = [], []
        self._last, self._last_cpu = time.perf_counter(), time.thread_time()

    def _beat(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        self.gaps.append((now - self._last) * 1000)
        self.busy.append((cpu - self._last_cpu) * 1000)
        self._last, self._last_cpu = now, cpu


def start(project: str) -> None:
    """From the start of the process until the first frame with everything in it is painted."""
    clock, cpu, heavy = [], [], set()
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", _START, project, folder, str(time.time())]
            words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(maxsplit=2)
        clock.append(float(words[0]))
        cpu.append(float(words[1]))
        heavy.add(words[2].strip())
    what = f"start with {Path(project).name}" if project else "start with the welcome page"
    line(what, f"median {statistics.median(clock):.2f} s, best {min(clock):.2f} s, CPU {statistics.median(cpu):.2f} s")
    line("  solvers and plots imported by then", ", ".join(heavy))


def hold_ups(what: str, pulse: Pulse, running: Callable[[], bool], seconds: float) -> None:
    """The longest waits of the event loop while something runs."""
    pulse.begin()
    end = time.monotonic() + seconds
    while running() and time.monotonic() < end:
        QTest.qWait(20)
    line(what, _gaps(pulse))


def _gaps(pulse: Pulse) -> str:
    longest = ", ".join(f"{gap:.1f}" for gap in sorted(pulse.gaps)[:-4:-1])
    over = sum(gap > 50 for gap in pulse.gaps)
    return f"longest {longest} ms, CPU {max(pulse.busy):.1f} ms; over 50 ms: {over} of {len(pulse.gaps)}"


def cancel(window: MainWindow) -> None:
    """From the wish to stop until it is told, until the job has ended, and what is left."""
    told, ended = [], []
    for number in range(CANCELS):
        window.solving.solve()
        QTest.qWait(1500 + 700 * number)
        if not window.solving.busy:
            continue
        begin = time.perf_counter()
        window.solving.cancel()
        window.status.repaint()
        told.append((time.perf_counter() - begin) * 1000)
        assert window.progress.stopping
        while window.solving.busy:
            QTest.qWait(5)
        ended.append(time.perf_counter() - begin)
    left = [
        child for child in psutil.Process().children(recursive=True) if "resource_tracker" not in str(child.cmdline())
    ]
    line("cancel: told", f"median {statistics.median(told):.1f} ms, longest {max(told):.1f} ms")
    line(
        "cancel: done",
        f"median {statistics.median(ended):.2f} s, longest {max(ended):.2f} s; processes left: {len(left)}",
    )


def autosave(window: MainWindow, pulse: Pulse) -> None:
    """What an autosave costs the window's thread, and how long until it is on disk."""
    blocked, written = [], []
    pulse.begin()
    op = next(iter(window.document.graph.ops)) if window.document.graph else ""
    for _ in range(AUTOSAVES):
        editing.nudge_ops(window.document, [op], 1)
        begin = time.perf_counter()
        window.files.autosave.write()
        blocked.append((time.perf_counter() - begin) * 1000)
        QTest.qWait(150)
        window.files.autosave.wait()
        written.append(time.perf_counter() - begin)
    line("autosave: the window waits", f"median {statistics.median(blocked):.2f} ms, longest {max(blocked):.2f} ms")
    line("  event loop meanwhile, edits included", _gaps(pulse))
    line(
        "  work lost by kill -9 at most",
        f"{AUTOSAVE_MS / 1000:.0f} s and one write ({max(written):.2f} s at most here)",
    )


def line(what: str, figures: str) -> None:
    """Prints a row."""
    print(f"{what:42} {figures}", flush=True)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=Path, default=data_folder("projects") / "attention_forward_hopper")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each job that is watched")
    options = parser.parse_args()
    start("")
    start(str(options.project))
    application = QApplication(["twill-gui"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(options.project, folder / "project")
        appearance = Appearance(application, Theme.LIGHT)
        window = MainWindow(appearance, Settings(folder / "window.ini"), folder / "recovery")
        window.resize(1600, 1000)
        window.dock_layout.reset()
        window.show()
        window.files.open(folder / "project", ask=False)
        QTest.qWait(500)
        pulse = Pulse()
        hold_ups("event loop, idle", pulse, lambda: True, 3)
        window.solving.solve()
        hold_ups("event loop while a solve runs", pulse, lambda: window.solving.busy, options.seconds)
        window.solving.cancel()
        while window.solving.busy:
            QTest.qWait(20)
        window.explaining.ask_smaller_ii()
        hold_ups("event loop while an explanation runs", pulse, lambda: window.explaining.busy, options.seconds)
        window.explaining.cancel()
        while window.explaining.busy:
            QTest.qWait(20)
        cancel(window)
        autosave(window, pulse)
        window.document.undo_stack.setClean()
        window.close()


if __name__ == "__main__":
    main()
