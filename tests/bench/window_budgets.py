"""Measures the window as a whole: start, waits of the event loop while jobs run, cancelling, autosave, edits.

Run: python -m tests.bench.window_budgets [--project projects/attention_forward_hopper]

A wait of the event loop is that of a timer of one millisecond.
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
from tests.bench.figures import Figure, Watch, tell
from twill_gui.app import end_of_start
from twill_gui.document import editing
from twill_gui.document.recovery import AUTOSAVE_MS
from twill_gui.main_window import MainWindow
from twill_gui.settings import Settings
from twill_gui.theme import Appearance, Theme

START_S, GAP_MS = 2.0, 50.0
STARTS, CANCELS, AUTOSAVES, EDITS = 5, 4, 20, 8

_START = """
import gc, sys, time
gc.disable()
from pathlib import Path
from PySide6.QtCore import QEvent, QObject, QTimer
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
from twill_gui.app import end_of_start
end_of_start()

class Painted(QObject):
    seen = False
    def eventFilter(self, watched, event):
        self.seen = self.seen or event.type() == QEvent.Type.Paint
        return False

painted, watched = Painted(), []

def look():
    if not watched:
        watched.extend([window.gantt.canvas] if sys.argv[1] else window.welcome.samples.cards[:1])
        for widget in watched:
            widget.installEventFilter(painted)
            widget.update()
    if not painted.seen:
        QTimer.singleShot(0, look)
        return
    heavy = {"ortools", "z3", "pyqtgraph"} & set(sys.modules)
    print(time.time() - float(sys.argv[3]), time.process_time(), len(heavy))
    window.close()
    app.quit()

QTimer.singleShot(0, look)
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


def start(project: Path | None) -> None:
    """From the start of the process until the first frame with everything in it is painted. The first start compiles
    the program and is not counted: an installed one is compiled."""
    clock, cpu, heavy = [], [], 0
    for number in range(STARTS + 1):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", _START, str(project or ""), folder, str(time.time())]
            words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        if number:
            clock.append(float(words[0]))
            cpu.append(float(words[1]))
        heavy = max(heavy, int(words[2]))
    what = f"start with {project.name}" if project else "start with the welcome page"
    tell(Figure(f"{what}, median of {STARTS}", statistics.median(clock), "s", START_S, statistics.median(cpu)))
    tell(Figure(f"{what}, best", min(clock), "s", START_S, min(cpu)))
    if project:
        tell(Figure("solvers and plots imported by then", heavy, "", 0))


def hold_ups(what: str, pulse: Pulse, running: Callable[[], bool], seconds: float) -> None:
    """The longest waits of the event loop while something runs, its end included."""
    pulse.begin()
    end = time.monotonic() + seconds
    while running() and time.monotonic() < end:
        QTest.qWait(20)
    QTest.qWait(300)
    tell_gaps(what, pulse)


def tell_gaps(what: str, pulse: Pulse) -> None:
    """The longest wait, with what this thread did in the longest of its own, and the next one."""
    longest = sorted(pulse.gaps)[:-3:-1]
    tell(Figure(f"longest wait of the event loop {what}", longest[0], "ms", GAP_MS, max(pulse.busy)))
    tell(Figure(f"the next longest {what}", longest[1], "ms", GAP_MS))


def solve(window: MainWindow, pulse: Pulse, seconds: float) -> None:
    """A solve from the wish to the schedule in the views, which is another one than they showed."""
    assert window.document.graph is not None
    editing.nudge_ops(window.document, [next(iter(window.document.graph.ops))], 1)
    QTest.qWait(500)
    window.solving.solve()
    hold_ups("from a solve's beginning to its end", pulse, lambda: window.solving.busy, seconds)
    if window.solving.busy:
        print(f"the solve did not end within {seconds:g} s: its end is not measured", flush=True)
        window.solving.cancel()
    while window.solving.busy:
        QTest.qWait(20)


def explanation(window: MainWindow, pulse: Pulse, seconds: float) -> None:
    """Why the next smaller II is impossible."""
    window.explaining.ask_smaller_ii()
    hold_ups("while an explanation runs", pulse, lambda: window.explaining.busy, seconds)
    window.explaining.cancel()
    while window.explaining.busy:
        QTest.qWait(20)


def cancel(window: MainWindow) -> None:
    """From the wish to stop until it is told, until the job has ended, and what is left."""
    told, ended = [], []
    window.standby.shut_down()  # a process kept ready for the next question is no solve's
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
    tell(Figure(f"cancel: told, longest of {len(told)}", max(told), "ms", 100))
    tell(Figure("cancel: done, longest", max(ended), "s", 1.5))
    children = psutil.Process().children(recursive=True)
    left = [child for child in children if "resource_tracker" not in str(child.cmdline())]
    tell(Figure("processes left by cancelled solves", len(left), "", 0))


def autosave(window: MainWindow) -> None:
    """What an autosave costs the window's thread, and how long until it is on disk."""
    blocked, written = Watch(), []
    op = next(iter(window.document.graph.ops)) if window.document.graph else ""
    for _ in range(AUTOSAVES):
        editing.nudge_ops(window.document, [op], 1)
        begin = time.perf_counter()
        blocked.run(window.files.autosave.write)
        QTest.qWait(100)
        window.files.autosave.wait()
        written.append(time.perf_counter() - begin)
    blocked.tell(f"autosave: the window waits, longest of {AUTOSAVES}", 20, max)
    lost = AUTOSAVE_MS / 1000 + max(written)
    tell(Figure("work lost by kill -9 at most: time between saves, and a write", lost, "s", 10))


def edits(window: MainWindow, pulse: Pulse) -> None:
    """Edits of the schedule, and of the machine's numbers with the Machine dock open."""
    graph, machine = window.document.graph, window.tool_docks.machine
    assert graph is not None
    op = next(iter(graph.ops))
    pulse.begin()
    for _ in range(EDITS):
        QTimer.singleShot(0, lambda: editing.nudge_ops(window.document, [op], 1))
        QTest.qWait(150)
    tell_gaps("while an op is nudged", pulse)
    window.dock_layout.bring_forward("Machine")
    QTest.qWait(500)
    pulse.begin()
    for number in range(EDITS):
        count = window.document.undo_stack.count()
        machine.number_requested.emit(("shared_memory", "bytes"), 200_000 + number)
        while window.document.undo_stack.count() == count:
            QTest.qWait(20)
        QTest.qWait(100)
    tell_gaps("while numbers of the machine are edited", pulse)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=Path, default=data_folder("projects") / "attention_forward_hopper")
    parser.add_argument("--solve-s", type=float, default=30.0, help="watched of a solve")
    parser.add_argument("--explain-s", type=float, default=10.0, help="watched of an explanation")
    options = parser.parse_args()
    start(None)
    start(options.project)
    application = QApplication(["twill-gui"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(options.project, folder / options.project.name)
        appearance = Appearance(application, Theme.LIGHT)
        window = MainWindow(appearance, Settings(folder / "window.ini"), folder / "recovery")
        window.resize(1600, 1000)
        window.dock_layout.reset()
        window.show()
        window.files.open(folder / options.project.name, ask=False)
        end_of_start()
        QTest.qWait(500)
        pulse = Pulse()
        hold_ups("while nothing runs", pulse, lambda: True, 2)
        solve(window, pulse, options.solve_s)
        explanation(window, pulse, options.explain_s)
        cancel(window)
        autosave(window)
        edits(window, pulse)
        window.document.undo_stack.setClean()
        window.close()


if __name__ == "__main__":
    main()
