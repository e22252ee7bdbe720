"""Facts in sections, as the Project and Inspector docks list them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from twill_gui.models.table import Tone


@dataclass(frozen=True, slots=True)
class Detail:
    """A line: name, value, a tool tip, and what activating it asks for (an op id, a schedule name, ...)."""

    name: str
    value: str = ""
    tip: str = ""
    target: Any = None
    tone: Tone = Tone.PLAIN
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with lines under it."""

    title: str
    details: Sequence[Detail] = ()
