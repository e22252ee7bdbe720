"""The user's edits of the shown schedule, each one undo step of the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from core.graph.model import Pin
from core.schedule.edits import add_group, move_op, nudge, remove_unused_groups
from core.schedule.model import Schedule
from twill_gui.document.document import Document
from twill_gui.document.state import ProjectState, with_active, with_pin, with_schedule


def move(document: Document, op: str, start: int, group: str) -> None:
    """The op starts at `start` on `group`, legal or not. Raises KeyError for an unknown op or group, ValueError for a
    start before cycle 0."""
    _edit_schedule(document, f"Move {op}", lambda schedule: move_op(schedule, op, start, group))


def nudge_ops(document: Document, ops: Iterable[str], cycles: int) -> None:
    """The ops start `cycles` later; nudges of the same ops one after another are one undo step."""
    names = sorted(ops)

    def nudged(schedule: Schedule) -> Schedule:
        for op in names:
            schedule = nudge(schedule, op, cycles)
        return schedule

    text = f"Nudge {names[0]}" if len(names) == 1 else f"Nudge {len(names)} operations"
    _edit_schedule(document, text, nudged, merge=f"nudge {names}")


def move_to_neighbour(document: Document, ops: Iterable[str], lanes: tuple[str, ...], step: int) -> None:
    """The ops go to the warp group `step` lanes further down; one at the edge stays. `lanes`: groups in their order."""
    names = sorted(ops)

    def moved(schedule: Schedule) -> Schedule:
        for op in names:
            place = schedule.ops[op]
            lane = min(max(lanes.index(place.group) + step, 0), len(lanes) - 1)
            schedule = move_op(schedule, op, place.start, lanes[lane])
        return schedule

    text = f"Move {names[0]}" if len(names) == 1 else f"Move {len(names)} operations"
    _edit_schedule(document, text + " to another warp group", moved)


def add_warp_group(document: Document) -> bool:
    """One more lane, of the kind that the selected op is on if the loop may have more of these, else of the first
    such kind. It has the largest grant of its kind, so that ops can be moved there as they are. False if the loop may
    have no more groups."""
    graph, schedule = document.graph, document.schedule
    if graph is None or schedule is None:
        return False
    kinds = [kind.kind for kind in graph.groups if kind.count > _count(schedule, kind.kind)]
    selected = [schedule.groups[schedule.ops[op].group].kind for op in sorted(document.selection)]
    chosen = next((kind for kind in selected if kind in kinds), kinds[0] if kinds else None)
    if chosen is None:
        return False
    name = next(name for n in range(len(schedule.groups) + 1) if (name := f"{chosen}.{n}") not in schedule.groups)
    least = graph.machine.registers.granularity
    grant = max((group.grant for group in schedule.groups.values() if group.kind == chosen), default=least)
    _edit_schedule(document, f"Add warp group {name}", lambda schedule: add_group(schedule, name, chosen, grant))
    return True


def remove_empty_groups(document: Document) -> None:
    """Without the lanes of warp groups that have no ops."""
    _edit_schedule(document, "Remove empty warp groups", remove_unused_groups)


def _count(schedule: Schedule, kind: str) -> int:
    return sum(group.kind == kind for group in schedule.groups.values())


def toggle_pins(document: Document, ops: Iterable[str]) -> None:
    """Pins the ops where they are; if all of them are pinned, frees them."""
    names = sorted(ops)
    graph, schedule = document.graph, document.schedule
    if graph is None or schedule is None:
        return
    free = all(op in graph.pins for op in names)

    def pinned(state: ProjectState) -> ProjectState:
        for op in names:
            place = schedule.ops[op]
            state = with_pin(state, op, None if free else Pin(place.start, place.group))
        return state

    what = names[0] if len(names) == 1 else f"{len(names)} operations"
    document.edit(f"{'Unpin' if free else 'Pin'} {what}", pinned)


def show_schedule(document: Document, name: str) -> None:
    """Shows another of the project's schedules. Raises KeyError if there is none of that name."""
    document.edit(f"Show schedule {name}", lambda state: with_active(state, name))


def _edit_schedule(
    document: Document, text: str, change: Callable[[Schedule], Schedule], merge: str | None = None
) -> None:
    def changed(state: ProjectState) -> ProjectState:
        variant = state.variant
        if variant.schedule is None:
            return state
        schedule = change(variant.schedule)
        same = (schedule.ops, schedule.groups) == (variant.schedule.ops, variant.schedule.groups)
        return state if same else with_schedule(state, state.active, schedule)

    document.edit(text, changed, merge)
