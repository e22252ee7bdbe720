"""What the window shows without a project: open, recent files, the sample projects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QCommandLinkButton,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from twill_gui.icons import icon
from twill_gui.theme import Colors

_COLUMN_WIDTH, _PAGE_WIDTH = 440, 940


class WelcomeView(QScrollArea):
    """Two columns: the samples, and what was open before; above them the button that opens a file."""

    open_requested = Signal()
    path_requested = Signal(object)  # Path

    def __init__(self, samples: Sequence[tuple[Path, str]], colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = QIcon()
        open_button = QPushButton("Open a project, TTGIR or graph file\N{HORIZONTAL ELLIPSIS}")
        open_button.setDefault(True)
        open_button.clicked.connect(self.open_requested)
        row = QHBoxLayout()
        row.addWidget(open_button)
        row.addWidget(QLabel("or drop one anywhere in the window"))
        row.addStretch(1)

        self._samples = [self._link(path, description, str(path.name)) for path, description in samples]
        self._recent = _column()
        columns = QGridLayout()
        columns.setHorizontalSpacing(40)
        columns.setColumnStretch(2, 1)
        columns.addWidget(_heading("Sample projects", 1.25), 0, 0)
        columns.addWidget(_heading("Recent", 1.25), 0, 1)
        sample_column = _column()
        for link in self._samples:
            sample_column.addWidget(link)
        columns.addLayout(sample_column, 1, 0, Qt.AlignmentFlag.AlignTop)
        columns.addLayout(self._recent, 1, 1, Qt.AlignmentFlag.AlignTop)

        page = QWidget()
        page.setMaximumWidth(_PAGE_WIDTH)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(24, 48, 24, 32)
        layout.setSpacing(12)
        layout.addWidget(_heading("Twill Explorer", 2.2))
        layout.addWidget(
            QLabel(
                "Software pipelining and warp specialization of tensor-core loops: solved jointly, proved, editable."
            )
        )
        layout.addLayout(row)
        layout.addSpacing(20)
        layout.addLayout(columns)
        layout.addStretch(1)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setWidget(page)
        self.set_colors(colors)
        self.set_recent(())

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
            nothing.setEnabled(False)
            self._recent.addWidget(nothing)

    def set_colors(self, colors: Colors) -> None:
        """Draws the icons for the theme in use."""
        self._icon = icon("project", colors, colors.link)
        for link in self.findChildren(QCommandLinkButton):
            link.setIcon(self._icon)

    def _link(self, path: Path, name: str, description: str) -> QCommandLinkButton:
        button = QCommandLinkButton(name, description)
        button.setIcon(self._icon)
        button.setIconSize(QSize(20, 20))
        button.setToolTip(str(path))
        button.setFixedWidth(_COLUMN_WIDTH)
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


def _column() -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(0)
    return column
