"""The graph in words: tooltips, the line below it, and what screen readers say."""

from __future__ import annotations

from html import escape

from core.schedule.bounds import Recurrence
from core.schedule.wording import counted
from twill_gui.views.graph.content import GraphContent
from twill_gui.views.graph.layout import Edge
from twill_gui.views.timeline.ticks import grouped


def op_tooltip(content: GraphContent, op_id: str) -> str:
    """The facts of an op as a small HTML table."""
    op, schedule = content.graph.ops[op_id], content.schedule
    rows = [("kind", op.kind)]
    if op.blocks:
        rows.append(("units", ", ".join(f"{block.unit} {grouped(block.duration)}" for block in op.blocks)))
    if schedule:
        place = schedule.ops[op_id]
        rows.append(("group", place.group))
        rows.append(("start", f"{grouped(place.start)}  (stage {schedule.stage(op_id)})"))
    rows.append(("issue", f"{counted(op.issue_cycles, 'cycle', grouped)}{', asynchronous' if op.asynchronous else ''}"))
    rows.append(("latency", counted(op.latency, "cycle", grouped)))
    if op.line is not None:
        rows.append(("line", str(op.line)))
    cells = "".join(f"<tr><td>{name}&nbsp;&nbsp;</td><td>{escape(value)}</td></tr>" for name, value in rows)
    critical = "<br>on the critical recurrence" if content.is_critical(op_id) else ""
    return f"<b>{escape(op_id)}</b><table>{cells}</table>{critical}"


def edge_tooltip(content: GraphContent, edge: Edge) -> str:
    """The dependences that an edge stands for, one line each."""
    lines = [f"<b>{escape(edge.source)} → {escape(edge.target)}</b>"]
    for dependence in edge.dependences:
        parts = [f"{dependence.kind.value}, latency {grouped(dependence.latency)}"]
        if dependence.distance:
            parts.append(f"distance {dependence.distance}")
        if dependence.blocking:
            parts.append("blocking")
        wait = content.wait(dependence)
        if wait:
            if wait.hand_off:
                parts.append(f"hand-off {grouped(wait.hand_off)}")
            parts.append(
                f"needs +{counted(wait.missing, 'cycle', grouped)}" if wait.missing else f"slack {grouped(wait.slack)}"
            )
        lines.append(", ".join(parts))
    if edge.apart and any(not dependence.distance for dependence in edge.dependences):
        lines.append("closes a cycle within one iteration: no II is possible")
    return "<br>".join(lines)


def recurrence_text(recurrence: Recurrence) -> str:
    """The critical recurrence with its bound on II."""
    text = f"critical recurrence: {counted(recurrence.latency, 'cycle', grouped)}"
    over = counted(recurrence.distance, "iteration")
    if not recurrence.distance:
        return f"{text} within one iteration, no II is possible"
    least = -(-recurrence.latency // recurrence.distance)
    return f"{text} over {over}, II ≥ {grouped(least)}"


def graph_sentence(content: GraphContent, selection: frozenset[str]) -> str:
    """What is shown or selected, for screen readers."""
    if selection:
        return "; ".join(_op_sentence(content, op) for op in content.graph.ops if op in selection)
    graph = content.graph
    carried = sum(bool(dependence.distance) for dependence in graph.dependences)
    text = f"{len(graph.ops)} operations, {len(graph.dependences)} dependences, {carried} of them loop-carried"
    return f"{text}; {recurrence_text(content.recurrence)}" if content.recurrence else text


def _op_sentence(content: GraphContent, op: str) -> str:
    before = sorted({dependence.source for dependence in content.index.incoming[op]})
    after = sorted({dependence.target for dependence in content.index.outgoing[op]})
    parts = [f"{op} ({content.caption(op)})"]
    if before:
        parts.append(f"waits for {', '.join(before)}")
    if after:
        parts.append(f"waited for by {', '.join(after)}")
    return ", ".join(parts)
