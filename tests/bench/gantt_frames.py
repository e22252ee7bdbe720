"""Measures the timeline views: a frame while panning and zooming, and the feedback of a drag.

Run: python -m tests.bench.gantt_frames [--bars 2400]

A step is a change of the axis or a mouse move and the painting that follows, until the event loop is idle. The loop is
synthetic: 40 ops on four warp groups. Chart, liveness and reservation table lie in one window, as they do in the
program: 1600 x 900 and twice 1600 x 300 pixels.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from core.graph.model import Block, Dependence, Graph, GroupKind, Limits, Op, RegisterFile, Result, Space
from core.schedule.check import check
from core.schedule.model import Placement, Schedule, ScheduledGroup
from tests.bench.figures import Watch
from twill_gui.views.gantt import GanttMode, GanttView
from twill_gui.views.liveness import LivenessView
from twill_gui.views.reservation import ReservationView

FRAME_MS, DRAG_MS = 16.0, 8.0
OPS, STEPS = 40, 60
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


def frames(what: str, step: Callable[[int], object], budget: float | None = FRAME_MS) -> None:
    """Tells the median of a step and its painting."""
    watch = Watch()
    for number in range(STEPS):
        watch.run(lambda number=number: (step(number), QApplication.processEvents()))
    watch.tell(what, budget)


def drag(view: GanttView, what: str, what_follows: str = "") -> None:
    """An op in the hand, a pixel further each time: until the chart has painted it, and until all else has."""
    content, rows = view.content, view.canvas.rows
    assert content is not None and rows is not None
    bar = next(bar for bar in content.layout.bars if bar.op == "op8" and bar.block is None)
    x, y = int(view.axis.x(bar.start)) + 5, rows.bar_top(bar) + 5
    QTest.mousePress(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    chart, linked = Watch(), Watch()

    def move(number: int) -> None:
        QTest.mouseMove(view.canvas, QPoint(x + 10 + number, y))
        QApplication.sendPostedEvents()

    for number in range(STEPS):
        chart.run(lambda number=number: move(number))
        linked.run(QApplication.processEvents)
    chart.tell(what, DRAG_MS)
    if what_follows:
        linked.tell(what_follows, DRAG_MS)
    view.cancel_drag()
    QTest.mouseRelease(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(x, y))


def main() -> None:
    """Measures and tells."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bars", type=int, default=2400)
    options = parser.parse_args()
    application = QApplication([])
    graph, schedule = loop()
    window, view, liveness, reservation = QWidget(), GanttView(), LivenessView(), ReservationView()
    layout = QVBoxLayout(window)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    for widget, height in ((view, 900), (liveness, 300), (reservation, 300)):
        layout.addWidget(widget)
        widget.setFixedSize(1600, height)
        widget.setVisible(widget is view)
    view.set_mode(GanttMode.UNROLLED)
    view.set_steady_iterations(max(options.bars // (2 * OPS) - 2, 1))
    view.set_content(graph, schedule, check(graph, schedule))
    window.show()
    QTest.qWait(50)
    assert view.content is not None
    bars = f"{len(view.content.layout.bars):,}"

    def zoom(number: int) -> None:
        view.axis.zoom(1.01 if number % 2 else 1 / 1.01, 5000)

    frames(f"frame: zoom, all {bars} bars in view", zoom)
    view.axis.show_range(0, (view.axis.end - view.axis.start) / 2)
    frames("frame: pan, half of the bars", lambda n: view.axis.pan(37 if n < STEPS // 2 else -37))
    view.axis.show_range(0, (view.axis.end - view.axis.start) / 4)
    frames("frame: pan, an eighth of the bars, with labels", lambda n: view.axis.pan(17 if n < STEPS // 2 else -17))
    view.fit()
    frames("frame: mouse over bars", lambda n: QTest.mouseMove(view.canvas, QPoint(300 + n, 60 + n % 3)))

    view.set_mode(GanttMode.FOLDED)
    QTest.qWait(20)
    drag(view, "drag: judge, ghost, arrows")
    for linked in (liveness, reservation):
        linked.link_to(view)
        linked.set_content(graph, schedule)
        linked.show()
    window.adjustSize()
    QTest.qWait(50)
    drag(
        view,
        "drag with liveness and reservation open: judge, ghost, arrows",
        "drag with liveness and reservation open: both follow, next turn",
    )
    view.set_mode(GanttMode.UNROLLED)
    QTest.qWait(20)
    frames(f"frame: zoom, all {bars} bars, all three views", zoom)
    application.quit()


if __name__ == "__main__":
    main()
