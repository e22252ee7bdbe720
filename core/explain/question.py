"""Questions: what is asked to be possible, as a graph and an initiation interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.explain.constraints import may_hold
from core.graph.model import Graph, GroupKind, Pin
from core.schedule.check import check
from core.schedule.edits import move_op
from core.schedule.model import Schedule
from core.schedule.report import Violation
from core.schedule.variations import with_group_counts, with_register_limit
from core.schedule.wording import counted, listed


@dataclass(frozen=True, slots=True)
class Question:
    """Why is there no schedule of `graph` at `ii`?

    `title` names what is asked, to be followed by "is impossible". `asked`: ops whose pins are the question. `staying`:
    ops whose pins only say that they stay on the group where a schedule has them. `group`: the group and its kind that
    is asked for, if one is. `in_place`: what is wrong with that schedule once the ops asked about are where they are
    asked to be and all others stay as they are. `known`: a schedule of the graph before the question changed it; it may
    be one of the changed graph too.
    """

    title: str
    graph: Graph
    ii: int
    asked: tuple[str, ...] = ()
    staying: frozenset[str] = frozenset()
    group: tuple[str, GroupKind] | None = None
    in_place: tuple[Violation, ...] = field(default=())
    known: Schedule | None = None


def why_not_ii(graph: Graph, ii: int) -> Question:
    """Why is there no schedule at this interval, of at least 1?"""
    return Question(f"II {ii}", graph, ii)


def why_not_groups(graph: Graph, counts: Mapping[str, int], ii: int) -> Question:
    """Why not with so many groups of some kinds? Raises KeyError for an unknown kind."""
    words = listed([counted(count, f"{kind} group") for kind, count in counts.items()])
    return Question(f"II {ii} with {words}", with_group_counts(graph, counts), ii)


def why_not_registers(graph: Graph, registers: int, ii: int) -> Question:
    """Why not with at most so many registers per thread?"""
    return Question(
        f"II {ii} with at most {counted(registers, 'register')} a thread", with_register_limit(graph, registers), ii
    )


def why_not_together(graph: Graph, ops: Sequence[str], ii: int) -> Question:
    """Why must these ops, two or more, be apart? Raises KeyError for an unknown op."""
    pins = {op: Pin(graph.pins.get(op, Pin()).start, _TOGETHER) for op in ops if graph.ops[op]}
    asked = replace(graph, pins={**graph.pins, **pins})
    return Question(f"II {ii} with {listed(list(ops))} on one group", asked, ii, tuple(ops))


_TOGETHER = "together"


def why_not_there(
    graph: Graph, op: str, ii: int, group: str | None = None, start: int | None = None, schedule: Schedule | None = None
) -> Question:
    """Why can the op not be on this group, start at this cycle, or both?

    With a group of `schedule`, all other ops stay on their groups (as reasons that may be given up), since a group is
    what is on it. Else `group` is a kind, or KIND.N: a group of at least as many warps. Raises KeyError for an unknown
    op, LookupError for a group that is neither.
    """
    asked = graph.ops[op]
    old = graph.pins.get(op, Pin())
    pins = {**graph.pins, op: Pin(old.start if start is None else start, group or old.group)}
    staying: set[str] = set()
    kind = None if group is None else _kind_of(graph, group, schedule)
    known = schedule is not None and (group is None or group in schedule.groups)
    if schedule is not None and group in schedule.groups:
        for other, place in schedule.ops.items():
            pin = graph.pins.get(other, Pin())
            if other != op and pin.group is None:
                pins[other] = replace(pin, group=place.group)
                staying.add(other)
    elif kind is not None:
        asked = replace(asked, needs_warps=max(asked.needs_warps, kind.warps))
    where = "" if group is None else f" on {group}"
    when = "" if start is None else f" at cycle {start}"
    in_place: tuple[Violation, ...] = ()
    if schedule is not None and known and schedule.ii == ii:
        place = schedule.ops[op]
        moved = move_op(schedule, op, place.start if start is None else start, group)
        in_place = check(graph, moved).violations
    return Question(
        f"II {ii} with {op}{where}{when}",
        replace(graph, pins=pins, ops={**graph.ops, op: asked}),
        ii,
        (op,),
        frozenset(staying),
        None if group is None or kind is None else (group, kind),
        in_place,
    )


def _kind_of(graph: Graph, group: str, schedule: Schedule | None) -> GroupKind:
    kinds = {kind.kind: kind for kind in graph.groups}
    if schedule is not None and group in schedule.groups:
        return kinds[schedule.groups[group].kind]
    name, dot, number = group.rpartition(".")
    if group in kinds:
        return kinds[group]
    if dot and number.isdecimal() and name in kinds:
        return kinds[name]
    raise LookupError(group)


def refused(question: Question) -> bool:
    """Whether the group that is asked for holds no op like the one asked about, wherever all others are."""
    if question.group is None:
        return False
    return not may_hold(question.group[1], question.graph.ops[question.asked[0]])
