"""What the Gantt chart shows: ruler, lane headers, canvas and scroll bars, for one judged schedule and a selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QScrollBar, QWidget

from core.explain.answer import Highlight
from core.graph.model import Graph
from core.schedule.expansion import Phase
from core.schedule.fit import misfits
from core.schedule.model import Schedule
from core.schedule.report import Report
from core.schedule.windows import windows
from core.schedule.wording import counted
from twill_gui.palette import ViewPalette
from twill_gui.views.gantt.canvas import Canvas
from twill_gui.views.gantt.content import Content, make_content
from twill_gui.views.gantt.describe import op_sentence
from twill_gui.views.gantt.ghost import ghost_bars, seen_bars
from twill_gui.views.gantt.headers import LaneHeaders
from twill_gui.views.gantt.layout import Bar, GanttMode, LaneKind
from twill_gui.views.gantt.selection import selected_bars, selected_ops, span_of
from twill_gui.views.timeline.axis import TimeAxis
from twill_gui.views.timeline.corner import Corner
from twill_gui.views.timeline.ruler import Ruler, RulerSection
from twill_gui.views.timeline.scrollbar import TimeScrollBar

if TYPE_CHECKING:
    from twill_gui.models.measured import SeenPlace

STEADY_ITERATIONS = 3
PHASE_NAMES = {Phase.PROLOGUE: "prologue", Phase.STEADY: "steady state", Phase.EPILOGUE: "epilogue"}


class ShownChart(QWidget):
    """Shows what it is given and emits what the user asks for with the mouse.

    `tried` carries the schedule that the drag in progress would make, None when it is over. `layout_changed`: other
    content, or folded and unrolled. Times are cycles.
    """

    move_requested = Signal(str, int, str)
    selection_requested = Signal(object)
    op_activated = Signal(str)
    range_selected = Signal(int, int)
    hovered = Signal(str)
    tried = Signal(object)
    layout_changed = Signal()
    why_asked = Signal(str, str)  # why the op cannot be on the group
    menu_requested = Signal(object)  # QPoint on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.axis = TimeAxis(self)
        self._shown: tuple[Graph, Schedule, Report] | None = None
        self._content: Content | None = None
        self._mode = GanttMode.FOLDED
        self._steady_iterations = STEADY_ITERATIONS
        self._selection: frozenset[str] = frozenset()
        self._other: Schedule | None = None
        self._seen: Mapping[str, SeenPlace] = {}
        self._headers = LaneHeaders()
        self._canvas = Canvas(self.axis)
        self._ruler = Ruler(self.axis)
        self._lanes_bar = QScrollBar(Qt.Orientation.Vertical)
        self._lanes_bar.setAccessibleName("Lanes")
        self._corner = Corner()
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._corner, 0, 0)
        layout.addWidget(self._ruler, 0, 1)
        layout.addWidget(self._headers, 1, 0)
        layout.addWidget(self._canvas, 1, 1)
        layout.addWidget(self._lanes_bar, 0, 2, 2, 1)
        layout.addWidget(TimeScrollBar(self.axis), 2, 0, 1, 3)
        layout.setColumnStretch(1, 1)
        layout.setRowStretch(1, 1)
        self._connect()
        self.setFocusProxy(self._canvas)
        self.setAccessibleName("Gantt chart")
        self._canvas.setAccessibleName("Operations over time")
        self._describe()

    def _connect(self) -> None:
        canvas = self._canvas
        for signal, forwarded in (
            (canvas.move_requested, self.move_requested),
            (canvas.selection_requested, self.selection_requested),
            (canvas.op_activated, self.op_activated),
            (canvas.range_selected, self.range_selected),
            (canvas.hovered, self.hovered),
            (canvas.tried, self.tried),
        ):
            signal.connect(forwarded)
        canvas.menu_requested.connect(self.menu_requested)
        self._headers.why_asked.connect(lambda group: self.why_asked.emit(self._selected()[0], group))
        canvas.scroll_requested.connect(lambda pixels: self._lanes_bar.setValue(self._lanes_bar.value() + pixels))
        self._lanes_bar.valueChanged.connect(canvas.set_scroll)
        self._lanes_bar.valueChanged.connect(self._headers.set_scroll)

    # What is shown

    @property
    def mode(self) -> GanttMode:
        """Folded or unrolled."""
        return self._mode

    @property
    def content(self) -> Content | None:
        """What is shown, with its layout."""
        return self._content

    @property
    def canvas(self) -> Canvas:
        """The surface beside the headers and under the ruler; linked views line up with it."""
        return self._canvas

    def set_content(self, graph: Graph, schedule: Schedule, report: Report) -> None:
        """Shows a schedule that fits its graph, and the judge's report on it."""
        self._shown = graph, schedule, report
        self._rebuild()

    def set_ghost(self, other: Schedule | None) -> None:
        """Outlines where another schedule of the same graph has its ops; None: no other."""
        self._other = other
        self._show_ghost()

    def set_seen(self, seen: Mapping[str, SeenPlace]) -> None:
        """Strips where ops of the schedule were seen in a measured run."""
        self._seen = seen
        self._show_ghost()

    def clear(self) -> None:
        """Shows nothing."""
        self._shown = None
        self._rebuild()

    def set_selection(self, ops: frozenset[str]) -> None:
        """The selected ops."""
        if ops != self._selection:
            self._selection = ops
            self._canvas.set_selection(ops)
            self._show_refusals()
            self._reveal_selection()
            self._describe()

    def set_highlight(self, lit: Highlight) -> None:
        """What is pointed at elsewhere."""
        self._canvas.set_highlight(lit)

    def set_mode(self, mode: GanttMode) -> None:
        """Folded or unrolled; the whole time is shown afterwards."""
        if mode is not self._mode:
            self._mode = mode
            self._rebuild()
            self.axis.fit()

    def set_steady_iterations(self, count: int) -> None:
        """Intervals of steady state in the unrolled view, at least one."""
        self._steady_iterations = max(count, 1)
        self._rebuild()

    def set_show_all_dependences(self, on: bool) -> None:
        """Arrows of all dependences, not only of the selection's."""
        self._canvas.set_show_all(on)

    def set_palette(self, palette: ViewPalette) -> None:
        """Light or dark colours."""
        for part in (self._canvas, self._headers, self._ruler, self._corner):
            part.set_palette(palette)

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_lanes_bar()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_lanes_bar()

    # Inside

    def _rebuild(self) -> None:
        content = make_content(*self._shown, self._mode, self._steady_iterations) if self._shown else None
        self._content = content
        self._canvas.set_content(content)
        self._headers.set_content(content, self._canvas.rows)
        self._show_refusals()
        self._show_ghost()
        if content is None:
            self._ruler.set_content(None, (), True)
            self._corner.set_text("")
        else:
            layout = content.layout
            sections = tuple(RulerSection(PHASE_NAMES[s.phase], s.start, s.end) for s in layout.sections)
            self._ruler.set_content(layout.ii, sections, layout.mode is GanttMode.FOLDED)
            self._corner.set_text(layout.mode.value)
            self.axis.set_content(layout.start, layout.end)
        self._fit_lanes_bar()
        self._describe()
        self.layout_changed.emit()

    def _show_ghost(self) -> None:
        content, other = self._content, self._other
        bars = []
        if content is not None and other is not None and not any(misfits(content.graph, other)):
            bars = ghost_bars(content.graph, content.schedule, other, content.layout, self._steady_iterations)
        self._canvas.set_ghost(bars)
        self._canvas.set_seen(seen_bars(self._seen, content.layout) if content is not None else [])

    def _fit_lanes_bar(self) -> None:
        rows, room = self._canvas.rows, self._canvas.height()
        self._lanes_bar.setPageStep(room)
        self._lanes_bar.setSingleStep(20)
        self._lanes_bar.setRange(0, max(rows.height - room, 0) if rows else 0)

    def _selected(self) -> list[str]:
        return selected_ops(self._content, self._selection)

    def _selected_bars(self) -> list[Bar]:
        return selected_bars(self._content, self._selection, self._canvas.focus_iteration)

    def _selected_span(self) -> tuple[int, int] | None:
        return span_of(self._selected_bars())

    def _reveal_selection(self) -> None:
        """Pans and scrolls if nothing of the selection can be seen."""
        span = self._selected_span()
        if span is None:
            return
        if span[1] < self.axis.start or span[0] > self.axis.end:
            self.axis.center((span[0] + span[1]) / 2)
        self._scroll_to_selection()

    def _scroll_to_selection(self) -> None:
        rows = self._canvas.rows
        bars = self._selected_bars()
        if rows is None or not bars:
            return
        boxes = [rows.lanes[bar.lane] for bar in bars]
        top, bottom = self._lanes_bar.value(), self._lanes_bar.value() + self._canvas.height()
        if not any(box.top < bottom and box.bottom > top for box in boxes):
            self._lanes_bar.setValue((boxes[0].top + boxes[0].bottom - self._canvas.height()) // 2)

    def _show_refusals(self) -> None:
        """Marks the groups that the op selected alone may not be on."""
        selected, content = self._selected(), self._content
        found = windows(content.graph, content.schedule, selected[0]) if content and len(selected) == 1 else {}
        self._headers.set_refusals({name: w.refusals[0].message for name, w in found.items() if w.refusals})

    def _describe(self) -> None:
        if self._content is None:
            text = "No schedule"
        elif self._selection:
            text = "; ".join(op_sentence(self._content, op) for op in self._selected())
        else:
            layout = self._content.layout
            groups = sum(lane.kind is LaneKind.GROUP for lane in layout.lanes)
            text = f"{counted(len(self._content.graph.ops), 'operation')} on {counted(groups, 'warp group')}"
            text += f", interval {counted(layout.ii, 'cycle')}"
        self._canvas.setAccessibleDescription(text)
