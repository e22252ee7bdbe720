"""Loops of 54 and 108 ops: what the solver has within the seconds of the design."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from core.graph.fold import fold
from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.solve.events import Event, Incumbent, Level, SolveOptions
from core.solve.solve import solve
from tests.bench.report import WALL_FACTOR, Kept, cpu_seconds, out_of
from tests.bench.speed_solves import Solves
from tests.core.solve.large_loops import unequal, unlike, unrolled

BUDGETS_S = {3: 10.0, 6: 60.0}
"""By the copies of attention forward on Hopper, 18 ops each."""
LARGE_HEAD = (
    "loop",
    "ops",
    "budget",
    "status",
    "II",
    "bound",
    "gap",
    "CPU s to the first schedule",
    "to its II",
    "in all",
    "clock s",
)


def large_rows(solves: Solves) -> Iterator[list[str]]:
    """What came out of each."""
    for times, budget_s in BUDGETS_S.items():
        for name, graph in variants(times):
            key = Kept.key(graph, f"large {budget_s:g}")
            run = solves.kept.get(key) or solves.kept.put(key, large_run(graph, budget_s))
            bound = run["bound"]
            gap = "-" if run["ii"] is None else f"{run['ii'] - bound} ({run['ii'] / bound - 1:.1%})"
            row = [name, str(len(graph.ops)), f"{budget_s:g} s", run["status"], str(run["ii"] or "-"), str(bound), gap]
            row += [f"{seconds:.2f}" for seconds in (run["first_s"], run["best_s"], run["cpu_s"], run["wall_s"])]
            print(*row, sep="\t", flush=True)
            yield row


def variants(times: int) -> Iterator[tuple[str, Graph]]:
    """The loop whose copies fold, and those whose do not."""
    copies = unrolled("fa_fwd_hopper_2x64", times)
    yield f"{times} copies, folded", copies
    for name, graph in (("as they are", unlike(copies)), ("of unequal latencies", unlike(unequal(copies)))):
        if fold(graph) is not None:
            raise SystemExit(f"{times} copies {name} fold")
        yield f"{times} copies {name}, not folded", graph


def large_run(graph: Graph, budget_s: float) -> dict[str, Any]:
    """The least II that is found within so many seconds of the processor."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    found: dict[int, float] = {}

    def watch(event: Event) -> None:
        if isinstance(event, Incumbent):
            found.setdefault(event.schedule.ii, cpu_seconds() - cpu)

    options = SolveOptions(objective=(Level.II,), limit_s=WALL_FACTOR * budget_s)
    result = solve(graph, options, watch, out_of(budget_s))
    times = {"first_s": min(found.values(), default=0.0), "best_s": found.get(result.ii or 0, 0.0)}
    times |= {"cpu_s": cpu_seconds() - cpu, "wall_s": time.perf_counter() - wall}
    bound = max(result.proved_lower_bound, bounds(graph).lower_bound or 1)
    return {"status": result.status.value, "ii": result.ii, "bound": bound, **times}
