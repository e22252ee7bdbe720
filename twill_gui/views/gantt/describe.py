"""The chart in words: tooltips, lane headers and what screen readers say."""

from __future__ import annotations

from html import escape

from core.graph.model import Op
from core.schedule.wording import counted
from twill_gui.views.gantt.content import Content, Wait
from twill_gui.views.gantt.layout import Bar, GanttMode, Lane, LaneKind
from twill_gui.views.timeline.row_header import RowHeader
from twill_gui.views.timeline.ticks import grouped


def lane_header(content: Content, lane: Lane) -> RowHeader:
    """The header of a lane."""
    if lane.kind is LaneKind.GROUP:
        return _group_header(content, lane.name)
    return _unit_header(content, lane.name)


def bar_tooltip(content: Content, bar: Bar) -> str:
    """The facts of a bar's op as a small HTML table, and what is wrong with it."""
    op_id = bar.op
    op, place = content.graph.ops[op_id], content.schedule.ops[op_id]
    rows = [
        ("kind", op.kind),
        ("unit", _units(op)),
        ("group", place.group),
        ("start", f"{grouped(place.start)}  (slot {grouped(content.schedule.slot(op_id))})"),
        ("stage", str(content.schedule.stage(op_id))),
        ("issue", f"{counted(op.issue_cycles, 'cycle', grouped)}{', asynchronous' if op.asynchronous else ''}"),
        ("latency", counted(op.latency, "cycle", grouped)),
    ]
    if content.layout.mode is GanttMode.UNROLLED:
        rows.append(
            ("iteration", f"{bar.iteration}, from {grouped(place.start + bar.iteration * content.schedule.ii)}")
        )
    if place.delay:
        rows.append(("delay", f"{counted(place.delay, 'cycle', grouped)} in the queue"))
    if op_id in content.graph.pins:
        rows.append(("pinned", "yes"))
    cells = "".join(f"<tr><td>{name}&nbsp;&nbsp;</td><td>{escape(value)}</td></tr>" for name, value in rows)
    wrong = "".join(f"<br>✗ {escape(v.message)}" for v in content.report.violations if op_id in v.ops)
    return f"<b>{escape(op_id)}</b><table>{cells}</table>{wrong}"


def wait_tooltip(wait: Wait) -> str:
    """A dependence: what it needs, what it has."""
    dependence = wait.dependence
    parts = [f"{dependence.kind.value}, latency {grouped(dependence.latency)}"]
    if dependence.distance:
        parts.append(f"distance {dependence.distance}")
    if wait.hand_off:
        parts.append(f"hand-off {grouped(wait.hand_off)}")
    if dependence.blocking:
        parts.append("blocking")
    parts.append(
        f"needs +{counted(wait.missing, 'cycle', grouped)}" if wait.missing else f"slack {grouped(wait.slack)}"
    )
    return f"<b>{escape(dependence.source)} → {escape(dependence.target)}</b><br>{', '.join(parts)}"


def op_sentence(content: Content, op_id: str) -> str:
    """An op's place in one sentence, for screen readers."""
    place = content.schedule.ops[op_id]
    slot, stage = content.schedule.slot(op_id), content.schedule.stage(op_id)
    wrong = ", violates a rule" if op_id in content.violating else ""
    return f"{op_id} on {place.group}, start {place.start}, slot {slot}, stage {stage}{wrong}"


def _units(op: Op) -> str:
    parts = [f"{block.unit} {block.offset}–{block.offset + block.duration}" for block in op.blocks]
    return ", ".join(parts) or "none"


def _group_header(content: Content, name: str) -> RowHeader:
    group = content.schedule.groups[name]
    kind = content.graph.group_kind(group.kind)
    peak = content.report.peaks.registers.get(name)
    warps = counted(kind.warps, "warp")
    if peak is None:
        return RowHeader(name, f"{warps} · unused", 0.0, False, f"{name}: {group.kind} group, {warps}, no ops")
    over = peak > group.grant
    detail = f"{warps} · {peak}/{group.grant} regs"
    tooltip = f"{name}: {group.kind} group, {warps}; at most {peak} of {group.grant} registers per thread in use"
    return RowHeader(name, detail, peak / max(group.grant, 1), over, tooltip)


def _unit_header(content: Content, name: str) -> RowHeader:
    capacity = content.graph.machine.units[name]
    blocks = [block for op in content.graph.ops.values() for block in op.blocks if block.unit == name]
    work = sum(block.duration * block.amount for block in blocks)
    used = work / max(capacity * content.schedule.ii, 1)
    over = content.report.peaks.units[name] > capacity
    times = f"{capacity} × " if capacity > 1 else ""
    tooltip = f"{name}: capacity {capacity}, busy {work} of {capacity * content.schedule.ii} cycles of one interval"
    return RowHeader(name, f"{times}{used:.0%} busy", used, over, tooltip, name)
