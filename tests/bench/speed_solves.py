"""Solves of loops with known answers and of the projects, timed: one interval, least II, all levels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from core.graph.model import Graph
from core.schedule.bounds import bounds
from core.solve.engine import Budget
from core.solve.events import Event, Level, SolveOptions, SolveResult, Status, Step
from core.solve.paper.modulo import modulo_schedule
from core.solve.paper.normalize import DEFAULT_SUM, normalize
from core.solve.paper.search import least_ii
from core.solve.paper.streaming import without_streaming_latency
from core.solve.solve import solve
from tests.bench.report import WALL_FACTOR, Kept, cpu_seconds, kernel_graphs, out_of, project_graphs
from tests.bench.speed_steps import Sample, middle_graphs
from tests.core.solve.large_loops import unequal, unlike, unrolled

SMALL = 25
"""Most ops of a loop for which one interval is to be decided in a second."""
SHARES = (1.05, 1.25)
"""Intervals that are asked for, over the least, beside that and the one below."""
PUBLISHED = {
    "attention_forward_hopper, main": "28",
    "attention_forward_blackwell, main": "18",
    "attention_backward_hopper, main": "84 or 242",
    "attention_backward_hopper, two_key_tiles": "84 or 242",
    "attention_backward_blackwell, main": "84 or 242",
}
"""Seconds that the paper prints, for its own loops; of the two greater ones we do not know which is which."""
PUBLISHED_HEAD = ("loop", "status", "CPU s to II", "CPU s, all levels", "the paper, s")
SOLVE_HEAD = ("loop", "ops", "status", "II", "CPU s to II", "CPU s, all levels", "clock s", "not proved")


@dataclass(frozen=True)
class Solves:
    """Each solve has the limit's seconds of the processor, and is run once."""

    limit_s: float
    kept: Kept

    def to_ii(self) -> list[Sample]:
        """Until the least II is proved, or that there is none, with a schedule that attains it."""
        return [self._sample(run, "to_ii") for run in self.runs()]

    def all_levels(self) -> list[Sample]:
        """Until II and every level after it are proved."""
        return [self._sample(run, "all") for run in self.runs()]

    def _sample(self, run: dict[str, Any], part: str) -> Sample:
        decided = run["status"] in (Status.OPTIMAL.value, Status.INFEASIBLE.value)
        undecided = not decided or (part == "all" and bool(run["open"]))
        return Sample(run["name"], run[f"{part}_cpu_s"], run[f"{part}_wall_s"], undecided)

    def runs(self) -> Iterator[dict[str, Any]]:
        """Each loop with the default objective."""
        for name, graph in loops():
            key = Kept.key(graph, f"all levels {self.limit_s:g}")
            yield self.kept.get(key) or self.kept.put(key, self._run(name, graph))

    def joint(self) -> list[Sample]:
        """Whether there is a schedule at one II: the least, the one below, and some above."""
        samples: list[Sample] = []
        for run, (name, graph) in zip(self.runs(), loops(), strict=True):
            least = run["ii"]
            if len(graph.ops) > SMALL:
                continue
            asked = (
                [bounds(graph).min_ii or 1] if least is None else [least - 1, least, *(int(s * least) for s in SHARES)]
            )
            samples += [self._at(name, graph, ii) for ii in sorted({ii for ii in asked if ii > 0})]
        return samples

    def joint_large(self) -> list[Sample]:
        """The same for loops twice as large, at intervals above the bound of arithmetic."""
        samples: list[Sample] = []
        for name, times in (("fa_fwd_hopper_2x64", 3), ("fa_bwd_hopper", 2)):
            graph = unlike(unequal(unrolled(name, times)))
            bound = bounds(graph).lower_bound or 1
            samples += [self._at(f"{name}, {times} times", graph, int(share * bound)) for share in (1, 1.1, 1.33)]
        return samples

    def modulo(self) -> list[Sample]:
        """The integer programs of the paper for its first II, on normalised costs."""
        return [self._modulo(name, graph) for name, graph in middle_graphs()]

    def _modulo(self, name: str, graph: Graph) -> Sample:
        normalization = normalize(graph, DEFAULT_SUM, self._budget())
        if normalization is None:
            raise SystemExit(f"{name}: no normalised costs within {self.limit_s:g} s")
        loop = without_streaming_latency(normalization.apply(graph))
        ii = least_ii(loop) or 1
        return self._timed(name, loop, "modulo", lambda: modulo_schedule(loop, ii, self._budget()).verdict.value)

    def _budget(self) -> Budget:
        return Budget(WALL_FACTOR * self.limit_s, out_of(self.limit_s))

    def _at(self, name: str, graph: Graph, ii: int) -> Sample:
        options = SolveOptions(objective=(Level.II,), ii=ii, limit_s=WALL_FACTOR * self.limit_s)
        stopped = out_of(self.limit_s)
        return self._timed(
            f"{name} at {ii}", graph, f"at {ii}", lambda: solve(graph, options, None, stopped).status.value
        )

    def _timed(self, name: str, graph: Graph, what: str, ask: Callable[[], str]) -> Sample:
        """A question about a graph, kept; its answer is a status or a verdict."""
        key = Kept.key(graph, f"{what} {self.limit_s:g}")
        run = self.kept.get(key)
        if run is None:
            wall, cpu = time.perf_counter(), cpu_seconds()
            status = ask()
            run = {"cpu_s": cpu_seconds() - cpu, "wall_s": time.perf_counter() - wall, "status": status}
            self.kept.put(key, run)
        return Sample(name, run["cpu_s"], run["wall_s"], run["status"] == Status.UNKNOWN.value)

    def _run(self, name: str, graph: Graph) -> dict[str, Any]:
        wall, cpu = time.perf_counter(), cpu_seconds()
        to_ii = [0.0, 0.0]

        def watch(event: Event) -> None:
            if isinstance(event, Step):
                to_ii[:] = cpu_seconds() - cpu, time.perf_counter() - wall

        options = SolveOptions(limit_s=WALL_FACTOR * self.limit_s)
        result = solve(graph, options, watch, out_of(self.limit_s))
        run = {"name": name, "ops": len(graph.ops), "status": result.status.value, "ii": result.ii}
        run |= {"to_ii_cpu_s": to_ii[0], "to_ii_wall_s": to_ii[1], "open": gaps(result)}
        return {**run, "all_cpu_s": cpu_seconds() - cpu, "all_wall_s": time.perf_counter() - wall}


def loops() -> Iterator[tuple[str, Graph]]:
    """Cases with known answers, then projects."""
    yield from kernel_graphs()
    yield from project_graphs()


def gaps(result: SolveResult) -> list[str]:
    """What is not proved, with its bound."""
    return [f"{level.name.value} {level.value} ≥ {level.bound}" for level in result.levels if not level.proved]


def solve_rows(solves: Solves) -> Iterator[list[str]]:
    """Each loop's times."""
    for run in solves.runs():
        row = [run["name"], str(run["ops"]), run["status"], str(run["ii"] or "-")]
        row += [f"{run['to_ii_cpu_s']:.2f}", f"{run['all_cpu_s']:.2f}", f"{run['all_wall_s']:.2f}"]
        yield [*row, ", ".join(run["open"]) or "-"]


def published_rows(solves: Solves) -> Iterator[list[str]]:
    """The loops for which the paper prints seconds."""
    for run in solves.runs():
        if run["name"] in PUBLISHED:
            seconds = [f"{run['to_ii_cpu_s']:.2f}", f"{run['all_cpu_s']:.2f}"]
            yield [run["name"], run["status"], *seconds, PUBLISHED[run["name"]]]
