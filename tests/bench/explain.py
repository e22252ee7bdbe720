"""Explains every kernel case that is impossible, and II - 1 of every project: how soon each part of the answer comes.

python tests/bench/explain.py
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import yaml

from core.explain.answer import Explanation, ProofState
from core.explain.explain import ExplainOptions, explain
from core.explain.question import Question, why_not_ii
from core.graph.read import load_graph
from core.project.load import load_project
from core.project.opened import open_project
from core.resources import data_folder
from core.schedule.bounds import certificates
from core.schedule.read import load_schedule
from core.solve.events import Verdict

KERNELS = Path(__file__).parents[1] / "data" / "cases" / "kernels"


def questions() -> Iterator[tuple[str, Question]]:
    """The interval below the least one of each case and each schedule, or the greatest that is known impossible."""
    cases = yaml.safe_load((KERNELS / "expected.yaml").read_text(encoding="utf-8"))["cases"]
    for name, case in cases.items():
        ii = case["infeasible_up_to"] if case["least_ii"] is None else case["least_ii"] - 1
        if ii:
            yield name, why_not_ii(load_graph(KERNELS / f"{name}.yaml"), ii)
    for folder in sorted(path for path in data_folder("projects").iterdir() if path.is_dir()):
        project = load_project(folder)
        for entry in project.schedules:
            graph = open_project(project.for_schedule(entry)).graph
            schedule = load_schedule(project.schedules[entry].file, graph)
            yield f"{folder.name}/{entry}", why_not_ii(graph, schedule.ii - 1)


def main() -> None:
    """One line for each question: seconds to arithmetic, verdict, minimal core, its confirmation, and the end."""
    print("| question | arithmetic ms | verdict s | minimal core s | confirmed s | done s | state | reasons |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, question in questions():
        began = time.perf_counter()
        certificates(question.graph, question.ii)
        arithmetic = time.perf_counter() - began
        seen: dict[str, float] = {}

        def watch(answer: Explanation, seen: dict[str, float] = seen) -> None:
            if answer.verdict is not Verdict.UNKNOWN:
                seen.setdefault("verdict", answer.seconds)
            if answer.state is ProofState.PROVED_MINIMAL:
                seen.setdefault("minimal", answer.seconds)
            if answer.cores and answer.cores[0].confirmed_by:
                seen.setdefault("confirmed", answer.seconds)

        answer = explain(question, ExplainOptions(), watch)
        parts = [f"{seen[part]:.2f}" if part in seen else "-" for part in ("verdict", "minimal", "confirmed")]
        reasons = len(answer.cores[0].reasons) if answer.cores else 0
        row = [name, f"{1000 * arithmetic:.1f}", *parts, f"{answer.seconds:.2f}", answer.state.value, str(reasons)]
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
