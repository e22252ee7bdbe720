"""Measures the Graph dock offscreen: laying out, the first time and later, and a frame while zooming.

Run: python -m tests.bench.graph_layout [--ops 100]
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.graph.model import Dependence, Graph, GroupKind, Limits, Op, RegisterFile
from core.schedule.bounds import bounds
from twill_gui.views.graph import GraphView
from twill_gui.views.graph.layouter import layouts


def loop(count: int) -> Graph:
    """Ops in a row of stages, each reading one to three results of the few before it; every tenth is carried over."""
    rng = random.Random(1)
    names = [f"op{number}" for number in range(count)]
    ops = {name: Op(name, "arith.mulf", issue_cycles=8, latency=30) for name in names}
    waits = [
        Dependence(names[source], names[number], 30)
        for number in range(1, count)
        for source in sorted({rng.randrange(max(0, number - 12), number) for _ in range(rng.randint(1, 3))})
    ]
    carried = [Dependence(names[number], names[max(0, number - 7)], 30, distance=1) for number in range(9, count, 10)]
    limits = Limits({}, RegisterFile(65536, 255))
    return Graph("bench", limits, (GroupKind("compute", 4, 2),), ops, (*waits, *carried))


def measure(what: str, step: Callable[[], object], count: int) -> None:
    """Prints the clock and this thread's CPU time of a step, the median of `count`."""
    clock: list[float] = []
    cpu: list[float] = []
    for _ in range(count):
        begin, cpu_begin = time.perf_counter(), time.thread_time()
        step()
        clock.append((time.perf_counter() - begin) * 1000)
        cpu.append((time.thread_time() - cpu_begin) * 1000)
    print(f"{what:44} median {statistics.median(clock):7.1f} ms, CPU {statistics.median(cpu):7.1f} ms")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=100)
    options = parser.parse_args()
    application = QApplication([])
    graph = loop(options.ops)
    view = GraphView()
    view.resize(1600, 900)
    view.set_content(graph, None, bounds(graph).critical_recurrence)
    content = view.canvas.content
    assert content is not None
    sizes = view.canvas.sizes_for(content)
    print(f"{len(graph.ops)} ops, {len(graph.dependences)} dependences, {view.width()} x {view.height()} pixels")
    measure("first layout, both directions, with imports", lambda: layouts(graph, sizes), 1)
    measure("layout, both directions", lambda: layouts(graph, sizes), 20)
    view.show()
    while view.canvas.shapes is None:
        QTest.qWait(10)

    def zoom(factor: float) -> None:
        view.canvas.zoom(factor)
        application.processEvents()

    measure("frame: zoom, all in view", lambda: zoom(1 / 1.001), 30)
    for _ in range(8):
        view.canvas.zoom(1.25)
    measure("frame: zoom, names and labels readable", lambda: zoom(1.001), 30)
    view.shut_down()
    application.quit()


if __name__ == "__main__":
    main()
