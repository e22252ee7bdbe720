"""The Inspector dock: the selected op, or the schedule while nothing is selected."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from twill_gui.document.document import Document
from twill_gui.models.asking import Asked
from twill_gui.models.inspection import graph_sections, op_sections, schedule_sections, selection_sections
from twill_gui.models.sections import Section
from twill_gui.theme import Colors
from twill_gui.views.details import DetailTree


class InspectorView(QWidget):
    """A tree of facts; activating another op's name asks to select that op, a group that is not possible why."""

    selection_requested = Signal(object)  # frozenset[str]
    asked = Signal(object)  # Asked: why this is not possible

    def __init__(self, document: Document, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.tree = DetailTree("Inspector", colors)
        self.tree.activated_target.connect(self._follow)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.tree)
        document.changed.connect(self._show)
        document.selection_changed.connect(self._show)

    def _follow(self, target: object) -> None:
        if isinstance(target, Asked):
            self.asked.emit(target)
        else:
            self.selection_requested.emit(frozenset({target}))

    def _show(self) -> None:
        self.tree.set_sections(self._sections())

    def _sections(self) -> list[Section]:
        document = self._document
        graph, schedule, report, bounds = document.graph, document.schedule, document.report, document.bounds
        selection = document.selection
        if graph is None or bounds is None:
            return []
        if len(selection) == 1 and document.state:
            return op_sections(document.state.variant.opened, schedule, report, next(iter(selection)))
        if selection:
            return selection_sections(graph, schedule, selection)
        if schedule and report:
            return schedule_sections(graph, schedule, report, bounds)
        return graph_sections(graph, bounds)
