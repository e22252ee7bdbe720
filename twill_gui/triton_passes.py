"""Triton's passes for the export dialog: on a pool thread, and stopped when nobody waits for them any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal, Slot

from twill_gui.document.state import ProjectState
from twill_gui.export_formats import Exported

if TYPE_CHECKING:
    from core.export.triton_override import Asked
    from core.ir.tiles import TileLoop
    from core.schedule.model import Schedule


class TritonPasses(QObject):
    """One run at a time: another one stops it, and only the last is told."""

    done = Signal(object)  # Exported, or the error

    _finished = Signal(object, object)  # crosses from the pool thread to the window's

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._wanted = threading.Event()  # of the last run: set once it is to stop
        self._finished.connect(self._on_finished, Qt.ConnectionType.QueuedConnection)

    def run(self, state: ProjectState) -> None:
        """Begins; `done` follows."""
        self.stop()
        stop = self._wanted = threading.Event()
        self._pool.start(lambda: self._finished.emit(stop, _outcome(state, stop.is_set)))

    def stop(self) -> None:
        """The process is killed in a moment, and nothing is told."""
        self._wanted.set()

    def shut_down(self) -> None:
        """Returns when no process runs any more."""
        self.stop()
        self._pool.waitForDone()

    @Slot(object, object)
    def _on_finished(self, stop: threading.Event, found: Exported | Exception) -> None:
        if stop is self._wanted and not stop.is_set():
            self.done.emit(found)


def passes_input(state: ProjectState) -> tuple[Asked, TileLoop, Schedule]:
    """What the passes are given, with the loop and schedule that it is made of. Raises ValueError."""
    from core.export.triton_override import asked_of_triton

    opened, schedule = state.variant.opened, state.variant.schedule
    if schedule is None:
        raise ValueError("there is no schedule to export")
    if opened.tiles is None:
        raise ValueError("this project is a dependence graph: Triton's passes need the TTGIR text that it is from")
    return asked_of_triton(opened.tiles, schedule, opened.fusion), opened.tiles, schedule


def _final_text(state: ProjectState, stopped: Callable[[], bool]) -> Exported:
    """The text that Triton's TTGIR stage would end with for the shown loop and schedule."""
    from core.export.triton_override import override_warnings
    from core.toolchain.triton import final_ttgir

    asked, tiles, schedule = passes_input(state)
    final = final_ttgir(asked.text, asked.capability, tiles.module.file, stopped)
    warnings = override_warnings(asked, final, tiles, state.variant.opened.graph, schedule)
    return Exported(final, tuple(warning.format() for warning in warnings), file_name=asked.file_name)


def _outcome(state: ProjectState, stopped: Callable[[], bool]) -> Exported | Exception:
    try:
        return _final_text(state, stopped)
    except Exception as fault:  # on a pool thread nobody else would learn of it
        return fault
