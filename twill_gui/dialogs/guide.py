"""The guide: the pages of `resources/help`, which can be read on the project page too."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QByteArray, Qt, QUrl
from PySide6.QtGui import QImage, QResizeEvent, QTextDocument
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QPushButton, QTextBrowser, QVBoxLayout, QWidget

from core.resources import data_folder

INDEX = "index.md"
_MARGIN = 120  # pixels of the page that pictures leave free: lists are indented


class GuideDialog(QDialog):
    """Stays open beside the window; links lead from page to page."""

    def __init__(self, parent: QWidget, page: str = INDEX) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Guide")
        self.resize(900, 760)
        self.browser = _Browser()
        self.contents, self.back = QPushButton("&Contents"), QPushButton("&Back")
        for button in (self.contents, self.back):
            button.setAutoDefault(False)
        self.contents.clicked.connect(lambda: self.show_page(INDEX))
        self.back.clicked.connect(self.browser.backward)
        self.back.setEnabled(False)
        self.browser.backwardAvailable.connect(self.back.setEnabled)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        row = QHBoxLayout()
        for widget in (self.contents, self.back):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.addWidget(self.browser, 1)
        layout.addLayout(row)
        self.show_page(page)

    def show_page(self, page: str) -> None:
        """Shows a page by the name of its file."""
        self.browser.setSource(QUrl.fromLocalFile(str(data_folder("resources") / "help" / page)))


class _Browser(QTextBrowser):
    """Pictures are as wide as the page at most."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Guide")
        self.setOpenExternalLinks(True)
        self._width = 0

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        found = super().loadResource(kind, name)
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return found
        image = QImage.fromData(found) if isinstance(found, QByteArray | bytes) else QImage(found)
        ratio = self.devicePixelRatioF()
        room = round(max(self.viewport().width() - _MARGIN, 200) * ratio)
        if image.width() > room:
            image = image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)
        image.setDevicePixelRatio(ratio)
        return image

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._width != self.width() and not self.source().isEmpty():
            self._width = self.width()
            self.reload()
