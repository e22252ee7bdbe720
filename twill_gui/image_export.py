"""Any view as a picture: PNG with two pixels for each of the screen's, SVG and PDF with shapes and texts as such."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPoint, QRect, QSizeF, Qt
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter, QPicture
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from core.files import write_atomically

PIXELS = 2  # of a PNG for each pixel of the view
_SCREEN_DPI = 96
_POINTS = 0.75  # a pixel of the view in a PDF
_TITLE = "Twill Explorer"


class PictureFormat(Enum):
    """What a picture can be written as; the value is the file's suffix."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


def picture(view: QWidget) -> QImage:
    """The view as pixels."""
    image = QImage(view.size() * PIXELS, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    shapes = QPicture()  # painted once as shapes, so that nothing is enlarged from the screen's pixels
    view.render(shapes, QPoint(), view.rect())
    with QPainter(image) as painter:
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.scale(PIXELS, PIXELS)
        painter.drawPicture(0, 0, shapes)
    image.setDevicePixelRatio(PIXELS)
    return image


def picture_bytes(view: QWidget, wanted: PictureFormat) -> bytes:
    """The view as a file's content."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    match wanted:
        case PictureFormat.PNG:
            picture(view).save(buffer, "PNG")  # type: ignore[call-overload] - a format name is text
        case PictureFormat.SVG:
            _paint_svg(view, buffer)
        case PictureFormat.PDF:
            _paint_pdf(view, buffer)
    return bytes(buffer.data().data())


def save_picture(view: QWidget, file: Path) -> None:
    """Writes the view in the format of the file's suffix. Raises OSError; ValueError for another suffix."""
    write_atomically(file, picture_bytes(view, PictureFormat(file.suffix.lower().removeprefix("."))))


def _paint_svg(view: QWidget, buffer: QBuffer) -> None:
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(_SCREEN_DPI)
    generator.setSize(view.size())
    generator.setViewBox(QRect(QPoint(), view.size()))
    generator.setTitle(view.accessibleName() or _TITLE)
    with QPainter(generator) as painter:
        view.render(painter, QPoint())


def _paint_pdf(view: QWidget, buffer: QBuffer) -> None:
    writer = QPdfWriter(buffer)
    writer.setCreator(_TITLE)
    writer.setTitle(view.accessibleName() or _TITLE)
    size = QSizeF(view.width() * _POINTS, view.height() * _POINTS)
    page = QPageSize(size, QPageSize.Unit.Point, "view", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF()))
    with QPainter(writer) as painter:
        scale = writer.resolution() / 72 * _POINTS
        painter.scale(scale, scale)
        view.render(painter, QPoint())
