"""What stands in the chart's place while there is no schedule: the loop's operations, and the button that solves."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from core.graph.model import Graph, Op, Space
from twill_gui.document.document import Document
from twill_gui.models.table import Column, TableModel
from twill_gui.views.tables import compact_table

_SPACES = {Space.REGISTERS: "reg./thread", Space.SHARED: "bytes shared", Space.TENSOR: "columns"}


def _result(op: Op) -> str:
    return "" if op.result.space is Space.NONE else f"{op.result.amount} {_SPACES[op.result.space]}"


_COLUMNS = (
    Column[Op]("Operation", lambda op: op.id),
    Column[Op]("Kind", lambda op: op.kind),
    Column[Op]("Line", lambda op: "" if op.line is None else str(op.line), numeric=True),
    Column[Op]("Issue", lambda op: str(op.issue_cycles), numeric=True, tip=lambda _: "cycles its warp group is busy"),
    Column[Op]("Latency", lambda op: str(op.latency), numeric=True, tip=lambda _: "cycles until its result is there"),
    Column[Op]("Result", _result, numeric=True),
    Column[Op]("Units", lambda op: ", ".join(f"{block.unit} {block.duration}" for block in op.blocks)),
)
_LINE = 2


class UnsolvedView(QWidget):
    """The operations in the order of the text; selecting some asks to select them everywhere."""

    solve_requested = Signal()
    selection_requested = Signal(object)  # frozenset[str]

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._graph: Graph | None = None
        self._title, self._facts = QLabel("No schedule yet"), QLabel()
        font = self._title.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        font.setBold(True)
        self._title.setFont(font)
        self._facts.setWordWrap(True)
        self.button = QPushButton("Solve (Ctrl+R)")
        self.button.setToolTip("Search the least initiation interval, with proof")
        self.button.setDefault(True)
        self.button.clicked.connect(self.solve_requested)
        self._model = TableModel[Op](_COLUMNS, self)
        self.table = compact_table(
            self._model, "Operations of the loop", "Selected rows are selected in the graph and the text as well"
        )
        self.table.selectionModel().selectionChanged.connect(self._on_table_selection)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        texts.addWidget(self._title)
        texts.addWidget(self._facts)
        top = QHBoxLayout()
        top.setContentsMargins(16, 12, 16, 12)
        top.addLayout(texts, 1)
        top.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.table, 1)
        document.changed.connect(self._show)

    def set_busy(self, busy: bool) -> None:
        """A solve is running, or not any more."""
        self._title.setText("Solving\N{HORIZONTAL ELLIPSIS}" if busy else "No schedule yet")
        self.button.setEnabled(not busy)

    def showEvent(self, event: QShowEvent) -> None:
        """Takes in what has changed behind the chart."""
        self._show()
        super().showEvent(event)

    def _show(self) -> None:
        graph, bounds = self._document.graph, self._document.bounds
        if self.isHidden() or graph is self._graph or graph is None or bounds is None:
            return
        self._graph = graph
        least = "any initiation interval" if bounds.lower_bound is None else f"II {bounds.lower_bound}"
        verb = "rules out" if bounds.lower_bound is None else "rules out everything below"
        self._facts.setText(
            f"{len(graph.ops)} operations, {len(graph.dependences)} dependences. Arithmetic alone {verb} {least}."
        )
        self._model.set_rows(tuple(graph.ops.values()))
        self.table.setColumnHidden(_LINE, all(op.line is None for op in graph.ops.values()))

    def _on_table_selection(self) -> None:
        rows = self.table.selectionModel().selectedRows()
        self.selection_requested.emit(frozenset(self._model.rows[index.row()].id for index in rows))
