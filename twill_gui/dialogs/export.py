"""Chooses a format, shows what would be written, and where to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

PREVIEW_CHARACTERS = 200_000  # of a text; the file has all of it


class ExportDialog(QDialog):
    """`choices`: title, purpose, suffix and whether it is a picture, of each format. The caller answers the signals."""

    preview_requested = Signal()
    write_requested = Signal()
    copy_requested = Signal()
    command_requested = Signal()

    def __init__(self, choices: Sequence[tuple[str, str, str, bool]], place: Path, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self.resize(1060, 680)
        self._choices = tuple(choices)
        self._place = place
        self.picture = QImage()
        self.formats = QListWidget()
        self.formats.setAccessibleName("Formats")
        self.formats.setWordWrap(True)
        self.formats.setSpacing(2)
        for title, purpose, _, _ in choices:
            self.formats.addItem(QListWidgetItem(f"{title}\n{purpose}"))
        self.text = QPlainTextEdit()
        self.text.setAccessibleName("Preview")
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.image = _Picture()
        self.pages = QStackedWidget()
        self.pages.addWidget(self.text)
        self.pages.addWidget(self.image)
        self.note = QLabel()
        self.note.setWordWrap(True)
        self.note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.unrolled_box = QCheckBox("Prologue, steady iterations and epilogue instead of one II")
        self.field = QLineEdit()
        self.field.setAccessibleName("File")
        self._build()
        self.formats.currentRowChanged.connect(self._on_format_changed)
        self.unrolled_box.toggled.connect(self.preview_requested)

    def _build(self) -> None:
        browse = QPushButton("&Browse\N{HORIZONTAL ELLIPSIS}")
        browse.setAutoDefault(False)  # Enter in the field exports
        browse.clicked.connect(self._browse)
        file_row = QHBoxLayout()
        label = QLabel("&File")
        label.setBuddy(self.field)
        for widget in (label, self.field, browse):
            file_row.addWidget(widget)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.write_button = buttons.addButton("&Export", QDialogButtonBox.ButtonRole.AcceptRole)
        self.copy_button = buttons.addButton("&Copy", QDialogButtonBox.ButtonRole.ActionRole)
        self.command_button = buttons.addButton("Copy as command &line", QDialogButtonBox.ButtonRole.ActionRole)
        for button in (self.copy_button, self.command_button):
            button.setAutoDefault(False)
        self.write_button.setDefault(True)
        self.write_button.clicked.connect(self.write_requested)
        self.copy_button.clicked.connect(self.copy_requested)
        self.command_button.clicked.connect(self.command_requested)
        buttons.rejected.connect(self.reject)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.pages, 1)
        column.addWidget(self.unrolled_box)
        column.addWidget(self.note)
        splitter = QSplitter()
        splitter.addWidget(self.formats)
        splitter.addWidget(right)
        splitter.setSizes([270, 780])
        splitter.setStretchFactor(1, 1)
        layout = QVBoxLayout(self)
        layout.addWidget(splitter, 1)
        layout.addLayout(file_row)
        layout.addWidget(buttons)

    @property
    def chosen(self) -> int:
        """The number of the format."""
        return max(self.formats.currentRow(), 0)

    @property
    def unrolled(self) -> bool:
        """Whether a picture shows the whole run of the loop."""
        return self.unrolled_box.isChecked()

    @property
    def file(self) -> Path:
        """Where to write."""
        return Path(self.field.text()).expanduser()

    def choose(self, number: int) -> None:
        """Takes a format."""
        self.formats.setCurrentRow(number)

    def show_preview(self, content: str | bytes, warnings: Sequence[str]) -> None:
        """What would be written, and what the format cannot hold."""
        if isinstance(content, str):
            more = len(content) - PREVIEW_CHARACTERS
            shown = content[:PREVIEW_CHARACTERS] + (
                f"\n\N{HORIZONTAL ELLIPSIS} {more} more characters" if more > 0 else ""
            )
            self.text.setPlainText(shown)
            self.pages.setCurrentWidget(self.text)
        else:
            self.picture = QImage.fromData(content)
            self.image.set_picture(self.picture)
            self.pages.setCurrentWidget(self.image)
        self._enable(True)
        self.say("\n".join(warnings))

    def show_fault(self, text: str) -> None:
        """Why there is nothing to write."""
        self.text.clear()
        self.pages.setCurrentWidget(self.text)
        self._enable(False)
        self.say(text)

    def say(self, text: str) -> None:
        """A line under the preview."""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def _enable(self, on: bool) -> None:
        for button in (self.write_button, self.copy_button, self.command_button):
            button.setEnabled(on)

    def _on_format_changed(self) -> None:
        _, _, suffix, is_picture = self._choices[self.chosen]
        self.field.setText(f"{self._place}{suffix}")
        self.unrolled_box.setVisible(is_picture)
        self.preview_requested.emit()

    def _browse(self) -> None:
        title, _, suffix, _ = self._choices[self.chosen]
        name, _ = QFileDialog.getSaveFileName(self, "Export", self.field.text(), f"{title} (*{suffix})")
        if name:
            self.field.setText(name)


class _Picture(QLabel):
    """A picture, as large as fits."""

    def __init__(self) -> None:
        super().__init__()
        self._image = QImage()
        self.setAccessibleName("Preview")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMinimumSize(200, 120)

    def set_picture(self, image: QImage) -> None:
        self._image = image
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._image.isNull():
            return
        ratio = self.devicePixelRatioF()
        aspect, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        fitted = self._image.scaled(self.size() * ratio, aspect, smooth)
        fitted.setDevicePixelRatio(ratio)
        self.setPixmap(QPixmap.fromImage(fitted))
