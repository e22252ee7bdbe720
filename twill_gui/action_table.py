"""The table of the window's actions: texts, keys and what each one needs. ui.md names the keys."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, auto


class Menu(Enum):
    """The menus, in their order."""

    FILE = "&File"
    EDIT = "&Edit"
    VIEW = "&View"
    SCHEDULE = "&Schedule"
    HELP = "&Help"


class Needs(Enum):
    """What must be there for an action to make sense."""

    NOTHING = "nothing"
    DOCUMENT = "an open project"
    SCHEDULE = "a schedule"
    SELECTION = "a selected operation"
    IDLE = "an open project and no running solve"
    RUNNING = "a running solve, explanation or repair"


class Style(Flag):
    """How an action appears."""

    PLAIN = 0
    TOOLBAR = auto()
    LABELLED = auto()  # with its text beside the icon
    SEPARATED = auto()  # a line above it in its menu
    CHECKABLE = auto()
    CHART = auto()  # its keys work in the chart only, since lists and text fields use them themselves


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action; `icon` names a file of `resources/icons`."""

    name: str
    menu: Menu
    text: str
    keys: tuple[str, ...] = ()
    tip: str = ""
    icon: str | None = None
    needs: Needs = Needs.NOTHING
    style: Style = Style.PLAIN


_F, _E, _V, _S, _H = Menu.FILE, Menu.EDIT, Menu.VIEW, Menu.SCHEDULE, Menu.HELP
_DOC, _SCHED, _SEL = Needs.DOCUMENT, Needs.SCHEDULE, Needs.SELECTION
_BAR, _LABEL = Style.TOOLBAR, Style.LABELLED
_LINE, _CHECK, _CHART = Style.SEPARATED, Style.CHECKABLE, Style.CHART
_MOVE = "Move the selected operation"
ACTIONS = (
    ActionSpec("new", _F, "&New…", ("Ctrl+N",), "Begin a project with a TTGIR or graph file"),
    ActionSpec("open", _F, "&Open…", ("Ctrl+O",), "Open a project, TTGIR or graph file", "open", style=_BAR),
    ActionSpec("save", _F, "&Save", ("Ctrl+S",), "Save the project and its schedules", "save", _DOC, style=_BAR),
    ActionSpec("save_as", _F, "Save &as…", ("Ctrl+Shift+S",), "Save the project under another name", needs=_DOC),
    ActionSpec(
        "export",
        _F,
        "&Export…",
        ("Ctrl+Shift+E",),
        "The schedule as annotated TTGIR, for Triton, as CUDA kernel, sheet, trace, JSON or picture, with a preview",
        needs=_SCHED,
        style=_LINE,
    ),
    ActionSpec(
        "copy_picture",
        _F,
        "Copy &picture",
        ("Ctrl+Shift+C",),
        "Copy the view that has the focus, or the chart, as a picture",
        needs=_DOC,
    ),
    ActionSpec(
        "save_picture",
        _F,
        "Save p&icture…",
        (),
        "Save the view that has the focus, or the chart, as PNG, SVG or PDF",
        needs=_DOC,
    ),
    ActionSpec("close", _F, "&Close", ("Ctrl+W",), "Close the project", needs=_DOC, style=_LINE),
    ActionSpec("quit", _F, "&Quit", ("Ctrl+Q",), "Leave the program"),
    ActionSpec("undo", _E, "&Undo", ("Ctrl+Z",), "Undo the last edit", "undo", style=_BAR),
    ActionSpec("redo", _E, "&Redo", ("Ctrl+Shift+Z", "Ctrl+Y"), "Redo the edit undone last", "redo", style=_BAR),
    ActionSpec("select_all", _E, "Select &all", ("Ctrl+A",), "Select all operations", needs=_SCHED, style=_LINE),
    ActionSpec(
        "clear", _E, "&Clear selection", ("Esc",), "Cancel a drag, then clear the selection", needs=_SCHED, style=_CHART
    ),
    ActionSpec(
        "find", _E, "&Find…", ("Ctrl+F",), "Find an operation by its name, kind, warp group or line", needs=_DOC
    ),
    ActionSpec("nudge_left", _E, "Move one cycle &earlier", ("Alt+Left",), _MOVE, needs=_SEL, style=_LINE),
    ActionSpec("nudge_right", _E, "Move one cycle &later", ("Alt+Right",), _MOVE, needs=_SEL),
    ActionSpec("nudge_left_far", _E, "Move ten cycles earlier", ("Alt+Shift+Left",), _MOVE, needs=_SEL),
    ActionSpec("nudge_right_far", _E, "Move ten cycles later", ("Alt+Shift+Right",), _MOVE, needs=_SEL),
    ActionSpec("group_up", _E, "Move to the warp group above", ("Alt+Up",), _MOVE, needs=_SEL),
    ActionSpec("group_down", _E, "Move to the warp group below", ("Alt+Down",), _MOVE, needs=_SEL),
    ActionSpec("add_group", _E, "Add a &warp group", (), "One more lane to move operations to", needs=_SCHED),
    ActionSpec(
        "remove_groups", _E, "Remove empty warp groups", (), "Take away the lanes without operations", needs=_SCHED
    ),
    ActionSpec(
        "pin",
        _E,
        "&Pin or unpin",
        ("P",),
        "Fix the selected operation where it is, for later solves",
        "pin",
        _SEL,
        style=_LINE,
    ),
    ActionSpec(
        "unrolled",
        _V,
        "&Unrolled",
        ("U",),
        "Show prologue, steady iterations and epilogue instead of one II",
        "unrolled",
        _SCHED,
        style=_BAR | _LABEL | _CHECK,
    ),
    ActionSpec(
        "zoom_in",
        _V,
        "Zoom &in",
        ("W", "Ctrl++", "Ctrl+="),
        "Zoom into the time axis",
        "zoom-in",
        _SCHED,
        style=_BAR | _LINE,
    ),
    ActionSpec(
        "zoom_out", _V, "Zoom &out", ("S", "Ctrl+-"), "Zoom out of the time axis", "zoom-out", _SCHED, style=_BAR
    ),
    ActionSpec("fit", _V, "&Fit", ("Home", "Ctrl+0"), "Show the whole time axis", "fit", _SCHED, style=_BAR | _CHART),
    ActionSpec("center", _V, "&Centre on the selection", ("F",), "Centre on the selection, then fit it", needs=_SEL),
    ActionSpec("pan_left", _V, "Pan left", ("A",), "Show earlier cycles", needs=_SCHED),
    ActionSpec("pan_right", _V, "Pan right", ("D",), "Show later cycles", needs=_SCHED),
    ActionSpec("lanes_up", _V, "Lanes up", ("PgUp",), "Scroll to the lanes above", needs=_SCHED, style=_CHART),
    ActionSpec("lanes_down", _V, "Lanes down", ("PgDown",), "Scroll to the lanes below", needs=_SCHED, style=_CHART),
    ActionSpec(
        "next", _V, "Next on the lane", (".",), "Select the next operation of the lane", needs=_SCHED, style=_LINE
    ),
    ActionSpec(
        "previous", _V, "Previous on the lane", (",",), "Select the previous operation of the lane", needs=_SCHED
    ),
    ActionSpec("extend_next", _V, "Next as well", (">",), "Select the next operation of the lane too", needs=_SEL),
    ActionSpec(
        "extend_previous", _V, "Previous as well", ("<",), "Select the previous one of the lane too", needs=_SEL
    ),
    ActionSpec("select_range", _V, "&Range of the selection", ("R",), "Mark the time it takes", needs=_SEL),
    ActionSpec(
        "predecessor", _V, "Predecessor", ("[",), "Select an operation that the selected one waits for", needs=_SEL
    ),
    ActionSpec("successor", _V, "Successor", ("]",), "Select an operation that waits for the selected one", needs=_SEL),
    ActionSpec(
        "source_line",
        _V,
        "Source &line",
        ("Return",),
        "Show the line of the selected operation in the IR text",
        needs=_SEL,
        style=_CHART,
    ),
    ActionSpec(
        "all_dependences",
        _V,
        "All &dependences",
        ("Shift+D",),
        "Draw the arrows of all dependences",
        needs=_SCHED,
        style=_CHECK,
    ),
    ActionSpec(
        "solve",
        _S,
        "&Solve",
        ("Ctrl+R",),
        "Search the least initiation interval, with proof",
        "solve",
        Needs.IDLE,
        style=_BAR | _LABEL,
    ),
    ActionSpec(
        "cancel",
        _S,
        "&Cancel",
        ("Ctrl+.",),
        "Stop the running solve, explanation or repair, keeping the best so far",
        "cancel",
        Needs.RUNNING,
        style=_BAR,
    ),
    ActionSpec(
        "copy_solve",
        _S,
        "Copy solve as command &line",
        (),
        "Copy the command that solves this without the window",
        needs=_DOC,
    ),
    ActionSpec(
        "copy_check",
        _S,
        "Copy check as command line",
        (),
        "Copy the command that judges the shown schedule without the window",
        needs=_SCHED,
    ),
    ActionSpec(
        "copy_repair",
        _S,
        "Copy repair as command line",
        (),
        "Copy the command that repairs the saved schedule with what was moved since",
        needs=_SCHED,
    ),
    ActionSpec(
        "why_not_ii",
        _S,
        "&Why not a smaller II?",
        ("Ctrl+E",),
        "Explain what excludes one cycle less, and what would make it possible",
        needs=_DOC,
        style=_LINE,
    ),
    ActionSpec(
        "explain_op",
        _S,
        "Why not &elsewhere?",
        ("E",),
        "Explain why the selected operation cannot be on another group, or earlier",
        needs=_SEL,
    ),
    ActionSpec(
        "repair",
        _S,
        "Rep&air",
        ("Ctrl+Shift+R",),
        "Make the schedule legal again: what was moved stays there, and the fewest other operations move",
        needs=_SCHED,
        style=_LINE,
    ),
    ActionSpec(
        "push",
        _S,
        "&Push dependents",
        ("Ctrl+Shift+D",),
        "What depends on the moved or selected operations makes room for them",
        needs=_SCHED,
    ),
    ActionSpec(
        "compact",
        _S,
        "C&ompact",
        ("Ctrl+Shift+K",),
        "Start every operation as early as orders and groups allow",
        needs=_SCHED,
    ),
    ActionSpec(
        "keep_copy",
        _S,
        "&Keep a copy",
        ("Ctrl+D",),
        "Keep the shown schedule under another name, to compare with it later",
        needs=_SCHED,
        style=_LINE,
    ),
    ActionSpec(
        "open_run",
        _S,
        "&Measured run…",
        (),
        "Show what a run on a GPU has seen over the plan, and the costs that it proposes",
        needs=_SCHED,
    ),
    ActionSpec(
        "remove_schedule", _S, "&Remove schedule", (), "Take the shown schedule out of the project", needs=_SCHED
    ),
    ActionSpec("palette", _H, "&Commands…", ("Ctrl+Shift+P",), "Search all commands by name, and run one"),
    ActionSpec("guide", _H, "&Guide", ("F1",), "What can be done here, step by step"),
    ActionSpec("keys", _H, "All &keys", ("?",), "List every key of the window"),
    ActionSpec("about", _H, "&About", (), "Versions of the program and its parts"),
)
