"""A result of the paper's search as a schedule, so that the judge can say what the printed formulation misses."""

from __future__ import annotations

from core.graph.model import Graph, GroupKind
from core.schedule.model import Origin, Placement, Schedule, ScheduledGroup
from core.solve.paper.search import PaperResult

LEAST_GRANT = 24
"""Registers of a group that holds no tile: the least that `setmaxnreg` grants (PTX ISA, setmaxnreg)."""


def paper_schedule(graph: Graph, result: PaperResult, seed: int = 1) -> Schedule:
    """The schedule of a satisfiable result on the graph that was searched.

    Each group gets the register limit that the system was given (the paper takes it as an input). Raises ValueError if
    the result has no schedule.
    """
    if result.ii is None:
        raise ValueError("the search found no schedule")
    names = dict(enumerate(_groups(graph)))
    used = sorted({group for _, group in result.placements.values()})
    registers = graph.machine.registers
    limit = registers.max_per_thread - registers.max_per_thread % registers.granularity
    groups = {
        names[w][0]: ScheduledGroup(names[w][1].kind, LEAST_GRANT if names[w][1].variable_latency else limit)
        for w in used
    }
    ops = {op: Placement(start, names[w][0]) for op, (start, w) in result.placements.items()}
    return Schedule(result.ii, groups, ops, origin=Origin("solver", "feasible", "paper", seed))


def _groups(graph: Graph) -> list[tuple[str, GroupKind]]:
    """Name and kind by the paper's number: 0 is the variable-latency group, then the others as in the graph."""
    loading = [kind for kind in graph.groups if kind.variable_latency]
    kinds = [max(loading, key=lambda kind: kind.warps)] if loading else [GroupKind("load", variable_latency=True)]
    named = [(f"{kinds[0].kind}.0", kinds[0])]
    for kind in graph.groups:
        if not kind.variable_latency:
            named += [(f"{kind.kind}.{number}", kind) for number in range(kind.count)]
    return named
