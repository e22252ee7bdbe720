"""The painted surface of the chart: what is shown, in layers. What holds still is kept as a picture."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from core.explain.answer import NOTHING, Highlight
from core.graph.model import Dependence
from twill_gui.palette import LIGHT, ViewPalette
from twill_gui.views.gantt.arrows import Arrow, DrawnArrow, paint_arrows, route
from twill_gui.views.gantt.background import paint_background
from twill_gui.views.gantt.bar_painter import BarPainter, paint_tails
from twill_gui.views.gantt.bar_table import BarTable, TailTable
from twill_gui.views.gantt.content import Content
from twill_gui.views.gantt.frame import Frame
from twill_gui.views.gantt.gestures import Gesture, Hold, Range
from twill_gui.views.gantt.ghost import paint_ghost, paint_seen
from twill_gui.views.gantt.layout import Bar, GanttMode
from twill_gui.views.gantt.move_painter import paint_move
from twill_gui.views.gantt.overlay import paint_cursor, paint_lanes, paint_outlines, paint_range
from twill_gui.views.gantt.rows import Metrics, Rows
from twill_gui.views.timeline.axis import TimeAxis
from twill_gui.views.timeline.painting import StillPicture, paints_shapes
from twill_gui.views.timeline.text import TextCutter, small_font

NOTHING_TO_SHOW = "No schedule yet"


class Surface(QWidget):
    """Paints the content at the axis' range and a scroll position, with selection, hover and gestures over it."""

    def __init__(self, axis: TimeAxis, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.axis = axis
        self._content: Content | None = None
        self._rows: Rows | None = None
        self._table: BarTable | None = None
        self._tails: TailTable | None = None
        self._heights: dict[str, tuple[float, float]] = {}
        self._selection: frozenset[str] = frozenset()
        self._focus_iteration = 0
        self._hovered = ""
        self._lit = NOTHING
        self._drawn: list[DrawnArrow] = []
        self._range: tuple[int, int] | None = None
        self._gesture: Gesture | None = None
        self._show_all = False
        self._ghost: list[Bar] = []
        self._seen: list[Bar] = []
        self._scroll = 0
        self._palette = LIGHT
        self._cutters: tuple[TextCutter, TextCutter] | None = None
        self._still = StillPicture()
        axis.changed.connect(self.repaint_all)
        axis.cursor_changed.connect(self.update)

    @property
    def rows(self) -> Rows | None:
        """Where the lanes are; None without content."""
        return self._rows

    @property
    def focus_iteration(self) -> int:
        """The iteration whose dependences are drawn in the unrolled view: that of the bar pressed last."""
        return self._focus_iteration

    def set_content(self, content: Content | None) -> None:
        """What to show; drops the gesture in progress, keeps selection and scroll position."""
        self._content = content
        self._gesture, self._range = None, None
        if content is None:
            self._rows = self._table = self._tails = None
        else:
            self._rows = Rows(content.layout, Metrics(self.fontMetrics().height()))
            self._table = BarTable(content.layout, self._rows)
            self._tails = TailTable(content.layout, self._rows)
            self._heights = _arrow_heights(content, self._rows)
            last = content.layout.iterations - 1
            self._focus_iteration = min(self._focus_iteration, last) or last // 2
        self.repaint_all()

    def set_selection(self, ops: frozenset[str]) -> None:
        """The ops to outline, with their dependences."""
        self._selection = ops
        self.update()

    def set_highlight(self, lit: Highlight) -> None:
        """What is pointed at elsewhere: its ops, dependences and lanes stand out."""
        self._lit = lit
        self.update()

    def set_show_all(self, on: bool) -> None:
        """Whether all dependences are drawn, not only those of the selection."""
        self._show_all = on
        self.update()

    def set_ghost(self, bars: list[Bar]) -> None:
        """Where another schedule has its ops, on the lanes of the content."""
        self._ghost = bars
        self.repaint_all()

    def set_seen(self, bars: list[Bar]) -> None:
        """When the ops were seen in a measured run, on the lanes and rows of their bars."""
        if bars or self._seen:
            self._seen = bars
            self.repaint_all()

    def set_scroll(self, scroll: int) -> None:
        """Pixels by which the lanes are scrolled up."""
        if scroll != self._scroll:
            self._scroll = scroll
            self.repaint_all()

    def set_palette(self, palette: ViewPalette) -> None:
        """Light or dark colours."""
        self._palette = palette
        self.repaint_all()

    def repaint_all(self) -> None:
        """Forgets the picture of what holds still."""
        self._still.outdate()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._still.outdate()
        self.axis.set_width(self.width())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._cutters = None
            self.repaint_all()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            if self._content is None:
                self._paint_nothing(painter)
            else:
                self._paint_content(painter, self._frame(self._content))

    def _paint_nothing(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), QColor(self._palette.window))
        painter.setPen(QColor(self._palette.muted_text))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, NOTHING_TO_SHOW)

    def _paint_content(self, painter: QPainter, frame: Frame) -> None:
        if paints_shapes(painter):
            painter.setClipRect(self.rect())
            self._paint_still(painter, frame)
        else:
            still = self._still.get(self.size(), frame.ratio, lambda pixels: self._paint_still(pixels, frame))
            painter.drawPixmap(0, 0, still)
        self._paint_overlay(painter, frame)

    def _frame(self, content: Content) -> Frame:
        assert self._rows is not None
        if self._cutters is None:
            self._cutters = TextCutter(self.font()), TextCutter(small_font(self.font()))
        return Frame(
            content.layout,
            self._rows,
            self.axis,
            self._scroll,
            self.width(),
            self.height(),
            self._palette,
            *self._cutters,
            self.devicePixelRatioF(),
        )

    def _paint_still(self, painter: QPainter, frame: Frame) -> None:
        assert self._content is not None and self._table is not None and self._tails is not None
        paint_background(painter, frame)
        paint_tails(painter, frame, self._tails)
        BarPainter(frame, self._table, self._content.violating, self._content.graph.pins.keys()).paint(painter)
        paint_ghost(painter, frame, self._ghost)
        paint_seen(painter, frame, self._seen)

    def _paint_overlay(self, painter: QPainter, frame: Frame) -> None:
        assert self._content is not None and self._table is not None
        heights = {op: (out - self._scroll, into - self._scroll) for op, (out, into) in self._heights.items()}
        hold = self._gesture if isinstance(self._gesture, Hold) and self._gesture.shown else None
        if self._hovered and not hold:
            paint_outlines(painter, frame, self._table, (self._hovered,), self._palette.hover, 1)
        paint_outlines(painter, frame, self._table, self._selection, self._palette.selection, 2)
        if self._lit != NOTHING and not hold:
            self._paint_lit(painter, frame, self._table, heights)
        self._drawn = []
        if hold:
            paint_move(painter, frame, self._table, hold, heights)
        elif self._show_all:
            self._drawn = paint_arrows(painter, frame, self._arrows(self._content.graph.dependences), heights)
        elif self._selection:
            shown = self._content.dependences_of(self._selection)
            self._drawn = paint_arrows(painter, frame, self._arrows(shown), heights)
        span = self._gesture.span if isinstance(self._gesture, Range) else self._range
        if span is not None:
            paint_range(painter, frame, *span)
        if not hold:
            paint_cursor(painter, frame)

    def _paint_lit(
        self, painter: QPainter, frame: Frame, table: BarTable, heights: dict[str, tuple[float, float]]
    ) -> None:
        paint_lanes(painter, frame, (*self._lit.units, *self._lit.groups))
        ops = heights.keys() & set(self._lit.ops)
        paint_outlines(painter, frame, table, ops, self._palette.critical, 2)
        known = tuple(d for d in self._lit.dependences if {d.source, d.target} <= heights.keys())
        paint_arrows(painter, frame, self._arrows(known), heights)

    def _arrows(self, dependences: tuple[Dependence, ...]) -> Iterator[Arrow]:
        """The arrows into and out of the iteration in focus, broken ones as such."""
        assert self._content is not None
        content = self._content
        unrolled = content.layout.mode is GanttMode.UNROLLED
        for dependence in dependences:
            outgoing = dependence.source in self._selection
            reader = self._focus_iteration + (dependence.distance if outgoing else 0)
            if unrolled and not dependence.distance <= reader < content.layout.iterations:
                continue
            yield route(content.layout, content.schedule, content.wait(dependence), reader)


def _arrow_heights(content: Content, rows: Rows) -> dict[str, tuple[float, float]]:
    """By op, where arrows leave (at its tail) and where they arrive (in the middle of its bar)."""
    into = {
        bar.op: rows.bar_top(bar) + rows.lanes[bar.lane].bar / 2 for bar in content.layout.bars if bar.block is None
    }
    out = into | {tail.op: rows.tail_top(tail) + 1.5 for tail in content.layout.tails}
    return {op: (out[op], into[op]) for op in into}
