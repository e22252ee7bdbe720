"""Light and dark: readable by the numbers, applied at once, remembered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QApplication
from states import write_project

from twill_gui.action_table import ACTIONS
from twill_gui.icons import icon
from twill_gui.main_window import MainWindow
from twill_gui.palette import contrast
from twill_gui.settings import Settings
from twill_gui.theme import DARK, LIGHT, Colors, Theme, palette


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_is_readable_on_every_ground(colors: Colors) -> None:
    for text in (colors.text, colors.muted, colors.link, colors.error, colors.warning, colors.good):
        for ground in (colors.window, colors.panel, colors.base, colors.alternate, colors.button):
            assert contrast(text, ground) >= 4.5, (text, ground)
    assert contrast(colors.on_accent, colors.accent) >= 4.5


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_a_label_that_says_there_is_nothing_can_be_read(colors: Colors, qapp: QApplication) -> None:
    """Such labels are disabled, as Qt has it."""
    role, disabled = QPalette.ColorRole, QPalette.ColorGroup.Disabled
    text = palette(colors).color(disabled, role.WindowText).name()
    for ground in (role.Window, role.Base):
        assert contrast(text, palette(colors).color(disabled, ground).name()) >= 4.5


def test_the_theme_is_applied_at_once_and_remembered(
    qapp: QApplication, open_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = open_window(write_project(tmp_path / "p"))
    light = window.grab().toImage().pixelColor(5, window.height() // 2)
    [dark] = [action for action in window.findChildren(QAction) if action.text() == "Dark"]
    dark.trigger()
    assert qapp.palette().window().color().name() == DARK.window
    assert window.grab().toImage().pixelColor(5, window.height() // 2).lightness() < light.lightness()
    assert Settings(tmp_path / "window.ini").theme is Theme.DARK
    [back] = [action for action in window.findChildren(QAction) if action.text() == "Light"]
    back.trigger()
    assert qapp.palette().window().color().name() == LIGHT.window


def test_every_action_has_its_icon_file(qapp: QApplication) -> None:
    for spec in ACTIONS:
        if spec.icon:
            assert not icon(spec.icon, LIGHT).isNull()


def test_keys_are_unique() -> None:
    keys = [key for spec in ACTIONS for key in spec.keys]
    assert len(keys) == len(set(keys))
