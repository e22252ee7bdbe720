"""Colours: readable, distinct without colour, the same for a unit everywhere."""

from __future__ import annotations

from itertools import pairwise

import pytest
import yaml

from core.resources import data_folder
from twill_gui.palette import DARK, LEVELS, LIGHT, Pattern, ViewPalette, contrast

PALETTES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=lambda palette: palette.name)
UNITS = (
    "tensor_core",
    "sfu",
    "fma",
    "alu",
    "tma",
    "shared",
    "tmem",
    "store",
    "x",
    "y",
    "tc",
    "lsu",
    "pipe0",
    "pipe1",
    None,
)
OKABE_ITO = {"#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}


def _luminance(colour: str) -> float:
    """WCAG 2.2, definition of relative luminance."""
    parts = []
    for first in (1, 3, 5):
        value = int(colour[first : first + 2], 16) / 255
        parts.append(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _ratio(first: str, second: str) -> float:
    bright, dark = max(_luminance(first), _luminance(second)), min(_luminance(first), _luminance(second))
    return (bright + 0.05) / (dark + 0.05)


def test_the_contrast_ratio_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#e69f00", "#1b1e23") == pytest.approx(_ratio("#e69f00", "#1b1e23"))


@PALETTES
@pytest.mark.parametrize("unit", UNITS)
def test_text_on_every_fill_and_on_its_pattern_is_readable(palette: ViewPalette, unit: str | None) -> None:
    style = palette.unit_style(unit)
    assert len(style.levels) == LEVELS
    for fill in style.levels:
        assert _ratio(fill.text, fill.colour) >= 4.5
        assert _ratio(fill.text, fill.pattern_colour) >= 4.5
        assert _ratio(fill.border_text, fill.border) >= 4.5
        assert _ratio(fill.pattern_colour, fill.colour) >= 1.25


@PALETTES
def test_texts_of_the_views_are_readable_on_their_grounds(palette: ViewPalette) -> None:
    for ground in (palette.window, palette.lane, palette.lane_alternate, palette.header):
        for text in (palette.text, palette.muted_text, palette.violation_text, palette.carried_arrow):
            assert _ratio(text, ground) >= 4.5
        marks = (
            palette.selection,
            palette.limit,
            palette.violation,
            palette.arrow,
            palette.boundary,
            palette.critical,
        )
        for mark in marks:
            assert _ratio(mark, ground) >= 3
    assert _ratio(palette.cursor_text, palette.cursor) >= 4.5


@PALETTES
def test_groups_are_told_apart_by_pattern_too_and_text_on_them_is_readable(palette: ViewPalette) -> None:
    styles = [palette.group_style(number) for number in (None, *range(7))]
    for style in styles:
        assert _ratio(style.text, style.fill) >= 4.5
        assert _ratio(style.text, style.pattern_colour) >= 4.5
        assert _ratio(style.border, palette.window) >= 3
    assert len({style.fill for style in styles}) == 8
    assert len({style.pattern for style in styles[1:]}) == 7


@PALETTES
def test_iterations_differ_in_lightness(palette: ViewPalette) -> None:
    for unit in UNITS:
        style = palette.unit_style(unit)
        lightness = [_luminance(style.fill(iteration).colour) for iteration in range(LEVELS)]
        assert lightness in (sorted(lightness), sorted(lightness, reverse=True))
        assert all(abs(a - b) > 0.015 for a, b in pairwise(lightness))
        assert style.fill(LEVELS) == style.fill(0)


@PALETTES
def test_the_known_units_have_hues_of_their_own_and_patterns_of_their_own(palette: ViewPalette) -> None:
    known = [palette.unit_style(unit) for unit in UNITS[:7]]
    assert {style.levels[0].colour for style in known} == OKABE_ITO
    assert len({style.pattern for style in known}) == 7


def test_the_units_of_a_machine_never_look_alike() -> None:
    machines = sorted(data_folder("machines").glob("*.yaml"))
    assert machines
    for path in machines:
        units = yaml.safe_load(path.read_text())["units"]
        looks = {(LIGHT.unit_style(unit).levels[0].colour, LIGHT.unit_style(unit).pattern) for unit in units}
        assert len(looks) == len(units)


def test_units_that_differ_in_their_last_letter_do_not_look_alike() -> None:
    for first, second in (("x", "y"), ("pipe0", "pipe1"), ("UnitA", "UnitB")):
        assert LIGHT.unit_style(first).levels[0].colour != LIGHT.unit_style(second).levels[0].colour


def test_light_and_dark_show_a_unit_with_the_same_pattern() -> None:
    assert all(LIGHT.unit_style(unit).pattern is DARK.unit_style(unit).pattern for unit in UNITS)
    assert LIGHT.unit_style(None).pattern is Pattern.SOLID
