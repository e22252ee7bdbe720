"""Every action of the window, by name: menus, tool bar, keys and icons, made from one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence, QUndoStack
from PySide6.QtWidgets import QMainWindow, QMenu, QToolBar, QToolButton, QWidget

from twill_gui.action_table import ACTIONS, ActionSpec, Menu, Needs, Style
from twill_gui.icons import icon
from twill_gui.theme import Colors


class Actions(QObject):
    """The QActions of a window, by the names of the table."""

    def __init__(self, window: QMainWindow, chart: QWidget) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        for spec in ACTIONS:
            action = QAction(spec.text, self)
            in_chart = Style.CHART in spec.style
            action.setObjectName(spec.name)
            action.setShortcuts([QKeySequence(key) for key in spec.keys])
            action.setCheckable(Style.CHECKABLE in spec.style)
            keys = f" ({key_text(spec)})" if spec.keys else ""
            action.setToolTip(f"{spec.tip}{keys}")
            action.setStatusTip(spec.tip)
            action.setShortcutContext(
                Qt.ShortcutContext.WidgetWithChildrenShortcut if in_chart else Qt.ShortcutContext.WindowShortcut
            )
            (chart if in_chart else window).addAction(action)
            self._actions[spec.name] = action

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def connect_all(self, slots: dict[str, Callable[[], object]]) -> None:
        """Connects the named actions; the checked state of checkable ones is theirs to read."""
        for name, slot in slots.items():
            self._actions[name].triggered.connect(lambda _=False, slot=slot: slot())

    def fill_menus(self, window: QMainWindow) -> dict[Menu, QMenu]:
        """Builds the menu bar; returns the menus for what is not in the table (recent files, docks, themes)."""
        menus = {menu: window.menuBar().addMenu(menu.value) for menu in Menu}
        for spec in ACTIONS:
            if Style.SEPARATED in spec.style:
                menus[spec.menu].addSeparator()
            menus[spec.menu].addAction(self._actions[spec.name])
        return menus

    def fill_toolbar(self, toolbar: QToolBar) -> None:
        """Adds the actions of the tool bar, menu by menu."""
        previous: ActionSpec | None = None
        for spec in (spec for spec in ACTIONS if Style.TOOLBAR in spec.style):
            if previous is not None and previous.menu is not spec.menu:
                toolbar.addSeparator()
            toolbar.addAction(self._actions[spec.name])
            button = toolbar.widgetForAction(self._actions[spec.name])
            if Style.LABELLED in spec.style and isinstance(button, QToolButton):
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            previous = spec

    def set_colors(self, colors: Colors) -> None:
        """Draws the icons for the theme in use."""
        for spec in ACTIONS:
            if spec.icon:
                self._actions[spec.name].setIcon(icon(spec.icon, colors))

    def enable(self, available: Iterable[Needs]) -> None:
        """Enables what the available things allow; undo and redo follow their stack instead."""
        present = {Needs.NOTHING, *available}
        for spec in ACTIONS:
            if spec.name not in ("undo", "redo"):
                self._actions[spec.name].setEnabled(spec.needs in present)

    def follow(self, stack: QUndoStack) -> None:
        """Undo and redo say what they would do, and can be used if there is something to do."""
        for name, possible, text in (
            ("undo", stack.canUndo(), stack.undoText()),
            ("redo", stack.canRedo(), stack.redoText()),
        ):
            self._actions[name].setEnabled(possible)
            self._actions[name].setText(f"&{name.capitalize()} {text}".rstrip())


def key_text(spec: ActionSpec) -> str:
    """The action's keys as the user's platform writes them, "" if it has none."""
    return ", ".join(QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in spec.keys)
