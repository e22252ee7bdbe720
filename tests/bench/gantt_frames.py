"""Measures the timeline views offscreen: a frame while panning and zooming, and the feedback of a drag.

Run: python -m tests.bench.gantt_frames [--bars 2400] [--width 1600] [--height 900]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, RegisterFile, Result, Space
from core.schedule.check import check
from core.schedule.model import Placement, Schedule, ScheduledGroup
from twill_gui.views.gantt import GanttMode, GanttView
from twill_gui.views.liveness import LivenessView
from twill_gui.views.reservation import ReservationView

OPS = 40
UNITS = ("tensor_core", "sfu", "fma", "alu", "tma")


def loop() -> tuple[Graph, Schedule]:
    """40 ops of 50 cycles on four groups, each waiting for the one before; two bars an iteration each."""
    ops = {
        f"op{n}": Op(
            f"op{n}",
            "arith.mulf",
            blocks=(Block(UNITS[n % len(UNITS)], 0, 45),),
            issue_cycles=40,
            latency=60,
            result=Result(Space.REGISTERS, 4),
        )
        for n in range(OPS)
    }
    waits = tuple(Dependence(f"op{n}", f"op{n + 1}", 60, release=40) for n in range(OPS - 1))
    limits = Limits(dict.fromkeys(UNITS, 1), RegisterFile(65536, 255, 8))
    graph = Graph("bench", limits, (GroupKind("compute", 4, 4),), ops, waits)
    groups = {f"compute{n}": ScheduledGroup("compute", 128) for n in range(4)}
    places = {f"op{n}": Placement(60 * n, f"compute{n % 4}") for n in range(OPS)}
    return graph, Schedule(800, groups, places)


def measure(what: str, step: Callable[[int], object], count: int = 60) -> None:
    """Prints the time of a step and the painting that follows it, as the clock shows it and as this thread's CPU
    time, which other programs on the machine disturb less."""
    clock: list[float] = []
    cpu: list[float] = []
    for number in range(count):
        begin, cpu_begin = time.perf_counter(), time.thread_time()
        step(number)
        QApplication.processEvents()
        clock.append((time.perf_counter() - begin) * 1000)
        cpu.append((time.thread_time() - cpu_begin) * 1000)
    print(
        f"{what:42} median {statistics.median(clock):6.2f} ms, CPU {statistics.median(cpu):6.2f} ms;"
        f" 95 % below {sorted(clock)[count * 95 // 100]:6.2f} ms, CPU {sorted(cpu)[count * 95 // 100]:6.2f} ms"
    )


def drag(what: str, view: GanttView) -> None:
    """Measures an op in the hand, one pixel further each time."""
    content, rows = view.content, view.canvas.rows
    assert content is not None and rows is not None
    bar = next(bar for bar in content.layout.bars if bar.op == "op8" and bar.block is None)
    x, y = int(view.axis.x(bar.start)) + 5, rows.bar_top(bar) + 5
    QTest.mousePress(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    measure(what, lambda n: QTest.mouseMove(view.canvas, QPoint(x + 10 + n, y)))
    view.cancel_drag()
    QTest.mouseRelease(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(x, y))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bars", type=int, default=2400)
    parser.add_argument("--width", type=int, default=1600)
    parser.add_argument("--height", type=int, default=900)
    options = parser.parse_args()
    application = QApplication([])
    graph, schedule = loop()
    view, liveness, reservation = GanttView(), LivenessView(), ReservationView()
    view.resize(options.width, options.height)
    view.set_mode(GanttMode.UNROLLED)
    view.set_steady_iterations(max(options.bars // (2 * OPS) - 2, 1))
    view.set_content(graph, schedule, check(graph, schedule))
    view.show()
    QTest.qWait(50)
    assert view.content is not None
    layout = view.content.layout
    print(f"{len(layout.bars)} bars, {len(layout.tails)} tails, {view.width()} x {view.height()} pixels")

    measure("zoom, all bars in view", lambda n: view.axis.zoom(1.01 if n % 2 else 1 / 1.01, 5000))
    view.axis.show_range(0, (view.axis.end - view.axis.start) / 2)
    measure("pan, half of the bars in view", lambda n: view.axis.pan(37 if n < 30 else -37))
    view.axis.show_range(0, (view.axis.end - view.axis.start) / 4)
    measure("pan, an eighth of the bars, with labels", lambda n: view.axis.pan(17 if n < 30 else -17))
    view.fit()
    measure("hover", lambda n: QTest.mouseMove(view.canvas, QPoint(300 + n, 60 + n % 3)))

    view.set_mode(GanttMode.FOLDED)
    QTest.qWait(20)
    drag("drag: judge and frame, folded", view)
    for linked in (liveness, reservation):
        linked.resize(options.width, 300)
        linked.link_to(view)
        linked.set_content(graph, schedule)
        linked.show()
    QTest.qWait(50)
    drag("drag, with liveness and reservation below", view)
    view.set_mode(GanttMode.UNROLLED)
    measure("zoom, all bars, all three views", lambda n: view.axis.zoom(1.01 if n % 2 else 1 / 1.01, 5000))
    application.quit()


if __name__ == "__main__":
    main()
