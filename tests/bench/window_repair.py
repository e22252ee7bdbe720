"""Measures a repair as the user of the window sees it: from the press of *Repair* after a drop to the schedule on
screen, with the process that the drag has made ready, with one that has just been asked for, and with none.

    python -m tests.bench.window_repair [--drops N]      adds its table to results/repair.md
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.resources import data_folder
from tests.bench.echo import echo
from tests.bench.repair import FILE, WINDOW, drags, load, part, written
from tests.bench.report import environment, table, write
from twill_gui.document import editing
from twill_gui.jobs.serving import Task
from twill_gui.main_window import MainWindow
from twill_gui.settings import Settings
from twill_gui.theme import Appearance, Theme

HEAD = ("project, schedule", "drops", "ready s", "95 %", "just asked for s", "95 %", "none s", "95 %", "cancel ms")
PROJECTS = ("attention_backward_blackwell", "attention_backward_hopper", "attention_forward_hopper")


@dataclass(frozen=True, slots=True)
class Drop:
    """Where an op is put, and on which group."""

    op: str
    start: int
    group: str


def main() -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drops", type=int, default=20)
    count: int = parser.parse_args().drops
    application = QApplication(["twill-gui"])
    rows: list[list[object]] = []
    for name in PROJECTS:
        with tempfile.TemporaryDirectory() as folder:
            window = opened(application, name, Path(folder))
            rows.append(row(window, f"{name}, main", count))
            window.document.undo_stack.setClean()
            window.close()
        print(*rows[-1], sep="\t", flush=True)
    text = (
        f"{environment()} Seconds from the press of *Repair* to the repaired schedule on screen (offscreen), medians "
        f"and 95th percentiles, for {count} random drops: with a process that the drag has made ready, with one that "
        "is asked for at the press, and with none (every repair starts its own). *cancel*: from the press of *Cancel* "
        f"until no repair runs. {load()} Again: `python -m tests.bench.window_repair`."
    )
    write(FILE, written().partition(WINDOW)[0].rstrip(), WINDOW, text, table(HEAD, rows))


def opened(application: QApplication, name: str, folder: Path) -> MainWindow:
    """A window with the project."""
    window = MainWindow(Appearance(application, Theme.LIGHT), Settings(folder / "window.ini"), folder / "recovery")
    window.resize(1600, 1000)
    window.show()
    window.files.open(data_folder("projects") / name, ask=False)
    QTest.qWait(300)
    return window


def row(window: MainWindow, name: str, count: int) -> list[object]:
    """One line of the table."""
    graph, schedule = window.document.graph, window.document.schedule
    if graph is None or schedule is None:
        raise SystemExit(f"{name} has no schedule")
    drops = [Drop(op, place.start, place.group) for op, place in drags(graph, schedule, count)]
    ready = [seconds(window, drop, wait_until_ready) for drop in drops]
    asked = [seconds(window, drop, restart) for drop in drops[: count // 2]]
    none = [seconds(window, drop, stop) for drop in drops[: count // 2]]
    figures = [f"{part(of, share):.2f}" for of in (ready, asked, none) for share in (0.5, 0.95)]
    return [name, count, *figures, f"{1000 * cancel(window, drops[0]):.0f}"]


def seconds(window: MainWindow, drop: Drop, prepare: Callable[[MainWindow], None]) -> float:
    """From the press to the picture; the document is then as it was."""
    before = window.document.undo_stack.index()
    editing.move(window.document, drop.op, drop.start, drop.group)
    prepare(window)
    began = time.perf_counter()
    window.repairing.repair()
    finish(window)
    window.gantt.canvas.repaint()
    took = time.perf_counter() - began
    window.explaining.cancel()
    window.document.undo_stack.setIndex(before)
    return took


def cancel(window: MainWindow, drop: Drop) -> float:
    """From the wish to stop a repair until none runs."""
    before = window.document.undo_stack.index()
    editing.move(window.document, drop.op, drop.start, drop.group)
    wait_until_ready(window)
    window.repairing.repair(30.0)
    QTest.qWait(100)
    began = time.perf_counter()
    window.repairing.cancel()
    finish(window)
    took = time.perf_counter() - began
    window.document.undo_stack.setIndex(before)
    return took


def finish(window: MainWindow) -> None:
    """Until no repair runs."""
    while window.repairing.busy:
        QTest.qWait(1)


def wait_until_ready(window: MainWindow) -> None:
    """As after a drag and some thought: the process has imported what it needs."""
    window.standby.warm_up()
    worker = window.standby.take()
    if worker is None:
        raise SystemExit("no solver process could be started")
    worker.connection.send(Task(echo, "ready", None))
    worker.connection.recv()
    worker.connection.recv()  # that it is idle again
    window.standby.give_back(worker)


def restart(window: MainWindow) -> None:
    """The process begins now."""
    stop(window)
    window.standby.warm_up()


def stop(window: MainWindow) -> None:
    """No process is ready."""
    worker = window.standby.take()
    if worker is not None:
        worker.end()


if __name__ == "__main__":
    main()
