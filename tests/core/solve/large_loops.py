"""Loops of many ops: cases with known answers, unrolled, and so that their copies fold or do not."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from core.graph.model import Dependence, DependenceKind, Graph
from core.graph.read import load_graph
from core.graph.unroll import unroll

KERNELS = Path(__file__).parents[2] / "data" / "cases" / "kernels"


def unrolled(name: str, times: int) -> Graph:
    """A case, unrolled on a machine with shared memory for the rings of all copies."""
    graph = unroll(load_graph(KERNELS / f"{name}.yaml"), times)
    machine = replace(graph.machine, shared_memory_bytes=times * graph.machine.shared_memory_bytes)
    return replace(graph, machine=machine)


def unlike(graph: Graph) -> Graph:
    """The graph with one dependence that costs nothing but that no copy has, so that it does not fold."""
    first, *_, last = graph.ops
    return replace(graph, dependences=(*graph.dependences, Dependence(first, last, 0, 9, kind=DependenceKind.ORDER)))


def unequal(graph: Graph) -> Graph:
    """The graph with latencies of which no two copies have the same."""
    chance = random.Random(1)
    costs = {n: replace(op, latency=op.latency - chance.randint(0, op.latency // 30)) for n, op in graph.ops.items()}
    return replace(graph, ops=costs)
