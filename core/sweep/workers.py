"""Processes of this computer that solve the points of a sweep."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from core.graph.model import Graph
from core.solve.events import SolveOptions
from core.sweep.outcome import Outcome, solve_point

Submit = Callable[[Graph, SolveOptions], "Future[Outcome]"]
"""Hands a point to the workers."""

_STOP_S = 3.0  # how long a solve that was asked to stop may take before its process is killed


@contextmanager
def local_workers(count: int) -> Generator[Submit]:
    """So many processes of this computer. None is left behind, also where the body ends with an exception."""
    others = set(multiprocessing.active_children())
    with TemporaryDirectory(prefix="twill-sweep-") as folder:
        stop = Path(folder, "stop")
        context = multiprocessing.get_context("spawn")
        executor = ProcessPoolExecutor(count, mp_context=context, initializer=_leave_interrupts_to_parent)
        try:
            yield lambda graph, options: executor.submit(_solve_here, graph, options, str(stop))
        except BaseException:
            stop.touch()
            executor.shutdown(wait=False, cancel_futures=True)
            _end([child for child in multiprocessing.active_children() if child not in others])
            raise
        executor.shutdown()


def _leave_interrupts_to_parent() -> None:
    """Ctrl+C reaches every process of the terminal; the parent alone decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _solve_here(graph: Graph, options: SolveOptions, stop: str) -> Outcome:
    return solve_point(graph, options, Path(stop).exists)


def _end(processes: Sequence[BaseProcess]) -> None:
    """Waits for the processes, which have been asked to stop, and kills those that do not."""
    deadline = time.monotonic() + _STOP_S
    try:
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
    finally:
        for process in processes:
            process.kill()  # does nothing to one that has ended
            process.join()
