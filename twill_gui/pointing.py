"""What the user points at in one view lights up in all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import QObject, SignalInstance

from core.explain.answer import NOTHING, Highlight


class Lit(Protocol):
    """A view that lights things up."""

    def set_highlight(self, lit: Highlight) -> None:
        """What is pointed at elsewhere."""
        ...


class Pointing(QObject):
    """Tells the views. While nothing is pointed at, what Explain has chosen stays lit."""

    def __init__(self, views: Sequence[Lit], parent: QObject) -> None:
        super().__init__(parent)
        self._views = tuple(views)
        self._chosen = NOTHING

    def listen(self, hovered: SignalInstance, source: Lit) -> None:
        """Follows the op under the mouse of one of the views, which shows it by itself."""
        hovered.connect(self._shower(source))

    def choose(self, lit: Highlight) -> None:
        """What Explain lights up until it says otherwise."""
        self._chosen = lit
        self._show(lit, None)

    def _shower(self, source: Lit) -> Callable[[str], None]:
        return lambda op: self._show(Highlight((op,)) if op else self._chosen, source if op else None)

    def _show(self, lit: Highlight, source: Lit | None) -> None:
        for view in self._views:
            if view is not source:
                view.set_highlight(lit)
