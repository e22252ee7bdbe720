"""Measures the IR text offscreen with a long text: how long the event loop is held up, and a frame while scrolling.

Run: python -m tests.bench.long_text [--megabytes 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from core.resources import data_folder
from twill_gui.views.code import CodeView
from twill_gui.views.ir_text.tokens import pieces


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=5.0)
    options = parser.parse_args()
    application = QApplication([])
    part = (data_folder("projects") / "attention_forward_hopper" / "input.ttgir").read_text()
    text = part * round(options.megabytes * 1e6 / len(part))
    view = CodeView("IR text", pieces)
    view.resize(1600, 900)
    view.show()
    application.processEvents()
    print(f"{len(text) / 1e6:.1f} MB, {text.count(chr(10))} lines, {view.width()} x {view.height()} pixels")

    begin, cpu_begin = time.perf_counter(), time.thread_time()
    gaps = [0.0]
    view.set_text(text)
    gaps.append(time.thread_time() - cpu_begin)
    while view.loading:
        step = time.thread_time()
        application.processEvents()
        gaps.append(time.thread_time() - step)
    print(
        f"taken in after {time.perf_counter() - begin:.2f} s ({time.thread_time() - cpu_begin:.2f} s CPU);"
        f" longest hold-up of the event loop {max(gaps) * 1000:.1f} ms CPU"
    )
    frames: list[float] = []
    for number in range(60):
        step = time.thread_time()
        view.verticalScrollBar().setValue(number * 700)
        application.processEvents()
        frames.append((time.thread_time() - step) * 1000)
    print(f"frame after a jump: median {statistics.median(frames):.1f} ms CPU, longest {max(frames):.1f} ms CPU")
    application.quit()


if __name__ == "__main__":
    main()
