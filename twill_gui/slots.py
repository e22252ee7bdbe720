"""What each action of the window does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from twill_gui.command_lines import check_command, repair_command, solve_command
from twill_gui.dialogs.about import show_about
from twill_gui.dialogs.guide import GuideDialog
from twill_gui.dialogs.keys import KeysDialog
from twill_gui.document import editing, settings
from twill_gui.document.state import ProjectState
from twill_gui.finding import open_find, open_palette
from twill_gui.views.gantt import GanttMode, group_lanes

if TYPE_CHECKING:
    from twill_gui.main_window import MainWindow


def slots(window: MainWindow) -> dict[str, Callable[[], object]]:
    """A function for every action of the table that does something by itself, by the action's name."""
    document, gantt = window.document, window.gantt
    stack = document.undo_stack

    def nudge(cycles: int) -> Callable[[], None]:
        return lambda: editing.nudge_ops(document, document.selection, cycles)

    return {
        "new": window.files.choose_input,
        "open": window.files.choose,
        "save": window.files.save,
        "save_as": window.files.save_as,
        "export": window.exporting.open_dialog,
        "copy_picture": lambda: window.pictures.copy(window.pictures.current),
        "save_picture": lambda: window.pictures.save(window.pictures.current),
        "close": window.files.close,
        "quit": window.close,
        "undo": stack.undo,
        "redo": stack.redo,
        "select_all": lambda: document.select(frozenset(document.graph.ops if document.graph else ())),
        "clear": lambda: gantt.cancel_drag() or window.repairing.dismiss() or gantt.cancel(),
        "nudge_left": nudge(-1),
        "nudge_right": nudge(1),
        "nudge_left_far": nudge(-10),
        "nudge_right_far": nudge(10),
        "group_up": lambda: _move_to_neighbour(window, -1),
        "group_down": lambda: _move_to_neighbour(window, 1),
        "add_group": lambda: _add_group(window),
        "remove_groups": lambda: editing.remove_empty_groups(document),
        "pin": lambda: editing.toggle_pins(document, document.selection),
        "unrolled": lambda: _toggle_unrolled(window),
        "zoom_in": gantt.zoom_in,
        "zoom_out": gantt.zoom_out,
        "fit": gantt.fit,
        "center": gantt.center_selection,
        "pan_left": gantt.pan_left,
        "pan_right": gantt.pan_right,
        "next": gantt.select_next,
        "previous": gantt.select_previous,
        "extend_next": gantt.extend_next,
        "extend_previous": gantt.extend_previous,
        "select_range": gantt.select_range,
        "lanes_up": lambda: gantt.scroll_lanes(-1),
        "lanes_down": lambda: gantt.scroll_lanes(1),
        "predecessor": gantt.select_predecessor,
        "successor": gantt.select_successor,
        "source_line": lambda: window.open_line(min(document.selection)),
        "all_dependences": lambda: _toggle_arrows(window),
        "solve": window.solving.solve,
        "cancel": lambda: (window.solving.cancel(), window.explaining.cancel(), window.repairing.cancel()),
        "repair": window.repairing.repair,
        "push": window.repairing.push,
        "compact": window.repairing.compact,
        "copy_solve": lambda: _copy_command(window, solve_command),
        "copy_check": lambda: _copy_command(window, check_command),
        "copy_repair": lambda: _copy_repair(window),
        "why_not_ii": window.explaining.ask_smaller_ii,
        "explain_op": lambda: window.explaining.ask_about(min(document.selection)),
        "keep_copy": lambda: settings.keep_copy(document),
        "open_run": window.tool_docks.open_run,
        "remove_schedule": lambda: settings.remove_schedule(document),
        "find": lambda: open_find(window),
        "palette": lambda: open_palette(window),
        "guide": lambda: GuideDialog(window).show(),
        "keys": lambda: KeysDialog(window).open(),
        "about": lambda: show_about(window),
    }


def _copy_command(window: MainWindow, command: Callable[[ProjectState], str]) -> None:
    state = window.document.state
    if state is None:
        return
    QGuiApplication.clipboard().setText(command(state))
    reads = " It reads the files on disk: save your changes first." if window.document.modified else ""
    window.status.showMessage(f"Copied.{reads}")


def _copy_repair(window: MainWindow) -> None:
    state, saved = window.document.state, window.files.saved_schedule()
    if state is None or saved is None:
        window.status.showMessage("There is no saved schedule to repair")
        return
    QGuiApplication.clipboard().setText(repair_command(state, saved))
    window.status.showMessage("Copied")


def _move_to_neighbour(window: MainWindow, step: int) -> None:
    graph, schedule = window.document.graph, window.document.schedule
    if graph and schedule:
        editing.move_to_neighbour(window.document, window.document.selection, group_lanes(graph, schedule), step)


def _add_group(window: MainWindow) -> None:
    if not editing.add_warp_group(window.document):
        window.status.showMessage("The loop may have no more warp groups; their number is in Settings", 10_000)


def _toggle_unrolled(window: MainWindow) -> None:
    unrolled = window.actions_by_name["unrolled"].isChecked()
    window.gantt.set_mode(GanttMode.UNROLLED if unrolled else GanttMode.FOLDED)


def _toggle_arrows(window: MainWindow) -> None:
    window.gantt.set_show_all_dependences(window.actions_by_name["all_dependences"].isChecked())
