"""The warp groups of the paper: one for variable latency, numbered 0, then the others one by one."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.model import Graph

VARIABLE_LATENCY = 0


@dataclass(frozen=True, slots=True)
class WarpGroup:
    """A warp group by its name in a schedule, and the kind of the graph that it is of."""

    name: str
    kind: str
    warps: int


def warp_groups(graph: Graph) -> tuple[WarpGroup | None, ...]:
    """The designated group for variable latency, the largest that the graph has (None without one), then every other.

    How many there are is given, not decided.
    """
    loading = [kind for kind in graph.groups if kind.variable_latency and kind.count]
    designated = max(loading, key=lambda kind: kind.warps, default=None)
    groups = [None if designated is None else WarpGroup(f"{designated.kind}.0", designated.kind, designated.warps)]
    for kind in graph.groups:
        if not kind.variable_latency:
            groups += [WarpGroup(f"{kind.kind}.{number}", kind.kind, kind.warps) for number in range(kind.count)]
    return tuple(groups)
