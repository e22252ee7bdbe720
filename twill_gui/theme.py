"""Light and dark Fusion palettes of our own, and following the system's choice between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from core.resources import data_folder


class Theme(Enum):
    """What the user chose."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Colors:
    """The colours of one appearance, as `#rrggbb`. Every text colour has a contrast of at least 4.5 on its ground."""

    dark: bool
    window: str
    panel: str  # dock titles, headers, status bar
    base: str  # lists, tables, the chart
    alternate: str
    button: str
    line: str
    text: str
    muted: str  # secondary text
    disabled: str
    accent: str
    on_accent: str
    link: str
    error: str
    warning: str
    good: str


LIGHT = Colors(
    dark=False,
    window="#f2f4f7",
    panel="#e7eaef",
    base="#ffffff",
    alternate="#f6f8fa",
    button="#fbfcfd",
    line="#cdd3db",
    text="#1c2128",
    muted="#57606a",
    disabled="#8a929c",
    accent="#1f5fbf",
    on_accent="#ffffff",
    link="#0b57b0",
    error="#b3261e",
    warning="#8a5300",
    good="#1a6e37",
)

DARK = Colors(
    dark=True,
    window="#1f2329",
    panel="#282d35",
    base="#16181c",
    alternate="#1c2026",
    button="#2c323b",
    line="#3b424d",
    text="#e4e8ee",
    muted="#a3acb8",
    disabled="#707986",
    accent="#2f6bc4",
    on_accent="#ffffff",
    link="#78b4ff",
    error="#ff8f86",
    warning="#f0b75a",
    good="#76d08f",
)


def palette(colors: Colors) -> QPalette:
    """The colours as a QPalette for the Fusion style."""
    role = QPalette.ColorRole
    result = QPalette()
    for key, value in (
        (role.Window, colors.window),
        (role.WindowText, colors.text),
        (role.Base, colors.base),
        (role.AlternateBase, colors.alternate),
        (role.Text, colors.text),
        (role.PlaceholderText, colors.muted),
        (role.Button, colors.button),
        (role.ButtonText, colors.text),
        (role.BrightText, colors.error),
        (role.ToolTipBase, colors.panel),
        (role.ToolTipText, colors.text),
        (role.Highlight, colors.accent),
        (role.HighlightedText, colors.on_accent),
        (role.Accent, colors.accent),
        (role.Link, colors.link),
        (role.LinkVisited, colors.link),
        (role.Light, colors.button),
        (role.Midlight, colors.panel),
        (role.Mid, colors.line),
        (role.Dark, colors.line),
    ):
        result.setColor(key, QColor(value))
    for key in (role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, key, QColor(colors.disabled))
    result.setColor(QPalette.ColorGroup.Disabled, role.WindowText, QColor(colors.muted))  # labels are read all the same
    result.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(colors.line))
    return result


def style_sheet(colors: Colors) -> str:
    """What Fusion does not take from a palette: flat dock titles, tool bars and headers with thin lines,
    and boxes whose outline is seen in the dark."""
    check = (data_folder("resources") / "icons" / "check.svg").as_posix()
    return f"""
    QMainWindow::separator {{ background: {colors.window}; width: 4px; height: 4px; }}
    QMainWindow::separator:hover {{ background: {colors.accent}; }}
    QDockWidget {{ font-weight: 600; }}
    QDockWidget::title {{ background: {colors.panel}; padding: 5px 8px; }}
    QDockWidget > QWidget {{ font-weight: normal; }}
    QToolBar {{ background: {colors.window}; border: 0; border-bottom: 1px solid {colors.line}; padding: 3px 6px;
        spacing: 2px; }}
    QToolBar::separator {{ background: {colors.line}; width: 1px; margin: 4px 6px; }}
    QToolBar QToolButton {{ border: 0; border-radius: 4px; padding: 4px 6px; }}
    QToolBar QToolButton:hover {{ background: {colors.panel}; }}
    QToolBar QToolButton:pressed, QToolBar QToolButton:checked {{ background: {colors.line}; }}
    QStatusBar {{ background: {colors.panel}; border-top: 1px solid {colors.line}; }}
    QStatusBar::item {{ border: 0; }}
    QStatusBar #separator {{ color: {colors.line}; }}
    QTreeView, QTableView {{ border: 0; background: {colors.base}; }}
    QTreeView::item {{ padding: 1px 0; }}
    QTableView::item {{ padding: 0 5px; }}
    QHeaderView {{ background: {colors.panel}; border: 0; }}
    QHeaderView::section {{ background: {colors.panel}; border: 0; border-right: 1px solid {colors.line};
        padding: 3px 6px; }}
    QHeaderView::section:last {{ border-right: 0; }}
    QCheckBox::indicator {{ width: 14px; height: 14px; border: 1px solid {colors.muted}; border-radius: 3px;
        background: {colors.base}; }}
    QCheckBox::indicator:checked {{ border-color: {colors.accent}; background: {colors.accent};
        image: url("{check}"); }}
    QCheckBox::indicator:disabled {{ border-color: {colors.line}; background: {colors.window}; }}
    QCheckBox::indicator:focus {{ border: 2px solid {colors.accent}; width: 12px; height: 12px; }}
    QToolTip {{ background: {colors.panel}; color: {colors.text}; border: 1px solid {colors.line}; padding: 3px; }}
    """


class Appearance(QObject):
    """Applies the chosen theme to the application and follows the system while the choice is SYSTEM."""

    changed = Signal()

    def __init__(self, app: QApplication, theme: Theme = Theme.SYSTEM) -> None:
        super().__init__(app)
        self._app = app
        self._theme = theme
        self._colors = LIGHT
        app.setStyle(QStyleFactory.create("Fusion"))
        app.styleHints().colorSchemeChanged.connect(self._apply)
        self._apply()

    @property
    def theme(self) -> Theme:
        """The user's choice."""
        return self._theme

    @property
    def colors(self) -> Colors:
        """The colours in use."""
        return self._colors

    def set_theme(self, theme: Theme) -> None:
        """Chooses a theme and applies it at once."""
        self._theme = theme
        self._apply()

    def _apply(self) -> None:
        dark = self._theme is Theme.DARK or (
            self._theme is Theme.SYSTEM and self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        )
        self._colors = DARK if dark else LIGHT
        self._app.setPalette(palette(self._colors))
        self._app.setStyleSheet(style_sheet(self._colors))
        self.changed.emit()
