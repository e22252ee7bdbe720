"""Random loops of a few ops, each asked three ways that share nothing: the exact model, z3, and everything tried.

    python -m tests.bench.fuzz [--minutes 10] [--seed 1] [--out FILE]

The exact model's "infeasible" and z3's are claims of proof, so they must agree, and neither may exclude what trying
everything finds. That ends after a few stages, so its "none found" is no claim. Exit code 1 if there is a
disagreement; its seed makes the loop again.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from core.graph.model import Graph
from core.solve.confirm import confirm
from core.solve.decide import Decider
from core.solve.engine import Budget
from core.solve.events import Level, SolveOptions, Status, Verdict
from core.solve.problem import make_problem
from core.solve.solve import solve
from tests.bench.report import RESULTS, environment, table, write
from tests.core.solve.solve_brute_force import feasible, random_graph

INTERVALS = (1, 2, 3)
STAGES = {2: 3, 3: 2}
"""Stages that everything tried goes to, by ops; with more ops only the two solvers are asked."""
LIMIT_S = 60.0


@dataclass
class Tally:
    """What was asked and answered so far."""

    graphs: Counter[int] = field(default_factory=Counter[int])
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    found: int = 0
    least: int = 0
    disagreements: list[str] = field(default_factory=list[str])


def main() -> None:
    """Asks until the time is over and writes the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first loop; the next ones have the next seeds")
    parser.add_argument("--out", type=Path, default=RESULTS / "fuzz.md")
    options = parser.parse_args()
    ends = time.monotonic() + 60 * options.minutes
    tally = Tally()
    seed = options.seed
    while time.monotonic() < ends:
        one_loop(seed, tally)
        seed += 1
        if sum(tally.graphs.values()) % 100 == 0:
            print(f"seed {seed}: {tally.verdicts}, {len(tally.disagreements)} disagreements", flush=True)
    write(options.out, *summary(tally, options.seed, seed - 1, options.minutes))
    print(*tally.disagreements, sep="\n")
    sys.exit(1 if tally.disagreements else 0)


def one_loop(seed: int, tally: Tally) -> None:
    """Every interval of one loop, and its least one by the whole search."""
    chance = random.Random(seed)
    graph = random_graph(chance, chance.choice([2, 3, 3, 4]))
    tally.graphs[len(graph.ops)] += 1
    verdicts = {ii: one_question(seed, graph, ii, tally) for ii in INTERVALS}
    result = solve(graph, SolveOptions(objective=(Level.II,), max_ii=INTERVALS[-1], limit_s=LIMIT_S))
    least = next((ii for ii, verdict in verdicts.items() if verdict is Verdict.FEASIBLE), None)
    tally.least += 1
    if Verdict.UNKNOWN not in verdicts.values() and (
        result.ii != least or result.status not in (Status.OPTIMAL, Status.INFEASIBLE)
    ):
        tally.disagreements.append(f"seed {seed}: least II {least} by intervals, {result.ii} by search")


def one_question(seed: int, graph: Graph, ii: int, tally: Tally) -> Verdict:
    """All that can be asked of one interval; the exact model's verdict."""
    exact = Decider(make_problem(graph), Budget(LIMIT_S, lambda: False), seed=1).decide(ii).entry.verdict
    second = confirm(graph, ii, limit_s=LIMIT_S).verdict
    tally.verdicts[exact.value, second.value] += 1
    if {exact, second} == {Verdict.FEASIBLE, Verdict.INFEASIBLE}:
        tally.disagreements.append(f"seed {seed}, II {ii}: the exact model says {exact.value}, z3 {second.value}")
    stages = STAGES.get(len(graph.ops))
    if stages is not None and feasible(graph, ii, stages):
        tally.found += 1
        if Verdict.INFEASIBLE in (exact, second):
            tally.disagreements.append(f"seed {seed}, II {ii}: excluded, but there is a schedule")
    return exact


def summary(tally: Tally, first: int, last: int, minutes: float) -> list[str]:
    """The paragraphs of the results file."""
    sizes = ", ".join(f"{count} of {size} ops" for size, count in sorted(tally.graphs.items()))
    rows = [[exact, second, str(count)] for (exact, second), count in sorted(tally.verdicts.items())]
    return [
        "# Random loops, asked three ways",
        environment(),
        f"{minutes:g} minutes, seeds {first} to {last}: {sum(tally.graphs.values())} loops ({sizes}), "
        f"{sum(tally.verdicts.values())} questions at II {', '.join(map(str, INTERVALS))}, {tally.found} of them with "
        f"a schedule found by trying everything, {tally.least} least intervals by the whole search. "
        f"**Disagreements: {len(tally.disagreements)}.**",
        table(("exact model", "z3", "questions"), rows),
        *(f"- {line}" for line in tally.disagreements),
        "Every rule may bind in these loops: capacities, queues, pins, kinds and sizes of groups, register pools, "
        "rings and hand-offs vary (`tests/core/solve/solve_brute_force.py`). Loops of up to three ops are also tried "
        "out schedule by schedule, in three stages for two ops and two for three, judged by `core.schedule.check`. "
        f"Again: `python -m tests.bench.fuzz --minutes {minutes:g} --seed {first}`.",
    ]


if __name__ == "__main__":
    main()
