"""Writes CUDA text on a pool thread, a moment after the schedule has come to rest."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QThreadPool, QTimer, Signal, Slot

from twill_gui.document.state import ProjectState
from twill_gui.models.cuda_lines import cuda_lines

REST_MS = 250  # a drag moves the schedule many times a second


class CudaWriter(QObject):
    """Of several asked for, only the last one is told."""

    done = Signal(object)  # CudaLines
    _finished = Signal(int, object)  # crosses from the pool thread to the window's

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._asked = 0
        self._wanted: ProjectState | None = None
        self._rest = QTimer(self, interval=REST_MS, singleShot=True)
        self._rest.timeout.connect(self._start)
        self._finished.connect(self._on_finished, Qt.ConnectionType.QueuedConnection)

    def write(self, state: ProjectState) -> None:
        """Asks for the text of the kernel; `done` follows."""
        self._asked += 1
        self._wanted = state
        self._rest.start()

    def drop(self) -> None:
        """Nothing that was asked for is wanted any more."""
        self._asked += 1
        self._wanted = None
        self._rest.stop()

    def shut_down(self) -> None:
        """Returns when no thread works any more."""
        self.drop()
        self._pool.waitForDone()

    def _start(self) -> None:
        if self._wanted is None:
            return
        number, state = self._asked, self._wanted
        self._pool.start(lambda: self._finished.emit(number, cuda_lines(state)))

    @Slot(int, object)
    def _on_finished(self, number: int, lines: object) -> None:
        if number == self._asked:
            self.done.emit(lines)
