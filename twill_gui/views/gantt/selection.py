"""The selection on the chart: its ops, bars and time. No Qt."""

from __future__ import annotations

from collections.abc import Collection

from twill_gui.views.gantt.content import Content
from twill_gui.views.gantt.layout import Bar, GanttMode


def selected_ops(content: Content | None, selection: Collection[str]) -> list[str]:
    """The selected ops that are shown, in the graph's order."""
    return [op for op in content.graph.ops if op in selection] if content else []


def selected_bars(content: Content | None, selection: Collection[str], focus: int) -> list[Bar]:
    """The bars of the selection on the groups' lanes; in the unrolled view those of the iteration in focus."""
    if content is None:
        return []
    unrolled = content.layout.mode is GanttMode.UNROLLED
    return [
        bar
        for bar in content.layout.bars
        if bar.op in selection and bar.block is None and not (unrolled and bar.iteration != focus)
    ]


def span_of(bars: Collection[Bar]) -> tuple[int, int] | None:
    """From the first start to the last end; None without bars."""
    return (min(bar.start for bar in bars), max(bar.end for bar in bars)) if bars else None
