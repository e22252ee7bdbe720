"""The window's line icons, in the text colour of the theme in use."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from core.resources import data_folder
from twill_gui.theme import Colors

_SIZES = (16, 20, 24, 32, 40, 48)


def icon(name: str, colors: Colors, color: str | None = None) -> QIcon:
    """The icon `resources/icons/NAME.svg`, by default in the colour of text. Raises FileNotFoundError."""
    result = QIcon()
    for mode, tint in ((QIcon.Mode.Normal, color or colors.text), (QIcon.Mode.Disabled, colors.disabled)):
        renderer = _renderer(name, tint)
        for size in _SIZES:
            result.addPixmap(_draw(renderer, size), mode)
    return result


def application_icon() -> QIcon:
    """The program's own icon."""
    result, renderer = QIcon(), _renderer("app", "#000000")
    for size in (16, 32, 64, 128, 256):
        result.addPixmap(_draw(renderer, size))
    return result


@cache
def _source(name: str) -> str:
    return (data_folder("resources") / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def _renderer(name: str, color: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_source(name).replace("currentColor", color).encode()))


def _draw(renderer: QSvgRenderer, size: int) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap
