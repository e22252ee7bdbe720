"""The CUDA dock: the kernel that the shown schedule becomes, its lines linked with the ops of the graph."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QLabel, QStackedLayout, QWidget

from core.explain.answer import NOTHING, Highlight
from twill_gui.document.document import Document
from twill_gui.document.state import Change, ProjectState
from twill_gui.models.cuda_lines import CudaLines
from twill_gui.theme import Colors
from twill_gui.views.code import SYNTAX_DARK, SYNTAX_LIGHT, CodeView
from twill_gui.views.code.choice import chosen
from twill_gui.views.cuda_text.tokens import pieces
from twill_gui.views.cuda_text.writer import CudaWriter

NO_SCHEDULE = "There is no schedule yet: solve, and its CUDA text is shown here"
WRITING = "Writing the kernel…"
_NONE = CudaLines(why_not=NO_SCHEDULE)


class CudaTextView(QWidget):
    """Follows the shown schedule while it can be seen; a click on a line asks to select its ops."""

    selection_requested = Signal(object)  # frozenset[str]

    def __init__(self, document: Document, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._asked_for: ProjectState | None = None
        self._behind = False  # the schedule has changed since the text was last looked at
        self._follow_timer = QTimer(self, interval=0, singleShot=True)
        self._follow_timer.timeout.connect(self._follow)
        self._lines = _NONE
        self._lit = NOTHING
        self._writer = CudaWriter(self)
        self.code = CodeView("CUDA text", pieces)
        self._nothing = QLabel(NO_SCHEDULE)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setWordWrap(True)
        self._nothing.setMargin(12)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.code)
        self.setFocusProxy(self.code)
        self.code.line_requested.connect(self._request)
        self._writer.done.connect(self._take)
        document.changed.connect(self._on_changed)
        document.selection_changed.connect(self._mark)
        self.set_colors(colors)

    def set_colors(self, colors: Colors) -> None:
        """Colours the text for the theme in use."""
        self.code.set_colors(SYNTAX_DARK if colors.dark else SYNTAX_LIGHT)
        self._nothing.setStyleSheet(f"color: {colors.muted};")

    def set_highlight(self, lit: Highlight) -> None:
        """Marks the lines of what is pointed at elsewhere, beside those of the selection."""
        if lit.ops != self._lit.ops:
            self._lit = lit
            self._mark()

    def shut_down(self) -> None:
        """Ends what works in the background."""
        self._writer.shut_down()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A tab behind another is visible to Qt but never painted: so the text is written once it is looked at."""
        super().paintEvent(event)
        if self._behind:
            self._follow_timer.start()

    def _on_changed(self, change: Change) -> None:
        if Change.PROJECT in change or self._document.schedule is None:
            self._asked_for = None
            self._writer.drop()
            self._take(_NONE)
        self._follow()

    def _follow(self) -> None:
        """Asks for the text, once it can be seen."""
        state = self._document.state
        if (
            state is None
            or self._document.schedule is None
            or (self._asked_for and _same_kernel(self._asked_for, state))
        ):
            self._behind = False
            return
        if self._lines is _NONE:
            self._nothing.setText(WRITING)
        self._behind = self.visibleRegion().isEmpty()
        if not self._behind:
            self._asked_for = state
            self._writer.write(state)

    def _take(self, lines: CudaLines) -> None:
        before, self._lines = self._lines, lines
        self._nothing.setText(lines.why_not)
        self._stack.setCurrentWidget(self._nothing if lines.why_not else self.code)
        if lines.text != before.text:
            place = self.code.verticalScrollBar().value()
            self.code.set_text(lines.text)
            self.code.verticalScrollBar().setValue(place)
        self.code.set_linked({line: ", ".join(ops) for line, ops in (lines.ops or {}).items()})
        self._mark()

    def _mark(self) -> None:
        own = self._lines.own or {}
        selected = [line for op in own if op in self._document.selection for line in own[op]]
        lit = frozenset(line for op in own if op in self._lit.ops for line in own[op])
        self.code.set_marked(frozenset(selected) | lit, frozenset())
        if selected and not any(self.code.in_view(line) for line in selected):
            self.code.reveal(min(selected))

    def _request(self, line: int, toggle: bool) -> None:
        ops = frozenset((self._lines.ops or {}).get(line, ()))
        if ops:
            self.selection_requested.emit(chosen(self._document.selection, ops, toggle))


def _same_kernel(before: ProjectState, now: ProjectState) -> bool:
    """Whether an edit has left all that the text is made of; a schedule equal to the one before is the same."""
    return before.active == now.active and all(
        name in before.variants
        and before.variants[name].opened is variant.opened
        and before.variants[name].schedule == variant.schedule
        for name, variant in now.variants.items()
    )
