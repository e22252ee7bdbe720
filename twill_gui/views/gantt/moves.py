"""Moving one op: where it may go, and what the judge says of every place it is held over. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.schedule.check import Judge
from core.schedule.edits import move_op
from core.schedule.model import Schedule
from core.schedule.report import Family, Report
from core.schedule.windows import windows
from core.schedule.wording import counted
from twill_gui.views.gantt.content import Content, Wait, wait_of
from twill_gui.views.gantt.layout import Bar, GanttMode, LaneKind
from twill_gui.views.gantt.packing import fold


@dataclass(frozen=True, slots=True)
class GhostSpan:
    """A piece of the moved op at its trial place, in one iteration: its issue cycles, a unit block, or its latency
    (`tail`)."""

    lane: int
    start: int
    end: int
    iteration: int = 0
    tail: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """The op at a start on a group, judged."""

    start: int
    group: str
    schedule: Schedule
    report: Report
    broken: tuple[Wait, ...]

    @property
    def verdict(self) -> str:
        """`legal`, `1 violation`, `2 violations`."""
        count = len(self.report.violations)
        return "legal" if not count else counted(count, "violation")


class Move:
    """An op in the hand. `windows` holds, by group, the starts that its neighbours allow, as at the press."""

    def __init__(self, content: Content, op: str) -> None:
        self.op = op
        self.content = content
        self.origin = content.schedule.ops[op]
        self.windows = windows(content.graph, content.schedule, op)
        self._judge = Judge(content.graph)
        self._dependences = content.dependences_of(frozenset({op}))

    def to(self, start: int, group: str) -> Trial:
        """The trial of a start (before cycle 0: cycle 0) on a group of the schedule."""
        start = max(start, 0)
        schedule = move_op(self.content.schedule, self.op, start, group)
        report = self._judge.check(schedule)
        waits = (wait_of(self.content.index, schedule, d) for d in self._dependences)
        return Trial(start, group, schedule, report, tuple(wait for wait in waits if wait.missing))


def ghost_spans(content: Content, op_id: str, trial: Trial) -> list[GhostSpan]:
    """Where the op would be shown, in every iteration that is shown; issue cycles come first."""
    op, place = content.graph.ops[op_id], trial.schedule.ops[op_id]
    lanes = {(lane.kind, lane.name): number for number, lane in enumerate(content.layout.lanes)}
    group = lanes[LaneKind.GROUP, trial.group]
    unit_start = place.start + place.delay
    ranges = [(group, place.start, op.issue_cycles, False), (group, place.start, op.latency + place.delay, True)]
    ranges += [(lanes[LaneKind.UNIT, b.unit], unit_start + b.offset, b.duration, False) for b in op.blocks]
    ii = content.schedule.ii
    if content.layout.mode is GanttMode.FOLDED:
        return [
            GhostSpan(lane, piece.start, piece.end, 0, tail)
            for lane, start, length, tail in ranges
            for piece in fold(start, length, ii)
        ]
    return [
        GhostSpan(lane, start + i * ii, start + i * ii + length, i, tail)
        for i in range(content.layout.iterations)
        for lane, start, length, tail in ranges
    ]


def collisions(
    content: Content, op_id: str, trial: Trial, spans: list[GhostSpan], bars_of: Callable[[str], Iterable[Bar]]
) -> list[GhostSpan]:
    """Where the op would be in the way of another on a unit or in issue: the parts of lanes that both take."""
    lanes = {(lane.kind, lane.name): number for number, lane in enumerate(content.layout.lanes)}
    kinds = {Family.UNIT: LaneKind.UNIT, Family.ISSUE: LaneKind.GROUP}
    found: list[GhostSpan] = []
    for violation in trial.report.violations:
        if violation.family not in kinds or op_id not in violation.ops or violation.subject is None:
            continue
        lane = lanes[kinds[violation.family], violation.subject]
        mine = [span for span in spans if span.lane == lane and not span.tail]
        others = [bar for op in violation.ops if op != op_id for bar in bars_of(op) if bar.lane == lane]
        for bar in others:
            overlaps = ((max(bar.start, span.start), min(bar.end, span.end)) for span in mine)
            found += [GhostSpan(lane, start, end) for start, end in overlaps if start < end]
    return found
