"""How much slower than the model says the ops may be before a schedule breaks: its largest uniform slack."""

from __future__ import annotations

from dataclasses import replace

from core.graph.model import Graph
from core.schedule.check import check
from core.schedule.model import Schedule
from core.schedule.variations import with_costs
from core.solve.paper.result import with_least_grants


def slower(graph: Graph, cycles: int) -> Graph:
    """Every latency above 0 is so many cycles longer, and with it what a graph file derives from it: dependences that
    wait for the whole op, and how long an asynchronous op holds its operands.

    A dependence that waits for less than its op's latency, such as an accumulation, which waits for the unit alone,
    stays as it is; so do blocks, issue and hand-offs.
    """
    grown = graph
    for name, op in graph.ops.items():
        if op.latency:
            grown = with_costs(grown, name, latency=op.latency + cycles)
    return grown


def slack(graph: Graph, schedule: Schedule, most_registers: int | None = None) -> int:
    """The most cycles, up to one II, by which all latencies may grow while the starts of a legal schedule stay legal:
    with the grants that this takes, but with no more than `most_registers` a thread on any group."""
    low, high = 0, schedule.ii
    while low < high:
        middle = (low + high + 1) // 2
        if _holds(slower(graph, middle), schedule, most_registers):
            low = middle
        else:
            high = middle - 1
    return low


def with_grants_for(graph: Graph, schedule: Schedule, cycles: int) -> Schedule:
    """The schedule with the least grants at which it stays legal when all latencies grow by so many cycles."""
    return replace(with_least_grants(slower(graph, cycles), schedule), origin=schedule.origin)


def _holds(graph: Graph, schedule: Schedule, most_registers: int | None) -> bool:
    report = check(graph, with_least_grants(graph, schedule))
    peak = max(report.peaks.registers.values(), default=0)
    return report.legal and (most_registers is None or peak <= most_registers)
