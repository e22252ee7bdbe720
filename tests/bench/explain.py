"""Explains every kernel case that is impossible, and II - 1 of every project: how soon each part of the answer comes.

python -m tests.bench.explain [--limit-s S] [NAME ...]     writes results/explain.md, unless names are given
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from core.explain.answer import Explanation, ProofState
from core.explain.explain import explain
from core.explain.options import ExplainOptions
from core.explain.question import Question, why_not_ii
from core.files import is_file
from core.graph.read import load_graph
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.bounds import certificates
from core.schedule.read import load_schedule
from core.solve.events import Verdict
from tests.bench.report import KERNELS, RESULTS, environment, table, write

PARTS = ("core", "minimal", "confirmed")
LIMITS_S = {"core": 0.3, "minimal": 3.0}
ARITHMETIC_S = 0.01


def questions() -> Iterator[tuple[str, Question]]:
    """The interval below the least one of each case and each schedule, or the greatest that is known impossible."""
    cases = yaml.safe_load((KERNELS / "expected.yaml").read_text(encoding="utf-8"))["cases"]
    for name, case in cases.items():
        ii = case["infeasible_up_to"] if case["least_ii"] is None else case["least_ii"] - 1
        if ii:
            yield name, why_not_ii(load_graph(KERNELS / f"{name}.yaml"), ii)
    for folder in sorted(path for path in data_folder("projects").iterdir() if path.is_dir()):
        project = load_project(folder)
        for entry, schedule in project.schedules.items():
            if not is_file(schedule.file):
                continue
            graph = open_project(project.for_schedule(entry)).graph
            ii = load_schedule(schedule.file, graph).ii - 1
            if ii:
                yield f"{folder.name}, {entry}", why_not_ii(graph, ii)


def measure(question: Question, options: ExplainOptions) -> tuple[float, dict[str, tuple[float, float]], Explanation]:
    """Seconds of arithmetic, then CPU and wall-clock seconds until each part of the answer, which is stopped once its
    first core is minimal and confirmed."""
    began = time.process_time()
    found = certificates(question.graph, question.ii)
    arithmetic = time.process_time() - began
    seen: dict[str, tuple[float, float]] = {}
    first: Explanation | None = None
    began, began_wall = time.process_time(), time.perf_counter()

    def watch(answer: Explanation) -> None:
        nonlocal first
        now = time.process_time() - began, time.perf_counter() - began_wall
        holds = (
            bool(answer.cores),
            answer.state is ProofState.PROVED_MINIMAL,
            bool(answer.cores) and bool(answer.cores[0].confirmed_by),
        )
        if first is None or not all(part in seen for part in PARTS):
            first = answer
        for part, known in zip(PARTS, holds, strict=True):
            if known:
                seen.setdefault(part, now)

    explain(question, options, watch, lambda: all(part in seen for part in PARTS))
    assert first is not None
    answer = first
    assert answer.verdict is Verdict.INFEASIBLE or not found
    return arithmetic, seen, answer


def instances() -> str:
    """What the tests of cores and changes find on random graphs, with z3 as the judge of each change."""
    core = Path(__file__).parents[1] / "core"
    sys.path += [str(core / "explain"), str(core / "solve")]
    seen = importlib.import_module("test_relaxations").sweep(range(4000, 4140))
    changes = sum(count for name, count in seen.items() if name not in ("instances", "cores", "confirmed"))
    return (
        f"On {seen['instances']} small random graphs without a schedule: {seen['confirmed']} of {seen['cores']} cores "
        f"confirmed; each of the {changes} changes that were told was tried again by z3: those that are enough are, "
        "and are not one step less; those of which none is enough are not at all."
    )


def row(name: str, arithmetic: float, seen: dict[str, tuple[float, float]], answer: Explanation) -> list[str]:
    """One line of the table."""
    times = [f"{seen[part][0]:.2f} / {seen[part][1]:.2f}" if part in seen else "-" for part in PARTS]
    families = sorted({reason.family.value for reason in answer.cores[0].reasons}) if answer.cores else []
    state = answer.state.value.replace("_", " ")
    return [name, f"{1000 * arithmetic:.1f}", *times, state, ", ".join(families)]


def main() -> None:
    """Prints a line for each question as it is answered, and writes the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit-s", type=float, default=ExplainOptions().total_s)
    arguments = parser.parse_args()
    # What a window or a command has loaded once, before its first question.
    for module in ("z3", "ortools.sat.python.cp_model"):
        importlib.import_module(module)
    head = ("question", "arithmetic ms", *(f"{part} s" for part in PARTS), "state", "rules")
    rows: list[Sequence[str]] = []
    within = dict.fromkeys(LIMITS_S, 0)
    quick = confirmed = 0
    for name, question in questions():
        if arguments.names and name not in arguments.names:
            continue
        arithmetic, seen, answer = measure(question, ExplainOptions(total_s=arguments.limit_s))
        rows.append(row(name, arithmetic, seen, answer))
        print(" | ".join(rows[-1]), flush=True)
        quick += arithmetic <= ARITHMETIC_S
        confirmed += "confirmed" in seen
        for part, limit_s in LIMITS_S.items():
            within[part] += part in seen and seen[part][0] <= limit_s
    kept = "; ".join(f"{part} within {LIMITS_S[part]} s of CPU: {count}" for part, count in within.items())
    summary = (
        f"Of {len(rows)} questions: arithmetic within 10 ms: {quick}; {kept}. "
        f"Confirmed by both solvers alone: {confirmed}."
    )
    print(summary)
    if not arguments.names:
        text = (
            f"{environment()} Load of the machine at the end: {os.getloadavg()[0]:.0f}.\n\n"
            f"Seconds are CPU / wall-clock from the question on, solvers loaded; at most "
            f"{arguments.limit_s:g} s a question. Core: the first one shown, perhaps with reasons to spare; minimal: "
            "none of its reasons can be left out; confirmed: CP-SAT or arithmetic, and z3, each asked about these "
            "reasons alone."
        )
        write(RESULTS / "explain.md", "# Why not one cycle less", text, summary, table(head, rows), instances())


if __name__ == "__main__":
    main()
