"""What stands in the chart's place while there is no schedule."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from twill_gui.document.document import Document


class UnsolvedView(QWidget):
    """Says how large the loop is and what bounds it, and offers to solve it."""

    solve_requested = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._title, self._facts = QLabel(), QLabel()
        font = self._title.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        font.setBold(True)
        self._title.setFont(font)
        self._title.setText("No schedule yet")
        self.button = QPushButton("Solve (Ctrl+R)")
        self.button.clicked.connect(self.solve_requested)
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        layout.addStretch(1)
        for widget in (self._title, self._facts, self.button):
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(2)
        document.changed.connect(self._show)

    def set_busy(self, busy: bool) -> None:
        """A solve is running, or not any more."""
        self._title.setText("Solving\N{HORIZONTAL ELLIPSIS}" if busy else "No schedule yet")
        self.button.setEnabled(not busy)

    def _show(self) -> None:
        graph, bounds = self._document.graph, self._document.bounds
        if graph and bounds:
            self._facts.setText(
                f"{len(graph.ops)} operations, {len(graph.dependences)} dependences; no schedule can have an initiation"
                f" interval below {bounds.min_ii}."
            )
