"""Unrolling: so many iterations of a loop as one iteration of a larger one.

A pure edit of the graph. Each copy of a value in shared memory has a ring of its own, so the unrolled loop may need
more of it than the loop had.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.graph.model import Dependence, Graph


def copy_id(op: str, copy: int) -> str:
    """The id that the `copy`-th iteration's op has in the unrolled loop."""
    return f"{op}#{copy}"


def unroll(graph: Graph, iterations: int) -> Graph:
    """The loop over `iterations` of the graph's iterations at a time; copies of one iteration stand together.

    What copy j reads from distance d is of copy (j - d) mod `iterations`, at distance -floor((j - d) / `iterations`).
    Raises ValueError below 1, and for pinned starts, which say nothing of the other copies.
    """
    if iterations < 1:
        raise ValueError(f"a loop cannot be unrolled {iterations} times")
    if any(pin.start is not None for pin in graph.pins.values()):
        raise ValueError("a loop with pinned starts cannot be unrolled: the starts of further copies are not known")
    copies = range(iterations)
    return replace(
        graph,
        ops={
            copy_id(op.id, copy): replace(op, id=copy_id(op.id, copy)) for copy in copies for op in graph.ops.values()
        },
        dependences=tuple(edge for copy in copies for edge in _dependences(graph, copy, iterations)),
        pins={copy_id(op, copy): pin for copy in copies for op, pin in graph.pins.items()},
    )


def _dependences(graph: Graph, copy: int, iterations: int) -> Iterator[Dependence]:
    """Those of one copy's readers."""
    for edge in graph.dependences:
        before, source = divmod(copy - edge.distance, iterations)
        yield replace(edge, source=copy_id(edge.source, source), target=copy_id(edge.target, copy), distance=-before)
