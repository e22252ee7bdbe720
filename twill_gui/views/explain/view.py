"""The Explain dock: a question, and the answer as it gets better. What it names is linked with all other views."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QTextBrowser,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.explain.answer import NOTHING, Explanation, Highlight
from core.graph.model import Graph
from core.schedule.model import Schedule
from twill_gui.models.asking import Asked
from twill_gui.theme import Colors
from twill_gui.views.explain.form import AskForm
from twill_gui.views.explain.nouns import Nouns
from twill_gui.views.explain.page import Facts, Page, Stage, Target, headline, write_page

_TICK_MS = 250
_OUTDATED = "The project has changed since: ask again for an answer about it as it is now."


class ExplainView(QWidget):
    """Emits what the user asks for. A link lights up what it names while it is pointed at, and selects it when it is
    followed; a chosen core stays lit. Relaxations are `core.explain.answer.Relaxation`s."""

    asked = Signal(object)  # Asked
    cancel_requested = Signal()
    apply_requested = Signal(object)  # Relaxation
    selection_requested = Signal(object)  # frozenset[str]
    highlighted = Signal(object)  # Highlight
    command_requested = Signal()

    def __init__(self, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colors = colors
        self._nouns: Nouns | None = None
        self._facts: Facts | None = None
        self._page = Page("", (), ())
        self._began = self._seconds = 0.0
        self._outdated = False
        self.form = AskForm()
        self.ask_button, self.cancel_button = QPushButton("&Explain"), QPushButton("Cancel")
        self.copy_button, self.copy_menu = QToolButton(), QMenu("Copy", self)
        self.copy_text = self.copy_menu.addAction("Copy &text")
        self.copy_command = self.copy_menu.addAction("Copy as &command line")
        self._headline, self._note, self._elapsed = QLabel(), QLabel(), QLabel()
        self._activity = QProgressBar()
        self.browser = QTextBrowser()
        self._timer = QTimer(self, interval=_TICK_MS)
        self._build()
        self._connect()
        self._show()

    def _build(self) -> None:
        self.ask_button.setToolTip("Ask this question (Enter in a field)")
        self.cancel_button.setToolTip("Stop, keeping what is known so far")
        self.copy_button.setText("Copy \N{BLACK DOWN-POINTING SMALL TRIANGLE}")
        self.copy_button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self.copy_button.setToolTip("Copy the explanation, or the twill command that asks the same question")
        self.copy_button.setMenu(self.copy_menu)
        self.copy_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._headline.setWordWrap(True)
        self._note.setWordWrap(True)
        self._activity.setTextVisible(False)
        self._activity.setFixedHeight(3)
        self._activity.setRange(0, 0)
        self._activity.setAccessibleName("An explanation is being worked out")
        self.browser.setAccessibleName("Explanation")
        self.browser.setAccessibleDescription("Tab goes from link to link; Enter selects what a link names")
        self.browser.setOpenLinks(False)
        self.browser.setFrameShape(QFrame.Shape.NoFrame)
        self.browser.document().setDocumentMargin(8)
        asking = self.form.last_row
        for button in (self.ask_button, self.cancel_button):
            asking.addWidget(button)
        asking.addStretch(1)
        asking.addWidget(self._elapsed)
        asking.addWidget(self.copy_button)
        top = QVBoxLayout()
        top.setContentsMargins(8, 6, 8, 6)
        top.setSpacing(4)
        top.addWidget(self.form)
        top.addWidget(self._headline)
        top.addWidget(self._note)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self._activity)
        layout.addWidget(self.browser, 1)

    def _connect(self) -> None:
        self.ask_button.clicked.connect(lambda: self.asked.emit(self.form.asked))
        self.form.submitted.connect(lambda: self.asked.emit(self.form.asked))
        self.cancel_button.clicked.connect(self.cancel_requested)
        self.copy_text.triggered.connect(lambda: QGuiApplication.clipboard().setText(self.text()))
        self.copy_command.triggered.connect(self.command_requested)
        self.browser.anchorClicked.connect(self._follow)
        self.browser.highlighted.connect(self._point_at)
        self.browser.viewport().installEventFilter(self)
        self._timer.timeout.connect(self._show_elapsed)

    # What is shown

    @property
    def answer(self) -> Explanation | None:
        """The best answer so far."""
        return self._facts.answer if self._facts else None

    @property
    def page(self) -> Page:
        """What the text says, and where its links lead."""
        return self._page

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return self._headline.text()

    def text(self) -> str:
        """The explanation as plain text."""
        parts = (self._headline.text(), self._note.text(), "", self.browser.document().toPlainText())
        return "\n".join(parts) if self._facts else ""

    def set_context(self, graph: Graph | None, schedule: Schedule | None) -> None:
        """The graph and schedule that the next question is about."""
        self.form.set_context(graph, schedule)
        self.setEnabled(graph is not None)

    def set_outdated(self) -> None:
        """The project is not what was asked about any more."""
        if self._facts is not None and not self._outdated:
            self._outdated = True
            self._show()

    def set_colors(self, colors: Colors) -> None:
        """Light or dark colours."""
        self._colors = colors
        self._show()

    def start(self, asked: Asked, facts: Facts, nouns: Nouns) -> None:
        """A question has been asked; arithmetic has answered already."""
        self.form.set_asked(asked)
        self._facts, self._nouns = facts, nouns
        self._began, self._outdated = time.monotonic(), False
        self._timer.start()
        self.highlighted.emit(NOTHING)
        self._show()

    def show_answer(self, answer: Explanation) -> None:
        """A better answer."""
        self._update(answer=answer, chosen=self._chosen_of(answer))

    def finish(self, stage: Stage) -> None:
        """No better answer will come."""
        self._timer.stop()
        self._seconds = time.monotonic() - self._began
        self._update(stage=stage)

    def clear(self) -> None:
        """Forgets question and answer."""
        self._timer.stop()
        self._facts = self._nouns = None
        self._outdated = False
        self.highlighted.emit(NOTHING)
        self._show()

    # Events

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Nothing is pointed at once the mouse has left the text."""
        if watched is self.browser.viewport() and event.type() == QEvent.Type.Leave:
            self._point_at(QUrl())
        return False

    # Inside

    def _update(self, **changed: Any) -> None:
        if self._facts is not None:
            self._facts = replace(self._facts, **changed)
            self._show()

    def _chosen_of(self, answer: Explanation) -> int | None:
        chosen = self._facts.chosen if self._facts else None
        return chosen if chosen is not None and chosen < len(answer.cores) else None

    def _show(self) -> None:
        facts, colors = self._facts, self._colors
        running = facts is not None and facts.stage is Stage.RUNNING
        self.cancel_button.setVisible(running)
        self.ask_button.setVisible(not running)
        self._activity.setVisible(running)
        self.copy_button.setEnabled(facts is not None)
        line, note = headline(facts) if facts else ("", "")
        if self._outdated:
            note = _OUTDATED
        self._headline.setText(line)
        self._note.setText(note[:1].upper() + note[1:])
        self._headline.setStyleSheet(f"font-weight: 600; color: {_tone(facts, colors)};")
        self._note.setStyleSheet(f"color: {colors.warning if self._outdated else colors.muted};")
        for label in (self._headline, self._note):
            label.setVisible(bool(label.text()))
        self._page = write_page(facts, self._nouns, colors) if facts and self._nouns else Page("", (), ())
        self._show_page()
        self._show_elapsed()

    def _show_page(self) -> None:
        place = self.browser.verticalScrollBar().value()
        self.browser.document().setDefaultStyleSheet(
            f"a {{ color: {self._colors.link}; }} h4 {{ margin: 10px 0 2px 0; }} p {{ margin: 2px 0; }}"
        )
        self.browser.setHtml(self._page.html)
        self.browser.verticalScrollBar().setValue(place)

    def _show_elapsed(self) -> None:
        running = self._timer.isActive()
        seconds = time.monotonic() - self._began if running else self._seconds
        self._elapsed.setText(f"{seconds:.1f} s" if self._facts else "")

    def _target(self, url: QUrl) -> Target | None:
        text = url.toString()
        return self._page.targets[int(text)] if text.isdecimal() and int(text) < len(self._page.targets) else None

    def _follow(self, url: QUrl) -> None:
        target = self._target(url)
        if target is None:
            return
        if target.relaxation is not None:
            self.apply_requested.emit(target.relaxation)
            return
        if target.core is not None:
            self._update(chosen=target.core)
        self.selection_requested.emit(frozenset(target.lit.ops))
        self.highlighted.emit(self._resting())

    def _point_at(self, url: QUrl) -> None:
        target = self._target(url)
        self.highlighted.emit(target.lit if target else self._resting())

    def _resting(self) -> Highlight:
        """What is lit while nothing is pointed at."""
        chosen = self._facts.chosen if self._facts else None
        return self._page.cores[chosen] if chosen is not None and chosen < len(self._page.cores) else NOTHING


def _tone(facts: Facts | None, colors: Colors) -> str:
    answer = facts.answer if facts else None
    verdict = answer.verdict.value if answer else ""
    if verdict == "infeasible":
        return colors.error
    return colors.good if verdict == "feasible" else colors.text
