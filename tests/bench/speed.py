"""How fast each step is, against the budgets of the design: medians, 95th percentiles, the slowest.

    python -m tests.bench.speed [--limit-s 120] [--only WORD ...] [--resume] [--out FILE]

Repairs and explanations have tables of their own. Runs of the solver are kept in the build folder, so that with
`--resume` an interrupted measurement goes on; nothing else takes long.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.report import RESULTS, UNFINISHED, Kept, environment, table, write
from tests.bench.speed_large import LARGE_HEAD, large_rows
from tests.bench.speed_solves import PUBLISHED_HEAD, SOLVE_HEAD, Solves, published_rows, solve_rows
from tests.bench.speed_steps import Sample, bound_samples, check_samples, read_samples

HEAD = (
    "step",
    "budget",
    "met",
    "instances",
    "CPU s: median",
    "95 %",
    "most",
    "clock s: median",
    "95 %",
    "most",
    "the slowest",
)
NOTES = (
    "CPU: seconds of the processor, which other work on the machine changes little; clock: as a person waits, with "
    "whatever else ran. The budget is for two cores; it is met where the CPU seconds are within it. Repairs after a "
    "drag: [repair.md](repair.md). Reasons and cores: [explain.md](explain.md)."
)
LARGE_NOTES = (
    "Loops of 54 and 108 ops are attention forward of Hopper, unrolled; with one dependence that no copy has, so that "
    "they do not fold into one copy, and where it says so with latencies that differ from copy to copy. Bound: of "
    "arithmetic. Gap: of II over it; *optimal* is proved, *feasible* is not. The solver had the CPU seconds of the "
    "budget."
)


PUBLISHED_NOTES = (
    "Ours: from the TTGIR, in cycles as they are. The paper's: on one server core, for its own loops on normalised "
    "costs, to the first (II, L) of its search; what it takes on these loops and this machine is in "
    "[models.md](models.md)."
)


@dataclass(frozen=True)
class Step:
    """A line of the table. `budget`: in words; `limits`: seconds by the share of instances that are to be within."""

    name: str
    budget: str
    limits: dict[float, float]
    samples: Callable[[], Sequence[Sample]]


def main() -> None:
    """Measures and writes the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit-s", type=float, default=120.0, help="CPU seconds for one solve")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="print steps with these words, no table")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted")
    parser.add_argument("--out", type=Path, default=RESULTS / "speed.md")
    options = parser.parse_args()
    solves = Solves(options.limit_s, Kept(UNFINISHED / "speed.jsonl", options.resume))
    rows: list[list[str]] = []
    for step in steps(solves):
        if not options.only or any(word in step.name for word in options.only):
            rows.append(row(step, step.samples()))
            print(*rows[-1], sep="\t", flush=True)
    if options.only:
        return
    write(
        options.out,
        "# Speed",
        f"{environment()} Limit {options.limit_s:g} s of the processor for each solve.",
        table(HEAD, rows),
        NOTES,
        "## Large loops",
        table(LARGE_HEAD, list(large_rows(solves))),
        LARGE_NOTES,
        "## Beside the paper's published seconds",
        table(PUBLISHED_HEAD, list(published_rows(solves))),
        PUBLISHED_NOTES,
        "## Each loop, all levels",
        table(SOLVE_HEAD, list(solve_rows(solves))),
    )


def steps(solves: Solves) -> Iterator[Step]:
    """The lines of the table."""
    yield Step("reading a TTGIR file, and graph of its loop", "0.3 s", {1.0: 0.3}, read_samples)
    yield Step("bounds, 28 to 44 ops", "50 ms with the next", {1.0: 0.05}, bound_samples)
    yield Step("modulo schedule of the paper, 28 to 44 ops", "50 ms at 40 ops", {1.0: 0.05}, solves.modulo)
    yield Step("full check, up to 40 ops", "1 ms", {1.0: 0.001}, lambda: check_samples(large=False))
    yield Step("full check, 198 ops", "5 ms", {1.0: 0.005}, lambda: check_samples(large=True))
    joint = {0.5: 1.0, 0.95: 5.0}
    yield Step("joint feasibility, up to 25 ops", "1 s median, 5 s at 95 %", joint, solves.joint)
    yield Step("joint feasibility, 48 to 54 ops", "10 s", {1.0: 10.0}, solves.joint_large)
    yield Step("least II with proof", "5 s", {1.0: 5.0}, solves.to_ii)
    yield Step("all levels", "20 s", {1.0: 20.0}, solves.all_levels)


def row(step: Step, samples: Sequence[Sample]) -> list[str]:
    """One line."""
    cpu, wall = [one.cpu_s for one in samples], [one.wall_s for one in samples]
    missed = [
        f"{share:.0%}: {part(cpu, share):.3g} s" for share, most in step.limits.items() if part(cpu, share) > most
    ]
    figures = [f"{part(times, share):.3g}" for times in (cpu, wall) for share in (0.5, 0.95, 1.0)]
    within = sum(seconds <= max(step.limits.values()) for seconds in cpu)
    met = f"no, {within} of {len(cpu)} within" if missed else "yes"
    open_count = sum(one.undecided for one in samples)
    slowest = max(samples, key=lambda one: one.cpu_s).name
    count = f"{len(samples)}, of which {open_count} undecided" if open_count else str(len(samples))
    return [step.name, step.budget, met, count, *figures, slowest]


def part(values: Sequence[float], share: float) -> float:
    """The value within which this share of them is."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    main()
