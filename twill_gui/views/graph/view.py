"""The dependence graph as one widget: the canvas, its keys, and a line that says what limits II."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from core.explain.answer import Highlight
from core.graph.model import Dependence, Graph
from core.schedule.bounds import Recurrence
from core.schedule.model import Schedule
from twill_gui.palette import LIGHT, ViewPalette
from twill_gui.views.graph.canvas import GraphCanvas
from twill_gui.views.graph.content import GraphContent, make_content
from twill_gui.views.graph.describe import graph_sentence, recurrence_text
from twill_gui.views.graph.layout import Direction, GraphLayout, Sizes
from twill_gui.views.graph.layouter import Layouter
from twill_gui.views.graph.navigation import Way, first_op, neighbour
from twill_gui.views.timeline.axis import PAN_SHARE, ZOOM_STEP

Structure = tuple[tuple[str, ...], tuple[Dependence, ...], Sizes]
_K = Qt.Key
_WAYS = {_K.Key_Left: Way.LEFT, _K.Key_Right: Way.RIGHT, _K.Key_Up: Way.UP, _K.Key_Down: Way.DOWN}
_ACTIONS: Mapping[Qt.Key, Callable[[GraphView], None]] = {
    _K.Key_W: lambda view: view.canvas.zoom(ZOOM_STEP),
    _K.Key_S: lambda view: view.canvas.zoom(1 / ZOOM_STEP),
    _K.Key_A: lambda view: view.pan(-1, 0),
    _K.Key_D: lambda view: view.pan(1, 0),
    _K.Key_PageUp: lambda view: view.pan(0, -1),
    _K.Key_PageDown: lambda view: view.pan(0, 1),
    _K.Key_Home: lambda view: view.canvas.fit(),
    _K.Key_F: lambda view: view.canvas.center_selection(),
    _K.Key_Return: lambda view: view.activate(),
    _K.Key_Enter: lambda view: view.activate(),
    _K.Key_Escape: lambda view: view.selection_requested.emit(frozenset()),
}


class GraphView(QWidget):
    """Shows a graph with its critical recurrence, coloured by the warp groups of a schedule, and emits what the user
    asks for. The graph is laid out in the background, when the view is first seen.

    The chart's keys for zoom, pan, fit and centre mean the same here while the graph has the focus; the arrow keys go
    from op to op.
    """

    selection_requested = Signal(object)  # frozenset[str]
    op_activated = Signal(str)
    laid_out = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = GraphCanvas()
        self._palette = LIGHT
        self._content: GraphContent | None = None
        self._selection: frozenset[str] = frozenset()
        self._structure: Structure | None = None
        self._asked = False
        self._layouter = Layouter(self)
        self._caption = QLabel()
        self._caption.setContentsMargins(8, 2, 8, 2)
        self._caption.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.canvas, 1)
        layout.addWidget(self._caption)
        self.setFocusProxy(self.canvas)
        self.canvas.setAccessibleName("Dependence graph")
        self.canvas.installEventFilter(self)
        self.canvas.selection_requested.connect(self.selection_requested)
        self.canvas.op_activated.connect(self.op_activated)
        self.canvas.seen.connect(self._lay_out, Qt.ConnectionType.QueuedConnection)
        self._layouter.done.connect(self._show_layouts)
        self._describe()

    # What is shown

    @property
    def caption(self) -> str:
        """The line below the graph, without its marks."""
        return recurrence_text(self._content.recurrence) if self._content and self._content.recurrence else ""

    def set_content(self, graph: Graph, schedule: Schedule | None, recurrence: Recurrence | None) -> None:
        """Shows a graph with its critical recurrence, and a schedule that fits it or none."""
        self._content = make_content(graph, schedule, recurrence)
        self.canvas.set_content(self._content)
        structure = tuple(graph.ops), graph.dependences, self.canvas.sizes_for(self._content)
        if structure != self._structure:
            self._structure, self._asked = structure, False
            self._layouter.drop()
            self.canvas.set_layouts({})
        self._describe()

    def clear(self) -> None:
        """Shows nothing."""
        self._content = self._structure = None
        self._layouter.drop()
        self.canvas.set_layouts({})
        self.canvas.set_content(None)
        self._describe()

    def set_selection(self, ops: frozenset[str]) -> None:
        """The selected ops."""
        if ops != self._selection:
            self._selection = ops
            self.canvas.set_selection(ops)
            self._describe()

    def set_highlight(self, lit: Highlight) -> None:
        """What is pointed at elsewhere."""
        self.canvas.set_highlight(lit)

    def set_palette(self, palette: ViewPalette) -> None:
        """Light or dark colours."""
        self._palette = palette
        self.canvas.set_palette(palette)
        self._describe()

    def pan(self, right: int, down: int) -> None:
        """Shows what is a fifth of the view further right or down."""
        self.canvas.pan(right * PAN_SHARE * self.canvas.width(), down * PAN_SHARE * self.canvas.height())

    def activate(self) -> None:
        """Asks for the source line of the op that is selected alone."""
        if len(self._selection) == 1:
            self.op_activated.emit(next(iter(self._selection)))

    def shut_down(self) -> None:
        """Returns when nothing works in the background any more."""
        self._layouter.wait()

    # Events

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Takes the graph's keys before the window's shortcuts of the same name."""
        if watched is self.canvas and isinstance(event, QKeyEvent) and self._wants(event):
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self._on_key(Qt.Key(event.key()))
                return True
        return False

    # Inside

    @staticmethod
    def _wants(event: QKeyEvent) -> bool:
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
        return plain and (event.key() in _WAYS or event.key() in _ACTIONS)

    def _on_key(self, key: Qt.Key) -> None:
        if key in _ACTIONS:
            _ACTIONS[key](self)
            return
        shapes = self.canvas.shapes
        if shapes is None:
            return
        selected = [op for op in shapes.layout.boxes if op in self._selection]
        op = neighbour(shapes.layout, selected[-1], _WAYS[key]) if selected else first_op(shapes.layout)
        if op is not None:
            self.selection_requested.emit(frozenset({op}))

    def _lay_out(self) -> None:
        """Asks for the layout of the graph shown, once."""
        if self._content and self._structure and not self._asked:
            self._asked = True
            self._layouter.start(self._content.graph, self._structure[2])

    def _show_layouts(self, layouts: Mapping[Direction, GraphLayout]) -> None:
        self.canvas.set_layouts(layouts)
        self.canvas.set_selection(self._selection)
        self.laid_out.emit()

    def _describe(self) -> None:
        content, palette = self._content, self._palette
        self._caption.setVisible(content is not None)
        marks: list[str] = []
        if content and content.recurrence:
            marks.append(f'<b style="color: {palette.critical}">━</b> {escape(self.caption)}')
        if content and any(dependence.distance for dependence in content.graph.dependences):
            marks.append(f'<b style="color: {palette.carried_arrow}">─</b> loop-carried over δ iterations')
        self._caption.setText("&nbsp;&nbsp;&nbsp;".join(marks) or "no recurrence")
        self._caption.setToolTip(self.caption)
        self.canvas.setAccessibleDescription(graph_sentence(content, self._selection) if content else "No graph")
