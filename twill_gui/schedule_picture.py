"""A schedule as one picture for a report: the whole chart, and under it registers and memory over the same time.

Run: python -m twill_gui.schedule_picture GRAPH SCHEDULE OUT.svg [--unrolled]. This is what `twill export` starts for
pictures, since the library itself has no Qt.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEventLoop, Qt
from PySide6.QtWidgets import QApplication, QScrollBar, QVBoxLayout, QWidget

from core.graph.model import Graph
from core.graph.read import load_graph
from core.schedule.check import check
from core.schedule.model import Schedule
from core.schedule.read import load_schedule
from twill_gui.image_export import save_picture
from twill_gui.palette import LIGHT, ViewPalette
from twill_gui.theme import Appearance, Theme
from twill_gui.views.gantt import GanttMode, GanttView
from twill_gui.views.liveness import LivenessView

WIDTH = 1400
_ROW = 84  # height of a curve
_ROUNDS = 5  # of the event loop until layouts have settled


class SchedulePicture(QWidget):
    """Chart and curves, as high as they need; not shown on a screen."""

    def __init__(
        self, graph: Graph, schedule: Schedule, mode: GanttMode = GanttMode.FOLDED, palette: ViewPalette = LIGHT
    ) -> None:
        super().__init__()
        self.setAccessibleName(graph.name)
        self.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        self.gantt, self.liveness = GanttView(), LivenessView()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.gantt, 1)
        layout.addWidget(self.liveness)
        for view in (self.gantt, self.liveness):
            view.set_palette(palette)
        self.gantt.set_mode(mode)
        self.gantt.set_content(graph, schedule, check(graph, schedule))
        self.liveness.link_to(self.gantt)
        self.liveness.set_content(graph, schedule)
        for bar in self.gantt.findChildren(QScrollBar):
            bar.hide()
        self.liveness.setFixedHeight(max(len(self.liveness.curves), 1) * _ROW)
        self.resize(WIDTH, WIDTH)
        self.show()
        _settle()
        rows = self.gantt.canvas.rows
        above = self.gantt.height() - self.gantt.canvas.height()
        self.resize(WIDTH, above + (rows.height if rows else 0) + self.liveness.height())
        _settle()
        self.gantt.fit()
        _settle()


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the picture; exit code 0, or 2 if it cannot be written."""
    parser = argparse.ArgumentParser(description="A schedule as a picture: .svg, .png or .pdf.")
    parser.add_argument("graph", type=Path)
    parser.add_argument("schedule", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--unrolled", action="store_true")
    options = parser.parse_args(argv)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    application = QApplication(["twill-gui"])
    Appearance(application, Theme.LIGHT)
    graph = load_graph(options.graph)
    mode = GanttMode.UNROLLED if options.unrolled else GanttMode.FOLDED
    view = SchedulePicture(graph, load_schedule(options.schedule, graph), mode)
    try:
        save_picture(view, options.output)
    except OSError as fault:
        print(f"{options.output}: {fault.strerror or fault}", file=sys.stderr)
        return 2
    finally:
        view.close()
    return 0


def _settle() -> None:
    for _ in range(_ROUNDS):
        QApplication.sendPostedEvents()
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)


if __name__ == "__main__":
    sys.exit(main())
