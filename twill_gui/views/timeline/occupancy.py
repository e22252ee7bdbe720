"""How many copies of a range are in view at a time, folded or unrolled. No Qt."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]


def breakpoints(ranges: Iterable[tuple[int, int]], ii: int, iterations: int | None, start: int, end: int) -> Times:
    """The times within [start, end] at which the number of copies of any range may change, both ends included.

    `iterations` None: the steady state, where every range repeats every `ii` cycles without end.
    """
    edges = np.array([edge for span in ranges for edge in span], np.int64)
    if iterations is None:
        first, last = start // ii, -(-end // ii)
        turns = np.arange(first, last + 1, dtype=np.int64) * ii
        times = (edges % ii)[:, None] + turns[None, :]
    else:
        times = edges[:, None] + np.arange(iterations, dtype=np.int64)[None, :] * ii
    inside = times[(times > start) & (times < end)]
    return np.unique(np.concatenate([inside.ravel(), np.array([start, end], np.int64)]))


def copies(begin: int, end: int, ii: int, iterations: int | None, times: Times) -> NDArray[np.int64]:
    """At each time, the iterations i with begin + i * ii <= time < end + i * ii: all i, or those from 0 up to
    `iterations`."""
    if end <= begin:
        return np.zeros(len(times), np.int64)
    begun, over = (times - begin) // ii + 1, (times - end) // ii + 1
    if iterations is not None:
        begun, over = np.clip(begun, 0, iterations), np.clip(over, 0, iterations)
    return begun - over
