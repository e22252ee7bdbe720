"""The time axis that several views share: which cycles are shown, and on how many pixels."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

MARGIN_PX = 14
LEAST_SPAN = 2.0
ZOOM_STEP = 1.25
PAN_SHARE = 0.2


class TimeAxis(QObject):
    """A range of cycles on `width` pixels; every change is told by `changed`.

    The range never leaves the content by more than a margin. `cursor` is the time under the mouse in any linked
    view, or None.
    """

    changed = Signal()
    cursor_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._content = (0.0, 1.0)
        self._start, self._end = 0.0, 1.0
        self._width = 100
        self._fitted = True
        self._cursor: float | None = None

    @property
    def start(self) -> float:
        """The cycle at the left edge."""
        return self._start

    @property
    def end(self) -> float:
        """The cycle at the right edge."""
        return self._end

    @property
    def width(self) -> int:
        """Pixels that the range takes."""
        return self._width

    @property
    def scale(self) -> float:
        """Pixels per cycle."""
        return self._width / (self._end - self._start)

    @property
    def cursor(self) -> float | None:
        """The time under the mouse."""
        return self._cursor

    def x(self, time: float) -> float:
        """Pixels from the left edge at `time`."""
        return (time - self._start) * self.scale

    def time(self, x: float) -> float:
        """The time at `x` pixels from the left edge."""
        return self._start + x / self.scale

    def set_content(self, start: float, end: float) -> None:
        """What there is to see. The range stays as it is unless it showed everything or nothing of it is left."""
        self._content = (start, max(end, start + 1.0))
        if self._fitted or self._end <= start or self._start >= end:
            self.fit()
        else:
            self.show_range(self._start, self._end)

    def set_width(self, width: int) -> None:
        """The pixels available; the range stays."""
        width = max(width, 1)
        if width != self._width:
            self._width = width
            if self._fitted:
                self.fit()
            else:
                self.changed.emit()

    def set_cursor(self, time: float | None) -> None:
        """Where the mouse is, for all linked views."""
        if time != self._cursor:
            self._cursor = time
            self.cursor_changed.emit()

    def fit(self) -> None:
        """Shows the whole content with a small margin."""
        self._start, self._end = self.widest
        self._fitted = True
        self.changed.emit()

    def show_range(self, start: float, end: float) -> None:
        """Shows [start, end) as far as the content and the closest zoom allow."""
        low, high = self.widest
        least = min(LEAST_SPAN, high - low)
        if end - start < least:
            middle = (start + end) / 2
            start, end = middle - least / 2, middle + least / 2
        if end - start >= high - low:
            start, end = low, high
        elif start < low:
            start, end = low, low + end - start
        elif end > high:
            start, end = high - (end - start), high
        fitted = (start, end) == (low, high)
        if (start, end, fitted) != (self._start, self._end, self._fitted):
            self._start, self._end, self._fitted = start, end, fitted
            self.changed.emit()

    def zoom(self, factor: float, at: float) -> None:
        """Magnifies by `factor`; the time `at` keeps its place on the screen."""
        self.show_range(at - (at - self._start) / factor, at + (self._end - at) / factor)

    def pan(self, cycles: float) -> None:
        """Moves the range later (or earlier) in time."""
        low, high = self.widest
        cycles = min(max(cycles, low - self._start), high - self._end)
        if cycles:
            self.show_range(self._start + cycles, self._end + cycles)

    def center(self, time: float) -> None:
        """Pans so that `time` is in the middle, as far as the content goes."""
        self.pan(time - (self._start + self._end) / 2)

    @property
    def widest(self) -> tuple[float, float]:
        """The widest range: the content and a small margin at both ends."""
        start, end = self._content
        room = max(self._width - 2 * MARGIN_PX, 1)
        margin = min(MARGIN_PX * (end - start) / room, end - start)
        return start - margin, end + margin
