"""How a project is solved: its own settings, and what the options of the command line say instead."""

from __future__ import annotations

import argparse
from dataclasses import replace

from core.commands.answers import UsageError
from core.graph.model import Graph
from core.graph.read import suggest
from core.project.model import Project
from core.solve.events import Level, ModelName, SolveOptions


def read_objective(arguments: argparse.Namespace) -> tuple[Level, ...] | None:
    """The levels of `--objective`, None without it. Raises UsageError."""
    return None if arguments.objective is None else tuple(_level(word) for word in arguments.objective)


def solve_options(project: Project, arguments: argparse.Namespace, objective: tuple[Level, ...] | None) -> SolveOptions:
    """The project's options with those given on the command line in their place. Raises UsageError."""
    if arguments.ii is not None and arguments.max_ii is not None and arguments.ii > arguments.max_ii:
        raise UsageError(f"--ii: {arguments.ii} is above --max-ii, {arguments.max_ii}")
    given = {
        "model": None if arguments.model is None else ModelName(arguments.model),
        "objective": objective,
        "ii": arguments.ii,
        "max_ii": arguments.max_ii,
        "best": getattr(arguments, "best", None),
        "limit_s": arguments.limit_s,
        "seed": arguments.seed,
    }
    return replace(project.solve, **{key: value for key, value in given.items() if value is not None})


def group_counts(arguments: argparse.Namespace, graph: Graph) -> dict[str, int]:
    """The numbers of `--groups` by kind. Raises UsageError for a kind that the graph has not or that stands twice."""
    counts: dict[str, int] = {}
    kinds = {group.kind for group in graph.groups}
    for kind, count in arguments.groups:
        if kind not in kinds:
            raise UsageError(f"--groups: there is no group kind '{kind}' ({suggest(kind, kinds)})")
        if kind in counts:
            raise UsageError(f"--groups: '{kind}' is given twice")
        counts[kind] = count
    return counts


def _level(word: str) -> Level:
    for level in Level:
        if level.value == word:
            return level
    raise UsageError(f"--objective: '{word}' is not one of {', '.join(level.value for level in Level)}")
