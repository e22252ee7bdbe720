"""Lays graphs out on a pool thread, since the first one imports what the window does without."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal, Slot

from core.graph.model import Graph
from twill_gui.views.graph.layout import Direction, GraphLayout, Sizes, lay_out


class Layouter(QObject):
    """One graph at a time; of several asked for, only the last one is told."""

    done = Signal(object)  # dict[Direction, GraphLayout]
    _finished = Signal(int, object)  # crosses from the pool thread to the window's

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._asked = 0
        self._finished.connect(self._on_finished, Qt.ConnectionType.QueuedConnection)

    def start(self, graph: Graph, sizes: Sizes) -> None:
        """Lays a graph out in both directions; `done` follows."""
        self._asked += 1
        number = self._asked
        self._pool.start(lambda: self._finished.emit(number, layouts(graph, sizes)))

    def drop(self) -> None:
        """Nothing that was asked for is wanted any more."""
        self._asked += 1

    def wait(self) -> None:
        """Returns when no thread works any more."""
        self._pool.waitForDone()

    @Slot(int, object)
    def _on_finished(self, number: int, found: dict[Direction, GraphLayout]) -> None:
        if number == self._asked:
            self.done.emit(found)


def layouts(graph: Graph, sizes: Sizes) -> dict[Direction, GraphLayout]:
    """The graph laid out in both directions."""
    return {direction: lay_out(graph, sizes, direction) for direction in Direction}
