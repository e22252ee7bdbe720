"""`twill-gui`: the window on a project, a TTGIR file or a graph, or a picture of it without a screen.

Qt is imported inside the functions: the solver process imports this module too, since spawn runs the main module again.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from twill_gui.theme import Theme

FIRST_SIZE = (1600, 1000)
EXIT_OK, EXIT_NOT_WRITTEN, EXIT_BAD_INPUT, EXIT_INTERNAL = 0, 2, 3, 70


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the window. Exit codes of a picture: 0, 2 if it cannot be written, 3 for a bad input, 70 for an internal
    error."""
    options = _parser().parse_args(argv)
    gc.disable()  # until the window stands: hardly anything is thrown away before
    try:
        return _show(options)
    finally:
        gc.enable()


def _show(options: argparse.Namespace) -> int:
    if options.scale is not None:
        os.environ["QT_SCALE_FACTOR"] = str(options.scale)
    if options.screenshot and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

    from PySide6.QtWidgets import QApplication

    from twill_gui.icons import application_icon

    app = QApplication.instance() or QApplication(["twill-gui"])
    assert isinstance(app, QApplication)
    app.setApplicationDisplayName("Twill Explorer")
    app.setDesktopFileName("twill-explorer")
    app.setWindowIcon(application_icon())
    return _take_picture(app, options) if options.screenshot else _run(app, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="twill-gui", description="Schedule explorer for tensor-core kernels.")
    parser.add_argument(
        "input", nargs="?", type=Path, metavar="PROJECT|TTGIR|GRAPH", help="file to open, or a project's folder"
    )
    parser.add_argument("--screenshot", type=Path, metavar="OUT.png", help="write a picture of the window and exit")
    parser.add_argument("--theme", choices=("system", "light", "dark"), help="override the chosen theme for this run")
    parser.add_argument("--dark", dest="theme", action="store_const", const="dark", help="the same as --theme dark")
    parser.add_argument("--scale", type=float, metavar="FACTOR", help="device pixels per pixel, e.g. 2")
    parser.add_argument("--size", type=_size, default=FIRST_SIZE, metavar="WxH", help="of the picture")
    return parser


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise argparse.ArgumentTypeError(f"'{text}' is not WIDTHxHEIGHT")
    return int(width), int(height)


def _run(app: QApplication, options: argparse.Namespace) -> int:
    from PySide6.QtCore import QSize

    from twill_gui.crash import CrashReports
    from twill_gui.main_window import MainWindow
    from twill_gui.settings import Settings, recovery_folder
    from twill_gui.theme import Appearance

    settings = Settings()
    appearance = Appearance(app, _theme(options) or settings.theme)
    window = MainWindow(appearance, settings, recovery_folder())
    CrashReports(window)
    available = window.screen().availableSize()
    window.resize(QSize(*FIRST_SIZE).boundedTo(available))
    window.dock_layout.reset()
    window.dock_layout.restore(settings)
    window.show()
    window.files.offer_recovery()
    if options.input:
        window.files.open(options.input)
    end_of_start()
    return app.exec()


def end_of_start() -> None:
    """Lets the garbage collector work from here on, without the modules and widgets that live as long as the window:
    to look through all of them again and again would hold the event loop up."""
    gc.freeze()
    gc.enable()


def _take_picture(app: QApplication, options: argparse.Namespace) -> int:
    """The real window in its first layout, drawn until nothing is pending any more. The user's settings, recent files
    and recovery folder stay untouched."""
    from PySide6.QtCore import qInstallMessageHandler

    from twill_gui.crash import CrashReports
    from twill_gui.main_window import MainWindow
    from twill_gui.settings import Settings
    from twill_gui.theme import Appearance, Theme

    qInstallMessageHandler(_print_qt_message)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        appearance = Appearance(app, _theme(options) or Theme.LIGHT)
        window = MainWindow(appearance, Settings(folder / "window.ini"), folder)
        crashes = CrashReports(window)
        window.resize(*options.size)
        window.dock_layout.reset()
        window.show()
        opened = options.input is None or window.files.open(options.input, ask=False)
        for _ in range(_SETTLING_ROUNDS):
            app.sendPostedEvents()
            app.processEvents()
        written = window.grab().save(str(options.screenshot))
        window.close()
    if not opened:
        for problem in window.problems.problems:
            print(f"{problem.place}: {problem.severity.value}: {problem.text}", file=sys.stderr)
        return EXIT_BAD_INPUT
    if not written:
        print(f"{options.screenshot}: cannot write the picture", file=sys.stderr)
        return EXIT_NOT_WRITTEN
    return EXIT_INTERNAL if crashes.count else EXIT_OK


def _print_qt_message(_kind: object, _context: object, message: str) -> None:
    if "propagateSizeHints" not in message:  # the offscreen platform says this of every window
        print(message, file=sys.stderr)


_SETTLING_ROUNDS = 20  # layout, dock sizes and deferred paints follow one another over a few turns of the event loop


def _theme(options: argparse.Namespace) -> Theme | None:
    from twill_gui.theme import Theme

    return Theme(options.theme) if options.theme else None


if __name__ == "__main__":
    sys.exit(main())
