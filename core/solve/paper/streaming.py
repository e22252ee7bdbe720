"""Streaming ops: loads with variable latency and no incoming dependence.

The paper gives them no latency, leaves them on their own warp and their pipeline depth to tuning. So the search sees
them without latency; afterwards they start as many whole II earlier as their latency needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.graph.model import DependenceKind, Graph, Space
from core.solve.paper.costs import busy_cycles


def without_streaming_latency(graph: Graph) -> Graph:
    """The graph that the search sees: what a streaming op loads is there as soon as it starts."""
    ops = {name: replace(op, latency=busy_cycles(op)) if op.streaming else op for name, op in graph.ops.items()}
    dependences = tuple(replace(d, latency=0) if graph.ops[d.source].streaming else d for d in graph.dependences)
    return replace(graph, ops=ops, dependences=dependences)


def prefetched(graph: Graph, ii: int, starts: Mapping[str, int], groups: Mapping[str, int]) -> dict[str, int]:
    """The starts with each streaming op so many iterations earlier that its latency in `graph` (and its hand-off, if
    the value crosses groups) is over when it is read. The first start is 0."""
    earlier = dict(starts)
    for name, op in graph.ops.items():
        if not op.streaming:
            continue
        lateness = [0]
        for d in graph.dependences:
            if d.source == name and d.target != name:
                crosses = groups[name] != groups[d.target] and d.kind is DependenceKind.FLOW
                hand_off = op.hand_off_cycles if crosses and op.result.space is Space.REGISTERS else 0
                lateness.append(starts[name] + d.latency + hand_off - ii * d.distance - starts[d.target])
        earlier[name] -= -(-max(lateness) // ii) * ii
    first = min(earlier.values())
    return {name: start - first for name, start in earlier.items()}
