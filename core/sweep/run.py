"""Solves the points of a sweep on its workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed

from core.solve.events import SolveOptions
from core.sweep.outcome import Outcome
from core.sweep.points import Point
from core.sweep.workers import Submit


def solve_points(
    points: Sequence[Point], options: SolveOptions, submit: Submit
) -> Iterator[tuple[Point, Outcome | Exception]]:
    """Every point with its outcome, or with the error that ended it, in the order in which they come."""
    futures = {submit(point.graph, options): point for point in points}
    for future in as_completed(futures):
        try:
            outcome = future.result()
        except Exception as fault:
            yield futures[future], fault
        else:
            yield futures[future], outcome
