"""A measured run over the plan: the same trace with what was seen beside it, and where the two differ op by op."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from core.diagnostics import error
from core.export.marks_file import CYCLES, Mark, Marks
from core.export.trace import chrome_trace
from core.graph.fuse import Fusion
from core.graph.model import Graph, Op
from core.schedule.expansion import shown_iterations
from core.schedule.model import Schedule

_LEAST_SHARE, _LEAST_CYCLES = 0.1, 8
"""A cost is proposed where it was seen to be off by more than a tenth and by more cycles than reading a clock twice."""


@dataclass(frozen=True, slots=True)
class SeenOp:
    """One op: cycles that its group was at it, by plan and as seen, and when it began after the first op of its group
    in the same iteration. Medians over the iterations seen."""

    op: str
    group: str
    planned_issue: int
    seen_issue: int
    planned_offset: int
    seen_offset: int
    iterations: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A cost that the run suggests, as the project's overrides have it; never applied by itself."""

    op: str
    what: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Plan and run of a loop. `seen_ii`: the median time from one iteration of an op to the next, None for one
    iteration; of costs, only what a GPU's clock measured is proposed."""

    clock: str
    iterations: int
    planned_ii: int
    seen_ii: float | None
    ops: tuple[SeenOp, ...]
    proposals: tuple[Proposal, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def compared(graph: Graph, schedule: Schedule, fusion: Fusion | None, marks: Marks) -> Comparison:
    """Where the run differs from the plan. Raises InputError if it is the run of another kernel or schedule."""
    by_role = _held(graph, schedule, fusion, marks)
    ops: list[SeenOp] = []
    steps: list[int] = []
    for group, seen in by_role.items():
        begins: dict[str, dict[int, Mark]] = {}
        for mark in seen:
            begins.setdefault(mark.op, {})[mark.iteration] = mark
        if not begins:
            continue
        first = min(begins, key=lambda op: schedule.ops[op].start)
        for op, found in begins.items():
            steps += [b.begin - a.begin for a, b in pairwise(found[i] for i in sorted(found))]
            both = [(found[i].begin, begins[first][i].begin) for i in found if i in begins[first]]
            ops.append(
                SeenOp(
                    op,
                    group,
                    graph.ops[op].issue_cycles,
                    round(median(mark.end - mark.begin for mark in found.values())),
                    schedule.ops[op].start - schedule.ops[first].start,
                    round(median(own - reference for own, reference in both)) if both else 0,
                    len(found),
                )
            )
    ops.sort(key=lambda seen: schedule.ops[seen.op].start)
    proposals = tuple(each for seen in ops for each in _proposals(graph.ops[seen.op], seen)) if ops else ()
    iterations = max((seen.iterations for seen in ops), default=0)
    seen_ii = float(median(steps)) if steps else None
    costs = proposals if marks.clock == CYCLES else ()
    return Comparison(marks.clock, iterations, schedule.ii, seen_ii, tuple(ops), costs)


def measured_trace(
    graph: Graph, schedule: Schedule, fusion: Fusion | None, marks: Marks
) -> tuple[dict[str, Any], Comparison]:
    """The plan's trace for as many iterations as were seen, with a process "seen GROUP" for each group, and the
    comparison. Both begin at the start of their first op. Raises InputError as `compared` does."""
    comparison = compared(graph, schedule, fusion, marks)
    document = chrome_trace(graph, schedule, max(1, shown_iterations(schedule, comparison.iterations)))
    events: list[dict[str, Any]] = document["traceEvents"]
    by_role = _held(graph, schedule, fusion, marks)
    begin = min((mark.begin for seen in by_role.values() for mark in seen), default=0)
    plan = min((place.start for place in schedule.ops.values()), default=0)
    pid = 1 + max((event["pid"] for event in events), default=0)
    for group, seen in by_role.items():
        for what, name in (("process_name", f"seen {group}"), ("thread_name", "issue")):
            events.append(
                {"ph": "M", "name": what, "pid": pid, "tid": int(what == "thread_name"), "args": {"name": name}}
            )
        events += [_slice(mark, pid, plan - begin) for mark in seen]
        pid += 1
    document["otherData"] |= {"measured": marks.case, "measured_clock": marks.clock}
    return document, comparison


def _slice(mark: Mark, pid: int, shift: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": f"{mark.op} [{mark.iteration}]",
        "cat": "seen",
        "pid": pid,
        "tid": 1,
        "ts": mark.begin + shift,
        "dur": mark.end - mark.begin,
        "args": {"op": mark.op, "iteration": mark.iteration},
    }


def _held(graph: Graph, schedule: Schedule, fusion: Fusion | None, marks: Marks) -> Mapping[str, Sequence[Mark]]:
    """The marks by group, those of ops in one block as the block's. Raises InputError."""
    found: dict[str, list[Mark]] = {}
    for role, seen in marks.roles.items():
        held = found.setdefault(role, [])
        for mark in seen:
            op = mark.op if fusion is None else fusion.holder(mark.op)
            if op not in graph.ops:
                raise error(
                    "other-marks", f"the marks are of another kernel: it has no op '{mark.op}'", file=graph.name
                )
            if schedule.ops[op].group != role:
                message = f"the marks are of another schedule: {op} ran on {role}, not on {schedule.ops[op].group}"
                raise error("other-marks", message, file=graph.name)
            if held and (held[-1].op, held[-1].iteration) == (op, mark.iteration):
                held[-1] = Mark(op, mark.iteration, held[-1].begin, mark.end)
            else:
                held.append(Mark(op, mark.iteration, mark.begin, mark.end))
    return found


def _proposals(op: Op, seen: SeenOp) -> Iterator[Proposal]:
    """Of an asynchronous op only its issue is seen; a synchronous one that holds its group for its latency has both."""
    off = abs(seen.seen_issue - op.issue_cycles)
    if off <= max(_LEAST_CYCLES, _LEAST_SHARE * op.issue_cycles):
        return
    yield Proposal(op.id, "issue_cycles", op.issue_cycles, seen.seen_issue)
    if not op.asynchronous and op.latency == op.issue_cycles:
        yield Proposal(op.id, "latency", op.latency, seen.seen_issue)
