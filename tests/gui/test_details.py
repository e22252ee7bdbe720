"""The lines of Project and Inspector that lead somewhere, by mouse and by key."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem
from pytestqt.qtbot import QtBot
from states import write_project

from core.resources import data_folder
from twill_gui.main_window import MainWindow

OpenWindow = Callable[..., MainWindow]
LEFT = Qt.MouseButton.LeftButton


def line(tree: QTreeWidget, name: str) -> QTreeWidgetItem:
    """The line of that name."""
    flags = Qt.MatchFlag.MatchRecursive | Qt.MatchFlag.MatchEndsWith
    [found] = [item for item in tree.findItems(name, flags) if item.parent() is not None]
    return found


def follow(bot: QtBot, tree: QTreeWidget, name: str, by_key: bool) -> None:
    """Clicks the line, or goes to it and presses Enter."""
    item = line(tree, name)
    assert item.font(0).underline(), "a link is not told by its colour alone"
    tree.scrollToItem(item)
    if not by_key:
        bot.mouseClick(tree.viewport(), LEFT, pos=tree.visualItemRect(item).center())
        return
    tree.setFocus()
    bot.keyClick(tree, Qt.Key.Key_Home)
    for _ in range(200):
        if tree.currentItem() is item:
            break
        bot.keyClick(tree, Qt.Key.Key_Down)
    bot.keyClick(tree, Qt.Key.Key_Return)


@pytest.mark.parametrize("by_key", [False, True])
def test_another_schedule_is_shown(bot: QtBot, open_window: OpenWindow, tmp_path: Path, by_key: bool) -> None:
    shutil.copytree(data_folder("projects") / "attention_causal_hopper", tmp_path / "causal")
    window = open_window(tmp_path / "causal")
    document = window.document
    follow(bot, window.project_view.tree, "masked", by_key)
    assert document.state is not None and document.state.active == "masked"
    assert document.schedule is document.state.variants["masked"].schedule
    document.undo_stack.undo()
    assert document.state.active == "full"


@pytest.mark.parametrize("by_key", [False, True])
def test_the_inspector_leads_to_neighbours(bot: QtBot, open_window: OpenWindow, tmp_path: Path, by_key: bool) -> None:
    window = open_window(write_project(tmp_path / "p"))
    window.document.select(frozenset({"b"}))
    tree = window.inspector.tree
    [heading] = tree.findItems("Waits for", Qt.MatchFlag.MatchExactly)
    assert heading.childCount() == 1
    neighbour = heading.child(0)
    assert neighbour is not None and neighbour.font(0).underline()
    if by_key:
        tree.setFocus()
        tree.setCurrentItem(neighbour)
        bot.keyClick(tree, Qt.Key.Key_Return)
    else:
        tree.scrollToItem(neighbour)
        bot.mouseClick(tree.viewport(), LEFT, pos=tree.visualItemRect(neighbour).center())
    assert window.document.selection == {"a"}
