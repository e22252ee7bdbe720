"""Measures the IR text with a long text: how long the event loop is held up, and a frame while scrolling.

Run: python -m tests.bench.long_text [--megabytes 5]
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from core.resources import data_folder
from tests.bench.figures import Watch
from twill_gui.views.code import CodeView
from twill_gui.views.ir_text.tokens import pieces

GAP_MS = 50.0


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
    turns, frames = Watch(), Watch()
    turns.run(lambda: view.set_text(text))
    while view.loading:
        turns.run(application.processEvents)
    turns.tell(f"IR text of {len(text) / 1e6:.0f} MB: longest turn of the event loop while it is taken in", GAP_MS, max)
    for number in range(60):
        frames.run(lambda number=number: (view.verticalScrollBar().setValue(number * 700), application.processEvents()))
    frames.tell("IR text: frame after a jump to lines not seen before")
    application.quit()


if __name__ == "__main__":
    main()
