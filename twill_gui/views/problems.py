"""The Problems dock: a title and a sentence each; activating one selects its ops in every view."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QIcon, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListView,
    QPushButton,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from twill_gui.models.problems import Problem, ProblemRole, ProblemsModel

_MARGIN, _ICON, _GAP = 6, 16, 8
_WRAP = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class ProblemsView(QWidget):
    """The list, or the word that there is nothing wrong."""

    schedule_requested = Signal(str)  # one that a problem is about, and that is not shown
    selection_requested = Signal(object)  # frozenset[str]
    why_asked = Signal(str)  # the op that a problem is about

    def __init__(self, model: ProblemsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.list = _ProblemList()
        self.list.setAccessibleName("Problems")
        self.list.setAccessibleDescription("Enter or a click on a problem selects the operations it is about")
        self.list.setModel(model)
        self.list.setItemDelegate(_ProblemDelegate(self.list))
        self.list.setFrameShape(QListView.Shape.NoFrame)
        self.list.setResizeMode(QListView.ResizeMode.Adjust)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.clicked.connect(self._request)
        self.list.activated.connect(self._request)
        self._nothing = QLabel("No problems")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setEnabled(False)
        self.why_button = QPushButton("&Explain")
        self.why_button.setToolTip("Why can the operation not be where it is?")
        self.why_button.clicked.connect(self._ask)
        listing = QWidget()
        buttons = QHBoxLayout()
        buttons.setContentsMargins(8, 4, 8, 6)
        buttons.addWidget(self.why_button)
        buttons.addStretch(1)
        column = QVBoxLayout(listing)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.list, 1)
        column.addLayout(buttons)
        self._listing = listing
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(listing)
        self.list.selectionModel().currentChanged.connect(self._enable)
        model.modelReset.connect(self._show)
        self._show()

    def _show(self) -> None:
        self._stack.setCurrentWidget(self._listing if self._model.problems else self._nothing)
        self._enable()

    def _enable(self) -> None:
        self.why_button.setEnabled(self._subject() is not None)

    def _subject(self) -> str | None:
        """The op of the shown schedule that the marked problem, or else the first, is about: of a dependence the one
        that waits."""
        index = self.list.currentIndex()
        problem = index.data(ProblemRole.PROBLEM) if index.isValid() else next(iter(self._model.problems), None)
        return problem.ops[-1] if problem and problem.ops and problem.schedule is None else None

    def _ask(self) -> None:
        op = self._subject()
        if op is not None:
            self.why_asked.emit(op)

    def _request(self, index: QModelIndex) -> None:
        problem: Problem = index.data(ProblemRole.PROBLEM)
        if problem.schedule is not None:
            self.schedule_requested.emit(problem.schedule)
        if problem.ops:
            self.selection_requested.emit(frozenset(problem.ops))


class _ProblemList(QListView):
    """Lines are as wide as the view, and wrap anew when that changes."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()


class _ProblemDelegate(QStyledItemDelegate):
    """Icon and bold title on the first line, the sentence wrapped below, its place last."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        problem: Problem = index.data(ProblemRole.PROBLEM)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)  # type: ignore[attr-defined]
        rect: QRect = option.rect  # type: ignore[attr-defined]
        rect.setWidth(min(rect.width(), self._view.viewport().width()))
        palette: QPalette = option.palette  # type: ignore[attr-defined]
        painter.save()
        if selected:
            painter.fillRect(rect, palette.highlight())
        painter.setPen(palette.color(QPalette.ColorRole.HighlightedText if selected else QPalette.ColorRole.Text))
        icon: QIcon = index.data(Qt.ItemDataRole.DecorationRole)
        icon.paint(painter, QRect(rect.left() + _MARGIN, rect.top() + _MARGIN, _ICON, _ICON))
        area = self._text_area(rect)
        bold = _bold(painter.font())
        metrics = QFontMetrics(bold)
        painter.setFont(bold)
        title = metrics.elidedText(problem.title, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, title)
        painter.setFont(option.font)  # type: ignore[attr-defined]
        painter.drawText(area.adjusted(0, metrics.lineSpacing() + 2, 0, 0), int(_WRAP), _body(problem))
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        problem: Problem = index.data(ProblemRole.PROBLEM)
        width = self._view.viewport().width()
        area = self._text_area(QRect(0, 0, width, 10_000))
        font: QFont = option.font  # type: ignore[attr-defined]
        body = QFontMetrics(font).boundingRect(area, int(_WRAP), _body(problem))
        return QSize(width, QFontMetrics(_bold(font)).lineSpacing() + 2 + body.height() + 2 * _MARGIN)

    @staticmethod
    def _text_area(rect: QRect) -> QRect:
        return rect.adjusted(_MARGIN + _ICON + _GAP, _MARGIN, -_MARGIN, -_MARGIN)


def _body(problem: Problem) -> str:
    return f"{problem.text}\n{problem.place}" if problem.place else problem.text


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setBold(True)
    return bold
