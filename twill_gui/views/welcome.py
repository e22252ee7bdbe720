"""What the window shows without a project: open, recent files, the sample projects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QIcon, QShowEvent
from PySide6.QtWidgets import (
    QCommandLinkButton,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from twill_gui.icons import icon
from twill_gui.theme import Colors
from twill_gui.views.cards import CardContent, Cards

_RECENT_WIDTH = 320


class WelcomeView(QScrollArea):
    """The samples as cards, once it is seen; what was open before as a list; buttons that open a file or the guide."""

    open_requested = Signal()
    guide_requested = Signal()
    path_requested = Signal(object)  # Path

    def __init__(
        self, samples: Callable[[], Sequence[CardContent]], colors: Colors, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._read_samples = samples
        self._read_timer = QTimer(self, interval=0, singleShot=True)
        self._read_timer.timeout.connect(self._fill)
        self._icon = QIcon()
        self.open_button = QPushButton("Open a project, TTGIR or graph file\N{HORIZONTAL ELLIPSIS}")
        self.open_button.setToolTip("Choose a file to begin with")
        self.open_button.setDefault(True)
        self.open_button.clicked.connect(self.open_requested)
        self.guide_button = QPushButton("Read the guide (F1)")
        self.guide_button.setToolTip("What can be done here, step by step")
        self.guide_button.clicked.connect(self.guide_requested)
        row = QHBoxLayout()
        row.addWidget(self.open_button)
        row.addWidget(self.guide_button)
        row.addWidget(QLabel("or drop a file anywhere in the window"))
        row.addStretch(1)

        self.samples = Cards(colors)
        self.samples.opened.connect(self.path_requested)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        left, right = QVBoxLayout(), QVBoxLayout()
        left.addWidget(_heading("Sample projects", 1.25))
        left.addWidget(self.samples)
        left.addStretch(1)
        right.addWidget(_heading("Recent", 1.25))
        right.addLayout(self._recent)
        right.addStretch(1)
        columns = QHBoxLayout()
        columns.setSpacing(32)
        columns.addLayout(left, 1)
        columns.addLayout(right)

        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(32, 32, 32, 32)
        layout.setSpacing(12)
        layout.addWidget(_heading("Twill Explorer", 2.2))
        layout.addWidget(
            QLabel(
                "Software pipelining and warp specialization of tensor-core loops: solved jointly, proved, editable."
            )
        )
        layout.addLayout(row)
        layout.addSpacing(16)
        layout.addLayout(columns)
        layout.addStretch(1)
        self.setAccessibleName("Welcome")
        self.setAccessibleDescription("Sample projects as cards, files that were open, and the guide")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidget(page)
        self.set_colors(colors)
        self.set_recent(())

    def showEvent(self, event: QShowEvent) -> None:
        """The samples are read in the next turn of the event loop, unless a project is opened in this one."""
        super().showEvent(event)
        if not self.samples.cards:
            self._read_timer.start()

    def _fill(self) -> None:
        if self.isVisible() and not self.samples.cards:
            self.samples.set_contents(self._read_samples())

    def set_recent(self, paths: Sequence[Path]) -> None:
        """Lists the files opened before, the newest first."""
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for path in paths:
            name = path.parent.name if path.name == "project.yaml" else path.name
            self._recent.addWidget(self._link(path, name, _short(path)))
        if not paths:
            nothing = QLabel("Nothing yet")
            nothing.setFixedWidth(_RECENT_WIDTH)
            self._recent.addWidget(nothing)

    def set_colors(self, colors: Colors) -> None:
        """Draws the icons for the theme in use."""
        self._icon = icon("project", colors, colors.link)
        for link in self.findChildren(QCommandLinkButton):
            link.setIcon(self._icon)
        self.samples.set_colors(colors)

    def _link(self, path: Path, name: str, description: str) -> QCommandLinkButton:
        button = QCommandLinkButton(name, description)
        button.setIcon(self._icon)
        button.setIconSize(QSize(20, 20))
        button.setToolTip(str(path))
        button.setFixedWidth(_RECENT_WIDTH)
        button.clicked.connect(lambda: self.path_requested.emit(path))
        return button


def _short(path: Path) -> str:
    """The folder, with the home folder as `~`."""
    try:
        return f"~/{path.parent.relative_to(Path.home()).as_posix()}"
    except ValueError:
        return str(path.parent)


def _heading(text: str, scale: float) -> QLabel:
    label = QLabel(text)
    font = label.font()
    font.setPointSizeF(font.pointSizeF() * scale)
    font.setBold(True)
    label.setFont(font)
    return label
