"""What the views under the chart share: its time axis, pixel for pixel, with headers at the left and rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QToolTip, QWidget

from core.explain.answer import NOTHING, Highlight
from core.graph.model import Graph
from core.schedule.model import Schedule
from twill_gui.palette import LIGHT, ViewPalette
from twill_gui.views.gantt.layout import GanttMode
from twill_gui.views.gantt.view import GanttView
from twill_gui.views.timeline.axis import TimeAxis
from twill_gui.views.timeline.boxes import FRAME, Numbers, draw_boxes
from twill_gui.views.timeline.ground import paint_ground
from twill_gui.views.timeline.painting import StillPicture, paints_shapes
from twill_gui.views.timeline.row_header import HEADER_WIDTH, HeaderStyle, RowHeader, paint_row_header
from twill_gui.views.timeline.span import TimeScale, TimeSpan
from twill_gui.views.timeline.text import TextCutter, title_font
from twill_gui.views.timeline.wheel import wheel


@dataclass(frozen=True, slots=True)
class BuiltRow:
    """The header of a row, and whether the row looks other than the one of this number did before."""

    header: RowHeader
    changed: bool


class LinkedPlot(QWidget):
    """Rows over time. Linked to a chart it shows what the chart shows, also while an op is dragged there, and lines
    up with it wherever the two overlap on the screen; alone it shows one interval.

    A drag is followed once the chart has painted it, and only the rows that it changes are painted anew.

    Subclasses give the rows: `build_rows`, `paint_row`, `op_at` and `describe_at`.
    """

    selection_requested = Signal(object)
    hovered = Signal(str)  # the op under the mouse, "" for none

    def __init__(self, name: str, least_row: int, most_row: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setAccessibleName(name)
        self.setMinimumHeight(least_row)
        self.view_palette = LIGHT
        self.selection: frozenset[str] = frozenset()
        self._lit = NOTHING
        self._hovered = ""
        self._name = name
        self._least_row, self._most_row = least_row, most_row
        self._gantt: GanttView | None = None
        self._axis = TimeAxis(self)
        self._shown: tuple[Graph, Schedule] | None = None
        self._tried: Schedule | None = None
        self._span = TimeSpan(0, 1)
        self._headers: Sequence[RowHeader] = ()
        self._still = StillPicture()
        self._stale_rows: set[int] = set()  # their headers too
        self._stale_plots: set[int] = set()
        self._painted_between = (0.0, 0.0)
        self._cursor_x: int | None = None
        self._follow_timer = QTimer(self, interval=0, singleShot=True)
        self._follow_timer.timeout.connect(self._rebuild)
        self._fonts = TextCutter(title_font(self.font())), TextCutter(self.font())
        self._scroll_bar = QScrollBar(Qt.Orientation.Vertical, self)
        self._scroll_bar.setAccessibleName(f"Rows of {name}")
        self._scroll_bar.valueChanged.connect(self.repaint_all)
        self._follow(self._axis)

    # For subclasses, each of which gives all of these; Qt's metaclass leaves no room for ABCMeta to demand it

    def build_rows(self, graph: Graph, schedule: Schedule, span: TimeSpan) -> Sequence[BuiltRow]:
        """Takes what is to be shown; returns the rows."""
        raise NotImplementedError

    def clear_rows(self) -> None:
        """Forgets all rows."""
        raise NotImplementedError

    def paint_row(self, painter: QPainter, row: int, box: QRectF, scale: TimeScale) -> None:
        """Paints a row into its box, which ends at the plot's edges."""
        raise NotImplementedError

    def lit_boxes(self, row: int, box: QRectF, scale: TimeScale, ops: frozenset[str]) -> Numbers:
        """Where some ops are on a row, to be framed while they are pointed at elsewhere."""
        raise NotImplementedError

    def op_at(self, row: int, box: QRectF, time: float, y: float) -> str | None:
        """The op shown at a point of a row."""
        raise NotImplementedError

    def describe_at(self, row: int, time: float, under: str | None) -> str:
        """A tooltip (HTML) for a time of a row; `under` is the op at the very point."""
        raise NotImplementedError

    # What is shown

    def link_to(self, gantt: GanttView) -> None:
        """Shares the time axis of a chart, its mode and its drags."""
        self._gantt = gantt
        self._axis.changed.disconnect(self._repaint_plots)
        self._axis.cursor_changed.disconnect(self._move_cursor)
        self._axis = gantt.axis
        self._follow(self._axis)
        gantt.layout_changed.connect(self._follow_layout)
        gantt.tried.connect(self._try)
        self._rebuild()

    def set_content(self, graph: Graph, schedule: Schedule) -> None:
        """Shows a schedule that fits its graph."""
        self._shown, self._tried = (graph, schedule), None
        self._rebuild()

    def clear(self) -> None:
        """Shows nothing."""
        self._shown = self._tried = None
        self._rebuild()

    def set_selection(self, ops: frozenset[str]) -> None:
        """The selected ops."""
        self.selection = ops
        self.repaint_all()

    def set_highlight(self, lit: Highlight) -> None:
        """What is pointed at elsewhere: its ops and rows stand out."""
        self._lit = lit
        self.update()

    def set_palette(self, palette: ViewPalette) -> None:
        """Light or dark colours."""
        self.view_palette = palette
        self.repaint_all()

    def repaint_all(self) -> None:
        """Paints everything anew."""
        self._still.outdate()
        self.update()

    def time_scale(self) -> TimeScale:
        """Where the plot is and which time it shows: under the chart's canvas if the two overlap by more than half
        on the screen, else the same range of time between header and scroll bar."""
        axis, bar = self._axis, self._scroll_bar.sizeHint().width()
        room = self.width() - HEADER_WIDTH - bar
        if self._gantt is not None and self._gantt.window() is self.window():
            canvas = self._gantt.canvas
            left = canvas.mapTo(self.window(), QPoint()).x() - self.mapTo(self.window(), QPoint()).x()
            right = min(left + canvas.width(), self.width() - bar)
            if left >= HEADER_WIDTH // 2 and right - left > canvas.width() / 2:
                return TimeScale(left, right, axis.start, axis.scale)
        return TimeScale(HEADER_WIDTH, self.width() - bar, axis.start, max(room, 1) / (axis.end - axis.start))

    def row_box(self, row: int, scale: TimeScale) -> QRectF:
        """The box of a row between the plot's edges."""
        height = self._row_height()
        return QRectF(scale.left, row * height - self._scroll_bar.value(), scale.right - scale.left, height)

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self._scroll_bar.sizeHint().width()
        self._scroll_bar.setGeometry(self.width() - width, 0, width, self.height())
        if self._gantt is None:
            self._axis.set_width(self.width() - HEADER_WIDTH - width)
        self._fit_scroll_bar()
        self.repaint_all()

    def wheelEvent(self, event: QWheelEvent) -> None:
        pixels = wheel(self._axis, self.time_scale().time(event.position().x()), event)
        self._scroll_bar.setValue(self._scroll_bar.value() + pixels)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._axis.set_cursor(self.time_scale().time(event.position().x()))
        self._hover(self._op_under(event.position()) or "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self._headers:
            return
        op = self._op_under(event.position())
        toggle = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if op is not None:
            self.selection_requested.emit(self.selection ^ {op} if toggle else frozenset({op}))
        elif not toggle:
            self.selection_requested.emit(frozenset())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._axis.set_cursor(None)
        self._hover("")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fonts = TextCutter(title_font(self.font())), TextCutter(self.font())
            self.repaint_all()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tooltip(event.pos()), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        scale = self.time_scale()
        with QPainter(self) as painter:
            if paints_shapes(painter):
                self._paint_still(painter, scale)
            else:
                self._mend(scale)
                ratio = self.devicePixelRatioF()
                painter.drawPixmap(0, 0, self._still.get(self.size(), ratio, lambda p: self._paint_still(p, scale)))
            if self._lit != NOTHING:
                self._paint_lit(painter, scale)
            self._cursor_x = self._x_of_cursor(scale)
            if self._cursor_x is not None and self._headers:
                painter.setPen(QPen(QColor(self.view_palette.cursor), 1))
                painter.drawLine(QLineF(self._cursor_x, 0, self._cursor_x, self.height()))

    # Inside

    def _follow(self, axis: TimeAxis) -> None:
        axis.changed.connect(self._repaint_plots)
        axis.cursor_changed.connect(self._move_cursor)

    def _follow_layout(self) -> None:
        """Another mode or other content; in the latter case this view is given it too, and waits for it."""
        if self._chart_span() is not None:
            self._rebuild()

    def _try(self, schedule: Schedule | None) -> None:
        """In the next turn of the event loop: the chart's own feedback comes first, and of several places that an op
        is dragged over in one turn only the last is shown."""
        self._tried = schedule
        self._follow_timer.start()

    def _rebuild(self) -> None:
        self._follow_timer.stop()
        span, headers = self._span, self._headers
        rows: Sequence[BuiltRow] = ()
        if self._shown is None:
            self.clear_rows()
        else:
            graph, schedule = self._shown
            self._span = self._chart_span() or TimeSpan(0, schedule.ii)
            if self._gantt is None:
                self._axis.set_content(0, schedule.ii)
            rows = self.build_rows(graph, self._tried or schedule, self._span)
        self._headers = [row.header for row in rows]
        if self._span != span or len(headers) != len(rows):
            self._fit_scroll_bar()
            self.repaint_all()
        else:
            both = enumerate(zip(rows, headers, strict=True))
            self._repaint_rows([number for number, (row, old) in both if row.changed or row.header != old])
        if self._headers != headers:
            self.setAccessibleDescription("; ".join(header.tooltip for header in self._headers))

    def _repaint_plots(self) -> None:
        """Another range of time: the headers stay as they are."""
        self._stale_plots.update(range(len(self._headers)))
        self.update()

    def _mend(self, scale: TimeScale) -> None:
        """Paints what has changed over the picture of what holds still."""
        if (scale.left, scale.right) != self._painted_between:
            self._painted_between = scale.left, scale.right
            self._still.outdate()
        stale, plots = self._stale_rows, self._stale_rows | self._stale_plots
        if plots:
            self._still.mend(lambda painter: self._paint_rows(painter, scale, plots, stale))
        self._stale_rows, self._stale_plots = set(), set()

    def _repaint_rows(self, rows: Collection[int]) -> None:
        scale = self.time_scale()
        self._stale_rows.update(rows)
        for row in rows:
            box = self.row_box(row, scale)
            self.update(QRectF(0, box.top(), self.width(), box.height()).toAlignedRect())

    def _move_cursor(self) -> None:
        """Only where the line is and was; the mouse moves many times a frame."""
        for x in (self._cursor_x, self._x_of_cursor(self.time_scale())):
            if x is not None:
                self.update(x - 1, 0, 3, self.height())

    def _x_of_cursor(self, scale: TimeScale) -> int | None:
        time = self._axis.cursor
        return None if time is None else round(scale.x(time))

    def _chart_span(self) -> TimeSpan | None:
        """The time that the chart covers, if it shows the same schedule."""
        content = self._gantt.content if self._gantt else None
        if content is None or self._shown is None or content.schedule is not self._shown[1]:
            return None
        layout = content.layout
        iterations = layout.iterations if layout.mode is GanttMode.UNROLLED else None
        return TimeSpan(layout.start, layout.end, iterations)

    def _row_height(self) -> int:
        count = max(len(self._headers), 1)
        return min(max(self.height() // count, self._least_row), self._most_row)

    def _fit_scroll_bar(self) -> None:
        self._scroll_bar.setPageStep(self.height())
        self._scroll_bar.setSingleStep(self._least_row // 2)
        self._scroll_bar.setRange(0, max(len(self._headers) * self._row_height() - self.height(), 0))
        self._scroll_bar.setVisible(self._scroll_bar.maximum() > 0)

    def _row_at(self, y: float) -> int | None:
        row = int((y + self._scroll_bar.value()) // self._row_height())
        return row if 0 <= row < len(self._headers) else None

    def _op_under(self, position: QPointF) -> str | None:
        row, scale = self._row_at(position.y()), self.time_scale()
        if row is None or not scale.left <= position.x() < scale.right:
            return None
        return self.op_at(row, self.row_box(row, scale), scale.time(position.x()), position.y())

    def _hover(self, op: str) -> None:
        if op != self._hovered:
            self._hovered = op
            self.hovered.emit(op)

    def _tooltip(self, position: QPoint) -> str:
        row, scale = self._row_at(position.y()), self.time_scale()
        if row is None:
            return ""
        if position.x() < scale.left:
            return self._headers[row].tooltip
        time = scale.time(position.x())
        if not self._span.start <= time < self._span.end:
            return ""
        return self.describe_at(row, time, self._op_under(QPointF(position)))

    def _paint_still(self, painter: QPainter, scale: TimeScale) -> None:
        palette = self.view_palette
        painter.fillRect(self.rect(), QColor(palette.window))
        painter.fillRect(QRectF(0, 0, scale.left, self.height()), QColor(palette.header))
        painter.setPen(QColor(palette.muted_text))
        if not self._headers:
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "No schedule yet")
            return
        rows = range(len(self._headers))
        self._paint_rows(painter, scale, rows, rows)

    def _paint_rows(self, painter: QPainter, scale: TimeScale, rows: Collection[int], headers: Collection[int]) -> None:
        """The plots of some rows, and the headers of some of these."""
        palette = self.view_palette
        style = HeaderStyle(palette, *self._fonts, self.devicePixelRatioF())
        for row in rows:
            box = self.row_box(row, scale)
            if box.bottom() <= 0 or box.top() >= self.height():
                continue
            painter.save()
            painter.setClipRect(box)
            paint_ground(painter, box, scale, self._span, palette, bool(row % 2))
            self.paint_row(painter, row, box, scale)
            painter.restore()
            if row in headers:
                header_box = QRectF(0, box.top(), scale.left, box.height())
                painter.fillRect(header_box, QColor(palette.header))
                paint_row_header(painter, header_box, self._headers[row], style)
            painter.setPen(QPen(QColor(palette.border), 1))
            painter.drawLine(QLineF(box.left(), box.bottom() - 0.5, box.right(), box.bottom() - 0.5))
        painter.setPen(QPen(QColor(palette.border), 1))
        painter.drawLine(QLineF(scale.left - 0.5, 0, scale.left - 0.5, self.height()))

    def _paint_lit(self, painter: QPainter, scale: TimeScale) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self.view_palette.critical), 2))
        ops, rows = frozenset(self._lit.ops), {*self._lit.units, *self._lit.groups}
        for row, header in enumerate(self._headers):
            box = self.row_box(row, scale)
            if box.bottom() <= 0 or box.top() >= self.height():
                continue
            painter.save()
            painter.setClipRect(box)
            draw_boxes(painter, self.lit_boxes(row, box, scale, ops) + FRAME)
            painter.restore()
            if header.title in rows:
                painter.drawRect(QRectF(1, box.top() + 1, scale.right - 2, box.height() - 3))
