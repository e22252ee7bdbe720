"""Where the keys go: neighbours on a lane, tightest predecessors and successors. No Qt."""

from __future__ import annotations

from twill_gui.views.gantt.content import Content
from twill_gui.views.gantt.layout import group_lanes


def neighbour_on_lane(content: Content, op: str, step: int) -> str:
    """The op that starts next (1) or before (-1) on the same group, by slot, around the interval's end."""
    schedule = content.schedule
    group = schedule.ops[op].group
    on_lane = [name for name in content.graph.ops if schedule.ops[name].group == group]
    on_lane.sort(key=schedule.slot)
    return on_lane[(on_lane.index(op) + step) % len(on_lane)]


def first_op(content: Content) -> str:
    """Where the keys begin when nothing is selected: the first op of the first lane that has one."""
    schedule = content.schedule
    lanes = {name: number for number, name in enumerate(group_lanes(content.graph, schedule))}
    return min(schedule.ops, key=lambda op: (lanes[schedule.ops[op].group], schedule.slot(op)))


def predecessor(content: Content, op: str) -> str | None:
    """The op that `op` waits for most tightly; None if it waits for none but itself."""
    waits = [content.wait(d) for d in content.graph.dependences if d.target == op != d.source]
    return min(waits, key=lambda wait: wait.slack).dependence.source if waits else None


def successor(content: Content, op: str) -> str | None:
    """The op that waits for `op` most tightly; None if none but itself does."""
    waits = [content.wait(d) for d in content.graph.dependences if d.source == op != d.target]
    return min(waits, key=lambda wait: wait.slack).dependence.target if waits else None


def neighbour_group(content: Content, op: str, step: int) -> str | None:
    """The warp group one lane below (1) or above (-1); None at the end."""
    lanes = group_lanes(content.graph, content.schedule)
    number = lanes.index(content.schedule.ops[op].group) + step
    return lanes[number] if 0 <= number < len(lanes) else None
