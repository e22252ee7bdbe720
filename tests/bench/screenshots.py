"""Makes the pictures of the guide, of the README and of the samples' cards, from the real window without a screen.

Run: python -m tests.bench.screenshots [--only NAME ...] [--thumbnails]. Look at every one of them afterwards.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from core.resources import data_folder
from tests.bench.small_png import write_small
from twill_gui.document import settings
from twill_gui.document.files import open_state
from twill_gui.export_formats import ExportFormat
from twill_gui.finding import open_palette
from twill_gui.main_window import MainWindow
from twill_gui.palette import DARK, LIGHT
from twill_gui.samples import sample_projects, thumbnails
from twill_gui.schedule_picture import SchedulePicture
from twill_gui.settings import Settings
from twill_gui.theme import Appearance, Theme
from twill_gui.views.cards import THUMBNAIL

SAMPLE = "attention_forward_hopper"
LEFT = Qt.MouseButton.LeftButton
SWEEP = "rings=1,2,3,4 latency.descriptor_load.0=600,1200"
PICTURE_ROW, KERNEL_ROW = (list(ExportFormat).index(one) for one in (ExportFormat.SVG, ExportFormat.CUDA))


class Studio:
    """A window on a copy of the sample, and the folder for its pictures."""

    def __init__(self, application: QApplication, out: Path, scratch: Path, size: tuple[int, int]) -> None:
        self.out = out
        self.scratch = scratch
        self.appearance = Appearance(application, Theme.LIGHT)
        self.window = MainWindow(self.appearance, Settings(scratch / "window.ini"), scratch / "recovery")
        self.window.resize(*size)
        self.window.dock_layout.reset()
        self.window.show()
        self.window.activateWindow()

    def open(self, sample: str = SAMPLE) -> None:
        """A copy of a sample as it comes."""
        project = self.scratch / sample
        if not project.exists():
            shutil.copytree(data_folder("projects") / sample, project)
        self.window.document.undo_stack.setClean()
        self.window.files.open(project, ask=False)
        self.window.document.select(frozenset())
        self.window.gantt.axis.set_cursor(None)
        self.window.dock_layout.reset()
        settle()

    def take(self, name: str, view: QWidget | None = None) -> None:
        """A picture of the window, or of one view."""
        settle()
        target = view or self.window
        write_small(target.grab().toImage(), self.out / f"{name}.png")

    def take_dock(self, title: str, size: tuple[int, int]) -> None:
        """A picture of a dock by itself, at a size where everything can be read."""
        [dock] = [dock for dock in self.window.dock_layout.docks if dock.windowTitle() == title]
        self.window.dock_layout.bring_forward(title)
        dock.setFloating(True)
        dock.resize(*size)
        settle()
        self.take(f"dock_{title.lower().replace(' ', '_')}", dock)
        dock.setFloating(False)
        settle()

    def bar(self, op: str) -> QPoint:
        """A point of the op's bar on its group's lane."""
        canvas = self.window.gantt.canvas
        for y in range(0, canvas.height(), 3):
            for x in range(0, canvas.width(), 2):
                found = canvas.bar_at(QPointF(x, y))
                if found is not None and found.op == op and found.block is None:
                    return QPoint(x + 4, y + 4)
        raise LookupError(op)

    def close(self) -> None:
        """Ends the window without asking."""
        self.window.document.undo_stack.setClean()
        self.window.close()


def settle(rounds: int = 20) -> None:
    """Until layouts and late paints are done."""
    for _ in range(rounds):
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        QTest.qWait(5)


def wait_until(done: Callable[[], bool], seconds: float = 120) -> None:
    """Runs the event loop until something is so. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError("a picture's job did not end")
        QTest.qWait(50)


# Scenes


def window(studio: Studio) -> None:
    studio.open()
    studio.take(SAMPLE)


def dark(studio: Studio) -> None:
    studio.open()
    studio.appearance.set_theme(Theme.DARK)
    studio.take("dark")
    studio.appearance.set_theme(Theme.LIGHT)


def unrolled(studio: Studio) -> None:
    studio.open()
    studio.window.actions_by_name["unrolled"].trigger()
    studio.take("unrolled", studio.window.gantt)
    studio.window.actions_by_name["unrolled"].trigger()


def selection(studio: Studio) -> None:
    studio.open()
    studio.window.document.select(frozenset({"exp2.0"}))
    studio.take("selection")


def drag(studio: Studio) -> None:
    """An op on its way to the other warp group, and the window after the drop."""
    studio.open()
    gantt = studio.window.gantt
    begin = studio.bar("exp2.0")
    below = begin + QPoint(-60, 42)
    QTest.mouseMove(gantt.canvas, begin)
    QTest.mousePress(gantt.canvas, LEFT, pos=begin)
    for step in range(1, 9):
        QTest.mouseMove(gantt.canvas, begin + (below - begin) * step / 8)
        settle(2)
    studio.take("drag")
    QTest.mouseRelease(gantt.canvas, LEFT, pos=below)
    studio.take("dropped")


def explanation(studio: Studio) -> None:
    studio.open()
    studio.window.explaining.ask_smaller_ii()
    wait_until(lambda: not studio.window.explaining.busy)
    studio.take("explanation")
    studio.take_dock("Explain", (480, 620))


def docks(studio: Studio) -> None:
    studio.open()
    window = studio.window
    window.document.select(frozenset({"exp2.0"}))
    studio.window.dock_layout.bring_forward("CUDA")
    wait_until(window.tool_docks.cuda.code.isVisible)
    for title, size in {
        "Project": (320, 560),
        "Inspector": (340, 640),
        "Jobs": (340, 420),
        "Liveness": (960, 330),
        "Reservation": (960, 260),
        "Graph": (960, 460),
        "IR text": (960, 420),
        "CUDA": (960, 420),
        "Settings": (360, 620),
        "Machine": (380, 560),
    }.items():
        studio.take_dock(title, size)


def problems(studio: Studio) -> None:
    studio.open()
    document = studio.window.document
    studio.window.log.clear()  # of the paths of this computer
    settings.set_machine_number(document, ("shared_memory", "bytes"), 120000)
    document.undo_stack.undo()
    document.undo_stack.redo()
    studio.take_dock("Problems", (420, 300))
    studio.take_dock("Log", (800, 260))


def compare(studio: Studio) -> None:
    studio.open()
    window = studio.window
    settings.keep_copy(window.document)
    window.document.select(frozenset({"reduce.0", "addf.1"}))
    for _ in range(3):
        window.actions_by_name["nudge_right_far"].trigger()
    window.document.select(frozenset())
    window.tool_docks.compare.choose("main_copy")
    studio.take_dock("Compare", (820, 300))
    studio.take("compare", window.gantt)
    window.tool_docks.compare.choose("nothing")


def measured(studio: Studio) -> None:
    studio.open()
    run = studio.scratch / SAMPLE / "runs" / "h200.json"
    if not studio.window.tool_docks.measuring.open(run):
        raise LookupError(run.name)
    studio.take_dock("Measured", (900, 420))
    studio.window.dock_layout.bring_forward("Measured")
    studio.take("measured")


def sweep(studio: Studio) -> None:
    studio.open("gemm_hopper")
    sweeping = studio.window.tool_docks.sweeping
    studio.window.tool_docks.sweep.field.setText(SWEEP)
    sweeping.run(SWEEP)
    wait_until(lambda: not sweeping.running, 900)
    studio.take_dock("Sweep", (1040, 420))


def welcome(studio: Studio) -> None:
    studio.window.document.undo_stack.setClean()
    studio.window.files.close()
    studio.take("welcome")


def dialogs(studio: Studio) -> None:
    from twill_gui.dialogs.export import ExportDialog

    studio.open()
    studio.window.exporting.open_dialog()
    [dialog] = [one for one in studio.window.findChildren(ExportDialog) if one.isVisible()]
    dialog.field.setText("input.main.ttgir")
    settle()
    studio.take("export", dialog)
    dialog.formats.setCurrentRow(PICTURE_ROW)
    dialog.field.setText("input.main.svg")
    settle()
    studio.take("export_picture", dialog)
    dialog.formats.setCurrentRow(KERNEL_ROW)
    dialog.field.setText("input.main.cuda")
    settle()
    studio.take("export_cuda", dialog)
    dialog.reject()
    chooser = open_palette(studio.window)
    settle()
    studio.take("palette", chooser)
    chooser.reject()


SCENES: dict[str, Callable[[Studio], None]] = {
    scene.__name__: scene
    for scene in (
        window,
        dark,
        unrolled,
        selection,
        drag,
        explanation,
        docks,
        problems,
        compare,
        measured,
        dialogs,
        welcome,
        sweep,
    )
}


def double(studio: Studio) -> None:
    """At two device pixels per pixel; runs in a process of its own."""
    studio.open()
    studio.take("double")


def make_thumbnails() -> None:
    """The chart of every sample in small, for both themes."""
    for content in sample_projects():
        state = open_state(content.path).state
        for palette, file in zip((LIGHT, DARK), thumbnails(content.path.name), strict=True):
            schedule = state.variant.schedule
            if schedule is None:
                print(f"{content.path.name}: no schedule to show")
                break
            view = SchedulePicture(state.variant.graph, schedule, palette=palette)
            canvas = view.gantt.canvas
            width, short = 2 * THUMBNAIL.width(), max(2 * THUMBNAIL.height() - canvas.height(), 0)
            view.resize(width + view.width() - canvas.width(), view.height() + short)
            settle()
            view.gantt.fit()
            settle()
            image = canvas.grab().toImage().copy(0, 0, width, 2 * THUMBNAIL.height())
            write_small(image, file)
            view.close()


def main() -> None:
    """Makes the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*SCENES, "double"])
    parser.add_argument("--thumbnails", action="store_true", help="make these alone")
    parser.add_argument("--out", type=Path, default=data_folder("resources") / "screenshots")
    options = parser.parse_args()
    if options.only == ["double"] and "QT_SCALE_FACTOR" not in os.environ:
        options.only, alone = [], True
    else:
        alone = options.only is None and not options.thumbnails
    application = QApplication(["twill-gui"])
    if options.thumbnails or options.only is None:
        make_thumbnails()
    if not options.thumbnails:
        names = [*SCENES] if options.only is None else options.only
        with tempfile.TemporaryDirectory() as folder:
            os.environ["HOME"] = folder  # recent files are shown below it
            size = (1280, 820) if names == ["double"] else (1600, 1000)
            studio = Studio(application, options.out, Path(folder), size)
            for name in names:
                (SCENES | {"double": double})[name](studio)
            studio.close()
    if alone:
        command = [sys.executable, "-m", "tests.bench.screenshots", "--only", "double", "--out", str(options.out)]
        subprocess.run(command, env={**os.environ, "QT_SCALE_FACTOR": "2"}, check=True)


if __name__ == "__main__":
    main()
