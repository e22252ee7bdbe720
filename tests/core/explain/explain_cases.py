"""Questions that have no schedule, with independent answers: everything tried on tiny graphs, z3 on the others."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from solve_brute_force import feasible, random_graph

from core.explain.question import Question, why_not_ii
from core.graph.model import Graph
from core.graph.read import load_graph
from core.schedule.check import check
from core.solve.confirm import confirm
from core.solve.events import Verdict

CASES = Path(__file__).parents[2] / "data" / "cases"


@functools.cache
def expected(folder: str) -> dict[str, Any]:
    return yaml.safe_load((CASES / folder / "expected.yaml").read_text())["cases"]


def case_graph(folder: str, name: str) -> Graph:
    return load_graph(CASES / folder / f"{name}.yaml")


def impossible(folder: str, name: str) -> Question:
    """The interval below the least one, or the greatest of which it is known."""
    case = expected(folder)[name]
    least = case["least_ii"]
    return why_not_ii(
        case_graph(folder, name), case.get("bound") or case["infeasible_up_to"] if least is None else least - 1
    )


def random_impossible(seeds: range) -> Iterator[Question]:
    """Random graphs at small intervals, as far as they have no schedule there."""
    for seed in seeds:
        chance = random.Random(seed)
        question = why_not_ii(random_graph(chance), chance.randint(1, 3))
        if not possible(question.graph, question.ii):
            yield question


def possible(graph: Graph, ii: int) -> bool:
    """Whether there is a schedule, of any number of stages, by z3; a schedule is judged, its absence compared with
    everything tried within a stage or two."""
    answer = confirm(graph, ii, limit_s=60)
    assert answer.verdict is not Verdict.UNKNOWN
    if answer.schedule is not None:
        assert check(graph, answer.schedule).legal
        return True
    if len(graph.ops) <= 3 and ii <= 3:
        assert not feasible(graph, ii, 2 if ii <= 2 else 1)
    return False
