"""Boxes and lines as arrays of numbers, painted thousands at a time without an object of Qt's for each of them."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter

Numbers = NDArray[np.float64]
"""One row each: left, top, width and height of a box, or x and y of a line's two ends. A QRectF and a QLineF hold the
same four doubles in the same order."""

FRAME = np.array([1.0, 0.0, -2.0, 0.0])
"""To be added to boxes: so a frame of two pixels stays within them at the sides."""

NO_BOXES = np.empty((0, 4))
Shape = TypeVar("Shape", QRectF, QLineF)

_FIELDS = 4
_ROW_BYTES = _FIELDS * 8


def rows_of(*columns: Numbers | float) -> Numbers:
    """Four columns, each an array or one number for all rows, as rows."""
    count = next(len(column) for column in columns if isinstance(column, np.ndarray))
    rows = np.empty((count, _FIELDS))
    for number, column in enumerate(columns):
        rows[:, number] = column
    return rows


def draw_boxes(painter: QPainter, boxes: Numbers) -> None:
    """Draws boxes with the painter's pen and brush; the rows lie one behind the other in memory."""
    if len(boxes):
        painter.drawRects(_at(_address(boxes), QRectF), len(boxes))


def draw_lines(painter: QPainter, lines: Numbers) -> None:
    """Draws lines with the painter's pen; the rows lie one behind the other in memory."""
    if len(lines):
        painter.drawLines(_at(_address(lines), QLineF), len(lines))


class BoxGroups:
    """Boxes that are drawn group by group, without a look at the array for each group. `groups`: the group of each
    box, in rising order."""

    def __init__(self, boxes: Numbers, groups: NDArray[np.integer], count: int) -> None:
        self.boxes = boxes
        self.groups = groups
        self._address = _address(boxes)
        self._ends = [0, *np.searchsorted(groups, np.arange(1, count + 1)).tolist()]

    def __getitem__(self, group: int) -> Numbers:
        """The boxes of a group."""
        return self.boxes[self._ends[group] : self._ends[group + 1]]

    def draw(self, painter: QPainter, group: int) -> None:
        """Draws a group with the painter's pen and brush."""
        begin, end = self._ends[group], self._ends[group + 1]
        if end > begin:
            painter.drawRects(_at(self._address + begin * _ROW_BYTES, QRectF), end - begin)


def _address(rows: Numbers) -> int:
    if rows.dtype != np.float64 or rows.shape[1:] != (_FIELDS,) or not rows.flags.c_contiguous:
        raise ValueError(f"rows of {_FIELDS} doubles without gaps are needed")
    return rows.ctypes.data


def _at(address: int, kind: type[Shape]) -> Shape:
    """What lies at an address, as Qt sees it; the painter is given it as the first of an array."""
    return cast(Shape, shiboken6.wrapInstance(address, cast(Any, kind)))
