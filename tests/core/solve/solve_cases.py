"""The cases with known answers, and small ways to ask the solver about them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from core.graph.model import Graph
from core.graph.read import load_graph
from core.schedule.check import check
from core.schedule.model import Schedule
from core.solve.events import Level, LevelResult, SolveOptions, SolveResult
from core.solve.solve import solve

CASES = Path(__file__).parents[2] / "data" / "cases"


@functools.cache
def expected(folder: str) -> dict[str, Any]:
    """`cases` of the folder's expected.yaml."""
    return yaml.safe_load((CASES / folder / "expected.yaml").read_text())["cases"]


@functools.cache
def graph(folder: str, name: str) -> Graph:
    return load_graph(CASES / folder / f"{name}.yaml")


def answer(asked: Graph, *objective: Level, max_ii: int | None = None, ii: int | None = None) -> SolveResult:
    """The solver's answer; a schedule in it is legal and claims what the result does."""
    result = solve(asked, SolveOptions(objective=(Level.II, *objective), max_ii=max_ii, ii=ii))
    if result.schedule is not None:
        assert check(asked, result.schedule).legal
        assert result.schedule.ii == result.ii
        assert result.schedule.origin is not None
        assert result.schedule.origin.status == result.status.value
    return result


def level(result: SolveResult, name: Level) -> LevelResult:
    return next(one for one in result.levels if one.name is name)


def broken_facts(schedule: Schedule, case: Mapping[str, Any], at: set[str]) -> list[dict[str, Any]]:
    """The facts of the case for schedules that are best in these (`must` in expected.yaml) that do not hold of this."""
    return [fact for fact in case.get("must", []) if fact["at"] in at and not holds(schedule, fact)]


def holds(schedule: Schedule, fact: Mapping[str, Any]) -> bool:
    """Whether a fact, as the head of expected.yaml explains them, holds of the schedule."""

    def lag(after: str, op: str) -> int:
        return schedule.ops[op].start - schedule.ops[after].start

    if "together" in fact:
        return len({schedule.ops[op].group for op in fact["together"]}) == 1
    if "apart" in fact:
        return len({schedule.ops[op].group for op in fact["apart"]}) == len(fact["apart"])
    if "order" in fact:
        first, *others = fact["order"]
        slots = [lag(first, op) % schedule.ii for op in others]
        return slots == sorted(slots)
    if "slots" in fact:
        least, most = fact["slots"]
        return least <= lag(fact["after"], fact["op"]) % schedule.ii <= most
    least = schedule.ii if fact["cycles_at_least"] == "ii" else fact["cycles_at_least"]
    return lag(fact["after"], fact["op"]) >= least
