"""Measures the Graph dock: laying out, the first time and later, and a frame while zooming.

Run: python -m tests.bench.graph_layout [--ops 100]

100 ops with 203 dependences on 1600 x 900 pixels. Layouts are made on a pool thread, both directions at once.
"""

from __future__ import annotations

import argparse
import os
import random
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from core.graph.model import Dependence, Graph, GroupKind, Limits, Op, RegisterFile
from core.schedule.bounds import bounds
from tests.bench.figures import Figure, Watch, tell
from twill_gui.views.graph import GraphView
from twill_gui.views.graph.layouter import layouts

FRAME_MS, LAYOUT_S = 16.0, 0.3


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
    begin = time.perf_counter()
    layouts(graph, sizes)
    tell(Figure(f"graph of {options.ops} ops: first layout, with imports", time.perf_counter() - begin, "s", LAYOUT_S))
    watch = Watch()
    for _ in range(20):
        watch.run(lambda: layouts(graph, sizes))
    watch.tell(f"graph of {options.ops} ops: layout in both directions")
    view.show()
    while view.canvas.shapes is None:
        QTest.qWait(10)

    def frames(what: str, factor: float) -> None:
        watch = Watch()
        for number in range(30):
            step = factor if number % 2 else 1 / factor
            watch.run(lambda step=step: (view.canvas.zoom(step), application.processEvents()))
        watch.tell(what, FRAME_MS)

    frames("graph: frame of a zoom, everything in view", 1.001)
    for _ in range(8):
        view.canvas.zoom(1.25)
    frames("graph: frame of a zoom, names and labels readable", 1.001)
    view.shut_down()
    application.quit()


if __name__ == "__main__":
    main()
