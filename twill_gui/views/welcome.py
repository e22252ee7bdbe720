"""What the window shows without a project: open, recent files, the sample projects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCommandLinkButton, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

_COLUMN_WIDTH = 380


class WelcomeView(QWidget):
    """Two columns: what was open before, and the samples; above them the button that opens a file."""

    open_requested = Signal()
    path_requested = Signal(object)  # Path

    def __init__(self, samples: Sequence[tuple[Path, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = QLabel("Twill Explorer")
        font = title.font()
        font.setPointSizeF(font.pointSizeF() * 2.2)
        font.setBold(True)
        title.setFont(font)
        subtitle = QLabel(
            "Software pipelining and warp specialization of tensor-core loops: solved jointly, proved, and editable."
        )
        subtitle.setWordWrap(True)
        open_button = QPushButton("Open a project, TTGIR or graph file\N{HORIZONTAL ELLIPSIS}")
        open_button.setDefault(True)
        open_button.clicked.connect(self.open_requested)
        hint = QLabel("or drop one here")
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        columns = QHBoxLayout()
        columns.setSpacing(32)
        columns.addLayout(_column("Recent", self._recent))
        sample_list = QVBoxLayout()
        sample_list.setSpacing(2)
        for path, description in samples:
            sample_list.addWidget(self._link(path, path.name.replace("_", " "), description))
        columns.addLayout(_column("Sample projects", sample_list))

        row = QHBoxLayout()
        row.addWidget(open_button)
        row.addWidget(hint)
        row.addStretch(1)
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(48, 40, 48, 40)
        layout.setSpacing(12)
        for widget in (title, subtitle):
            layout.addWidget(widget)
        layout.addLayout(row)
        layout.addSpacing(12)
        layout.addLayout(columns)
        layout.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

    def set_recent(self, paths: Sequence[Path]) -> None:
        """Lists the files opened before, the newest first."""
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for path in paths:
            name = path.parent.name if path.name == "project.yaml" else path.name
            self._recent.addWidget(self._link(path, name, str(path)))
        if not paths:
            self._recent.addWidget(QLabel("Nothing yet"))

    def _link(self, path: Path, name: str, description: str) -> QCommandLinkButton:
        button = QCommandLinkButton(name, description)
        button.setToolTip(str(path))
        button.setMaximumWidth(_COLUMN_WIDTH)
        button.clicked.connect(lambda: self.path_requested.emit(path))
        return button


def _column(title: str, content: QVBoxLayout) -> QVBoxLayout:
    heading = QLabel(title)
    font = heading.font()
    font.setPointSizeF(font.pointSizeF() * 1.25)
    font.setBold(True)
    heading.setFont(font)
    column = QVBoxLayout()
    column.addWidget(heading)
    column.addLayout(content)
    column.addStretch(1)
    column.setAlignment(Qt.AlignmentFlag.AlignTop)
    return column
