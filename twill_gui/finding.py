"""The command palette, and finding an operation by its name, kind, group or line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twill_gui.action_table import ACTIONS
from twill_gui.actions import key_text
from twill_gui.dialogs.chooser import Choice, Chooser

if TYPE_CHECKING:
    from twill_gui.main_window import MainWindow

_PALETTE = "palette"


def open_palette(window: MainWindow) -> Chooser:
    """A list of all actions that can be used now; the one chosen is done."""
    choices = [
        Choice(spec.text.replace("&", "").rstrip("…"), spec.tip, key_text(spec), spec.name)
        for spec in ACTIONS
        if spec.name != _PALETTE and window.actions_by_name[spec.name].isEnabled()
    ]
    chooser = Chooser("Commands", "What do you want to do?", choices, window)
    chooser.chosen.connect(lambda name: window.actions_by_name[name].trigger())
    chooser.open()
    return chooser


def open_find(window: MainWindow) -> Chooser | None:
    """A list of all operations; the marked one is selected in all views, and shown in the middle once it is chosen."""
    graph, schedule = window.document.graph, window.document.schedule
    if graph is None:
        return None
    choices: list[Choice] = []
    for op in graph.ops.values():
        group = schedule.ops[op.id].group if schedule else ""
        place = f"line {op.line}" if op.line is not None else ""
        choices.append(Choice(op.id, f"{op.kind}  {group}".rstrip(), place, op.id))
    before = window.document.selection
    chooser = Chooser("Find operation", "Name, kind, warp group or line", choices, window)
    chooser.moved_to.connect(lambda op: window.document.select(frozenset({op})))

    def choose(op: str) -> None:
        window.document.select(frozenset({op}))
        window.gantt.center_selection()

    chooser.chosen.connect(choose)
    chooser.rejected.connect(lambda: window.document.select(before))
    chooser.open()
    return chooser
