"""How many copies of ranges are alive at which times, folded or unrolled. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int64, np.float64)
Times = NDArray[np.int64]
Counts = NDArray[np.int64]


def occupancy(
    ranges: Sequence[tuple[int, int]], ii: int, iterations: int | None, start: int, end: int
) -> tuple[Times, Counts]:
    """Steps of time from `start` to `end` (one time more than steps), and the copies of each range in each step.

    A range [begin, end) of iteration 0 is alive again every `ii` cycles: in `iterations` iterations, or (None, the
    steady state) without end. `counts[r, s]` belongs to range r in [times[s], times[s + 1]).
    """
    edges = np.array(ranges, np.int64).reshape(-1, 2)
    times = _breakpoints(edges, ii, iterations, start, end)
    begins, ends = edges[:, :1], np.maximum(edges[:, :1], edges[:, 1:])
    begun, over = (times[:-1] - begins) // ii + 1, (times[:-1] - ends) // ii + 1
    if iterations is not None:
        begun, over = np.clip(begun, 0, iterations), np.clip(over, 0, iterations)
    return times, begun - over


def _breakpoints(edges: NDArray[np.int64], ii: int, iterations: int | None, start: int, end: int) -> Times:
    """The times within [start, end] at which a count may change, both ends included."""
    if iterations is None:
        turns = np.arange(start // ii, -(-end // ii) + 1, dtype=np.int64) * ii
        times = (edges.ravel() % ii)[:, None] + turns
    else:
        times = edges.ravel()[:, None] + np.arange(iterations, dtype=np.int64) * ii
    inside = times[(times > start) & (times < end)]
    return distinct(np.concatenate([inside, np.array([start, end], np.int64)]))


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """The values in rising order, each once; `np.unique` imports masked arrays for it, at every start."""
    rising = np.sort(values)
    return rising[np.append(rising[1:] != rising[:-1], True)] if len(rising) else rising
