"""Any view of the window as a picture: on the clipboard or in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow, QMenu, QWidget

from core.diagnostics import Severity
from twill_gui.image_export import PictureFormat, picture, save_picture
from twill_gui.views.message_bar import Message

_TOPIC = "picture"
_FILTERS = {"PNG (*.png)": "png", "SVG (*.svg)": "svg", "PDF (*.pdf)": "pdf"}


class ViewPictures(QObject):
    """`views` by their titles; the first is taken where no view has the focus."""

    message = Signal(object)  # Message

    def __init__(self, views: Mapping[str, QWidget], window: QMainWindow) -> None:
        super().__init__(window)
        self._views = dict(views)
        self._window = window

    @property
    def current(self) -> str:
        """The title of the view that has the focus."""
        focus = QApplication.focusWidget()
        has_it = (name for name, view in self._views.items() if focus and (view is focus or view.isAncestorOf(focus)))
        return next(has_it, next(iter(self._views)))

    def fill_menu(self, menu: QMenu) -> None:
        """A submenu each for copying and saving, with all views."""
        for text, act in (("Cop&y picture of", self.copy), ("Sa&ve picture of", self.save)):
            submenu = menu.addMenu(text)
            for name in self._views:
                submenu.addAction(name, lambda name=name, act=act: act(name))

    def copy(self, name: str) -> None:
        """Puts a picture of the view on the clipboard."""
        QGuiApplication.clipboard().setImage(picture(self._views[name]))
        self._window.statusBar().showMessage(f"Copied: a picture of {name}")

    def save(self, name: str) -> None:
        """Asks for a file and writes the view in the format of its suffix."""
        suggested = Path.cwd() / f"{name.lower().replace(' ', '_')}.png"
        chosen, filter_ = QFileDialog.getSaveFileName(
            self._window, f"Save picture of {name}", str(suggested), ";;".join(_FILTERS)
        )
        if not chosen:
            return
        file = Path(chosen)
        if file.suffix.lower().removeprefix(".") not in [one.value for one in PictureFormat]:
            file = file.with_name(f"{file.name}.{_FILTERS.get(filter_, 'png')}")
        try:
            save_picture(self._views[name], file)
        except OSError as fault:
            text = f"Cannot write {file}: {fault.strerror or fault}"
            self.message.emit(Message(_TOPIC, Severity.ERROR, text))
            return
        self.message.emit(Message(_TOPIC, Severity.NOTE, f"Written: {file}"))
