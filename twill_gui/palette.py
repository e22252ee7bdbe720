"""Colours and fill patterns of the views, light and dark, as `#rrggbb` text; no Qt.

Units have the colour-blind safe hues of Okabe and Ito (2008) and a pattern each, so that colour never speaks alone.
Text colours are chosen by the contrast ratio of WCAG 2 and reach 4.5:1 on every fill and on its pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache

TEXT_CONTRAST = 4.5
PATTERN_CONTRAST = 1.3
LEVELS = 4


class Pattern(Enum):
    """What is drawn over a unit's fill."""

    SOLID = "solid"
    RISING = "rising lines"
    FALLING = "falling lines"
    HORIZONTAL = "horizontal lines"
    VERTICAL = "vertical lines"
    DOTS = "dots"
    CROSSED = "crossed lines"
    GRID = "grid"


@dataclass(frozen=True, slots=True)
class Fill:
    """How one bar is filled: its colour, the colours of the pattern and of the text on it, the colour of its border
    (the ground of its stage number too) and of text on that."""

    colour: str
    pattern_colour: str
    text: str
    border: str
    border_text: str


@dataclass(frozen=True, slots=True)
class UnitStyle:
    """A unit's pattern and its fills by lightness level (LEVELS of them, the first is the full hue)."""

    pattern: Pattern
    levels: tuple[Fill, ...]

    def fill(self, iteration: int) -> Fill:
        """The fill of an iteration; neighbours differ in lightness, every LEVELS-th is alike."""
        return self.levels[iteration % len(self.levels)]


@dataclass(frozen=True, slots=True)
class GroupStyle:
    """How the ops of a warp group look where they are not on its lane: the box's fill with a pattern on it, its border,
    and text on both."""

    fill: str
    pattern: Pattern
    pattern_colour: str
    border: str
    text: str


@dataclass(frozen=True, slots=True)
class ViewPalette:
    """The colours of the views. `fade` is how far the last lightness level goes towards `window`."""

    name: str
    window: str
    lane: str
    lane_alternate: str
    header: str
    grid: str
    boundary: str
    border: str
    text: str
    muted_text: str
    selection: str
    hover: str
    arrow: str
    carried_arrow: str
    violation: str
    violation_text: str
    critical: str
    limit: str
    legal_window: str
    blocked: str
    range_fill: str
    band: str
    cursor: str
    cursor_text: str
    fade: float

    def unit_style(self, unit: str | None) -> UnitStyle:
        """The style of a functional unit, the same in every view and every run; None: work on no unit."""
        return _unit_style(self, unit)

    def group_style(self, number: int | None) -> GroupStyle:
        """The style of a warp group by its number in the order of the lanes, from 0; None: on no group yet. Hues
        and patterns come back at different numbers."""
        return _group_style(self, number)


BLACK, WHITE = "#000000", "#ffffff"
_ORANGE, _SKY_BLUE, _BLUISH_GREEN, _YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
_BLUE, _VERMILLION, _REDDISH_PURPLE, _GREY = "#0072b2", "#d55e00", "#cc79a7", "#999999"
_HUES = (_ORANGE, _SKY_BLUE, _BLUISH_GREEN, _YELLOW, _BLUE, _VERMILLION, _REDDISH_PURPLE)
_GROUP_HUES = (_BLUE, _ORANGE, _BLUISH_GREEN, _REDDISH_PURPLE, _SKY_BLUE, _YELLOW, _VERMILLION)
_GROUP_TINT, _GROUP_PATTERN = 0.68, 0.16
_KNOWN_UNITS = {
    "tensor_core": (_ORANGE, Pattern.SOLID),
    "sfu": (_REDDISH_PURPLE, Pattern.RISING),
    "fma": (_SKY_BLUE, Pattern.FALLING),
    "alu": (_BLUISH_GREEN, Pattern.HORIZONTAL),
    "tma": (_BLUE, Pattern.DOTS),
    "shared": (_YELLOW, Pattern.VERTICAL),
    "tmem": (_VERMILLION, Pattern.GRID),
    # There are more units than hues: the second unit of a hue has another pattern.
    "store": (_BLUE, Pattern.CROSSED),
    "memory": (_BLUE, Pattern.CROSSED),
    "lsu": (_YELLOW, Pattern.CROSSED),
}

LIGHT = ViewPalette(
    name="light",
    window="#ffffff",
    lane="#ffffff",
    lane_alternate="#f5f6f8",
    header="#eceef1",
    grid="#dfe2e6",
    boundary="#6b7380",
    border="#c3c8cf",
    text="#1c2026",
    muted_text="#59616c",
    selection="#1c2026",
    hover="#4a5361",
    arrow="#1c2026",
    carried_arrow="#7a3fb5",
    violation="#d01124",
    violation_text="#b80d1f",
    critical="#b4530a",
    limit="#d01124",
    legal_window="#2e9e54",
    blocked="#8b929c",
    range_fill="#2b6cb0",
    band="#8792a2",
    cursor="#2b6cb0",
    cursor_text="#ffffff",
    fade=0.58,
)
DARK = ViewPalette(
    name="dark",
    window="#16181c",
    lane="#1b1e23",
    lane_alternate="#20242a",
    header="#262a31",
    grid="#2d323a",
    boundary="#8d96a4",
    border="#3a404a",
    text="#e8eaee",
    muted_text="#a3abb8",
    selection="#ffffff",
    hover="#c5ccd8",
    arrow="#f2f4f7",
    carried_arrow="#c9a2f5",
    violation="#ff4d5e",
    violation_text="#ff8a95",
    critical="#f5a04c",
    limit="#ff4d5e",
    legal_window="#4cc777",
    blocked="#6b7380",
    range_fill="#6ab0f3",
    band="#7d8796",
    cursor="#6ab0f3",
    cursor_text="#000000",
    fade=0.5,
)


def mix(colour: str, other: str, share: float) -> str:
    """`colour` with `share` (0 to 1) of `other` in it, in sRGB."""
    pairs = zip(_channels(colour), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def contrast(colour: str, other: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    low, high = sorted((luminance(colour), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def text_on(colour: str) -> str:
    """Black or white, whichever reads better on `colour` (at least 4.58:1)."""
    return max(BLACK, WHITE, key=lambda candidate: contrast(candidate, colour))


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2, from 0 to 1."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@cache
def _unit_style(palette: ViewPalette, unit: str | None) -> UnitStyle:
    hue, pattern = (_GREY, Pattern.SOLID) if unit is None else _KNOWN_UNITS.get(unit) or _other_style(unit)
    shares = (palette.fade * level / (LEVELS - 1) for level in range(LEVELS))
    return UnitStyle(pattern, tuple(_fill(mix(hue, palette.window, share)) for share in shares))


@cache
def _group_style(palette: ViewPalette, number: int | None) -> GroupStyle:
    hue = _GREY if number is None else _GROUP_HUES[number % len(_GROUP_HUES)]
    pattern = Pattern.SOLID if number is None else tuple(Pattern)[number % len(Pattern)]
    fill, border = mix(hue, palette.window, _GROUP_TINT), mix(hue, palette.text, 0.45)
    return GroupStyle(fill, pattern, mix(fill, BLACK, _GROUP_PATTERN), border, palette.text)


def _other_style(unit: str) -> tuple[str, Pattern]:
    """Names that differ in their last letter or digit only (x and y, pipe0 and pipe1) get different styles."""
    patterns = tuple(Pattern)[1:]
    code = int.from_bytes(unit.encode(), "big")
    return _HUES[code % len(_HUES)], patterns[code // len(_HUES) % len(patterns)]


def _fill(colour: str) -> Fill:
    text = text_on(colour)
    other = WHITE if text == BLACK else BLACK
    border = mix(colour, BLACK, 0.35)
    return Fill(colour, _pattern_colour(colour, text, other), text, border, text_on(border))


def _pattern_colour(colour: str, text: str, other: str) -> str:
    """The faintest lines that stand out from the fill and leave its text readable: if possible away from the text."""
    for towards in (other, text):
        for percent in range(5, 100, 5):
            candidate = mix(colour, towards, percent / 100)
            if contrast(candidate, colour) >= PATTERN_CONTRAST:
                if contrast(candidate, text) >= TEXT_CONTRAST:
                    return candidate
                break
    raise ValueError(f"no pattern colour for {colour}")  # unreachable: text has 4.58:1 or more
