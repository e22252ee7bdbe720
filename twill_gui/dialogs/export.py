"""Chooses a format, shows what would be written, and where to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QFontDatabase, QImage, QPixmap, QResizeEvent, QTextCursor
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

from twill_gui.dialogs.kernel_options import KernelOptions

PREVIEW_CHARACTERS = 200_000  # of a text; the file has all of it


class Kind(Enum):
    """What a format makes: each kind has options of its own."""

    TEXT = auto()
    TRACE = auto()
    PICTURE = auto()
    KERNEL = auto()  # a folder
    OVERRIDE = auto()  # a folder too

    @property
    def is_folder(self) -> bool:
        """Whether it is more than one file, or a file of a given name."""
        return self in (Kind.KERNEL, Kind.OVERRIDE)


@dataclass(frozen=True, slots=True)
class Choice:
    """A format: its name, what it is for, how names of its files or folders end."""

    title: str
    purpose: str
    suffix: str
    kind: Kind


class ExportDialog(QDialog):
    """Shows the formats to choose from, with the options of each. The caller answers the signals."""

    preview_requested = Signal()
    write_requested = Signal()
    copy_requested = Signal()
    command_requested = Signal()

    def __init__(self, choices: Sequence[Choice], place: Path, run: str, parent: QWidget) -> None:
        """`place`: where to write, without a suffix. `run`: the name of the measured run that is shown, "" for none."""
        super().__init__(parent)
        self.setWindowTitle("Export")
        self.resize(1060, 680)
        self._choices = tuple(choices)
        self._place = place
        self._busy = False
        self.picture = QImage()
        self.formats = QListWidget()
        self.formats.setAccessibleName("Formats")
        self.formats.setWordWrap(True)
        self.formats.setSpacing(2)
        for choice in choices:
            self.formats.addItem(QListWidgetItem(f"{choice.title}\n{choice.purpose}"))
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
        self.run_box = QCheckBox(f"Beside the plan the measured &run {run}")
        self._run = run
        self.unrolled_box = QCheckBox("Prologue, steady iterations and epilogue instead of one II")
        self.kernel_options = KernelOptions()
        self.field = QLineEdit()
        self._field_label = QLabel()
        self._field_label.setBuddy(self.field)
        self._build()
        self.formats.currentRowChanged.connect(self._on_format_changed)
        for box in (self.unrolled_box, self.run_box):
            box.toggled.connect(self.preview_requested)
        self.kernel_options.changed.connect(self.preview_requested)
        self.kernel_options.gap_chosen.connect(self._show_line)

    def _build(self) -> None:
        browse = QPushButton("&Browse\N{HORIZONTAL ELLIPSIS}")
        browse.setAutoDefault(False)  # Enter in the field exports
        browse.clicked.connect(self._browse)
        file_row = QHBoxLayout()
        for widget in (self._field_label, self.field, browse):
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
        column.addWidget(self.run_box)
        column.addWidget(self.kernel_options)
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
        """Where to write: a file, or a folder."""
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

    def show_fault(self, text: str, *, only_here: bool = False) -> None:
        """Why there is nothing to write, or nothing yet. `only_here`: the command may work elsewhere, or later."""
        self.text.clear()
        self.kernel_options.show_gaps(None)
        self.pages.setCurrentWidget(self.text)
        self._enable(False)
        self.command_button.setEnabled(only_here)
        self.say(text)

    def say(self, text: str) -> None:
        """A line under the preview."""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def set_busy(self, busy: bool) -> None:
        """While the files are written nothing can be changed or closed."""
        self._busy = busy
        for part in (self.formats, self.kernel_options, self.field, *self.findChildren(QPushButton)):
            part.setEnabled(not busy)
        if busy:
            self.say("Writing\N{HORIZONTAL ELLIPSIS}")

    def reject(self) -> None:
        if not self._busy:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore() if self._busy else super().closeEvent(event)

    def _enable(self, on: bool) -> None:
        for button in (self.write_button, self.copy_button, self.command_button):
            button.setEnabled(on)

    def _on_format_changed(self) -> None:
        choice = self._choices[self.chosen]
        self.field.setText(f"{self._place}{choice.suffix}")
        self._field_label.setText("&Folder" if choice.kind.is_folder else "&File")
        self.unrolled_box.setVisible(choice.kind is Kind.PICTURE)
        self.run_box.setVisible(choice.kind is Kind.TRACE and bool(self._run))
        self.kernel_options.setVisible(choice.kind is Kind.KERNEL)
        self.preview_requested.emit()

    def _show_line(self, number: int) -> None:
        """Marks a line of the preview."""
        cursor = QTextCursor(self.text.document().findBlockByNumber(number - 1))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        self.text.setTextCursor(cursor)
        self.text.centerCursor()

    def _browse(self) -> None:
        choice = self._choices[self.chosen]
        names = f"Folders (*{choice.suffix})" if choice.kind.is_folder else f"{choice.title} (*{choice.suffix})"
        name, _ = QFileDialog.getSaveFileName(self, "Export", self.field.text(), names)
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
